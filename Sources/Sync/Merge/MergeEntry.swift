/// A changeset with what decides its conflicts.
public struct MergeEntry: Sendable, Hashable {
    /// What changed, in the form that fits its history.
    public var changeset: Changeset
    /// Milliseconds since 2015-01-01T00:00:00Z where the change was made.
    public let timestamp: Int64
    /// The file that made the change; 1 is the server itself.
    public let file: UInt64
    /// The version that the change made in the history that it belongs to.
    public let version: UInt64
    /// Whether a merge rewrote the changeset since this value was made: then it is to be stored again.
    public internal(set) var isRewritten = false

    /// Made of its parts, not rewritten.
    public init(changeset: Changeset, timestamp: Int64, file: UInt64, version: UInt64) {
        self.changeset = changeset
        self.timestamp = timestamp
        self.file = file
        self.version = version
    }

    /// What decides which of two changes is the later one.
    public var discriminant: Discriminant { Discriminant(timestamp: timestamp, file: file) }
}

/// The order of changes in time, the same for everyone who merges them.
public struct Discriminant: Sendable, Hashable, Comparable {
    /// Milliseconds since 2015-01-01T00:00:00Z.
    public let timestamp: Int64
    /// Decides between equal timestamps.
    public let file: UInt64

    /// Made of its parts.
    public init(timestamp: Int64, file: UInt64) {
        self.timestamp = timestamp
        self.file = file
    }

    /// By time, then by file.
    public static func < (left: Discriminant, right: Discriminant) -> Bool {
        (left.timestamp, left.file) < (right.timestamp, right.file)
    }
}

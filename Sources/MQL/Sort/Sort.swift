public import BSON

/// The order of results: paths with directions, at most 32.
public struct Sort: Sendable, Hashable {
    /// One path with its direction.
    public struct Key: Sendable, Hashable {
        /// Where the value is that decides.
        public let path: FieldPath
        /// Whether smaller values come first: `1`, not `-1`.
        public let ascending: Bool

        /// Made of its parts.
        public init(path: FieldPath, ascending: Bool) {
            self.path = path
            self.ascending = ascending
        }
    }

    /// The paths; a later one decides where those before it are equal.
    public let keys: [Key]
    /// How texts compare; nil is by their bytes.
    public let collation: Collation?

    /// Made of its parts.
    public init(keys: [Key], collation: Collation? = nil) {
        self.keys = keys
        self.collation = collation
    }
}

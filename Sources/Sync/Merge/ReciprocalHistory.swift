/// A history in the form in which one peer's further changes meet it.
///
/// A device sends its changes as they were made, without what came from the server meanwhile; so each meets the
/// server's entries that it did not know of, and these are rewritten in turn: the device's next change stands on the
/// last one, and has to meet them as they are with that one in place. A device does the same with its own unsent
/// changes. So one value of this type stands for one device on the server, with the entries that did not come from
/// the device, and one for the server on a device, with the device's own entries.
///
/// The server loads the entries after the lowest base of an upload: the rewritten form where there is one for this
/// device, else the entry itself. It stores what `integrate` returns as new entries of its history, and those of
/// `entries` that are rewritten for this device alone. Entries that the device has acknowledged are let go.
///
/// Source: `realm-sync-protocol.md` §7.1.
public struct ReciprocalHistory: Sendable, Hashable {
    /// What the peer may not know yet, by rising version.
    public private(set) var entries: [MergeEntry]

    /// Made of entries by rising version.
    public init(_ entries: [MergeEntry] = []) {
        self.entries = entries
    }

    /// A change of the peer.
    public struct Incoming: Sendable, Hashable {
        /// As the peer sent it.
        public var entry: MergeEntry
        /// The last version of this history that the peer had when it made the change.
        public var base: UInt64

        /// Made of its parts.
        public init(_ entry: MergeEntry, base: UInt64) {
            self.entry = entry
            self.base = base
        }
    }

    /// Adds what happened here, or came from another peer.
    public mutating func append(_ entry: MergeEntry) {
        entries.append(entry)
    }

    /// Lets go of what the peer knows.
    public mutating func acknowledge(_ version: UInt64) {
        entries.removeAll { $0.version <= version }
    }

    /// Rewrites changes of the peer for the state at the end of this history, and the history for them.
    ///
    /// - Parameters:
    ///   - incoming: By rising version, with bases that never fall.
    ///   - limit: How many pairs of instructions may be compared for the changes that share a base.
    /// - Returns: The changes as they have to be applied here, in the same order.
    /// - Throws: `badChangeset` when they do not fit; then nothing has changed.
    public mutating func integrate(
        _ incoming: [Incoming],
        limit: Int = Merge.usualLimit
    ) throws(SyncFault) -> [MergeEntry] {
        var result: [MergeEntry] = []
        var changed = entries
        var rest = incoming[...]
        while let base = rest.first?.base {
            let count = rest.prefix { $0.base == base }.count
            var group = rest.prefix(count).map(\.entry)
            rest = rest.dropFirst(count)
            let start = changed.firstIndex { $0.version > base } ?? changed.endIndex
            var met = Array(changed[start...])
            try Merge.transform(&met, &group, limit: limit)
            changed.replaceSubrange(start..., with: met)
            result += group
        }
        entries = changed
        return result
    }
}

import CLibpq
import Synchronization

/// The prepared statements of one session: which text has which name, least recently used leaves first.
///
/// Pure: it says what to prepare and what to drop, the connection sends it. Finding the oldest looks at all
/// entries, which is cheap beside the preparing that makes it necessary.
struct StatementCache: Sendable {
    /// What to send before a statement can run.
    struct Lookup: Sendable, Equatable {
        /// The statement's name in the session.
        var name: String
        /// Whether it has yet to be prepared under that name.
        var isNew: Bool
    }

    private struct Entry: Sendable {
        var name: String
        var lastUse: UInt64
    }

    private let capacity: Int
    private let counts: StatementCounts?
    private var entries: [StatementKey: Entry] = [:]
    private var clock: UInt64 = 0
    private var serial: UInt64 = 0
    /// Names that the session still holds but nobody uses; taken by whoever sends next.
    private(set) var dropped: [String] = []

    init(capacity: Int, counts: StatementCounts? = nil) {
        self.capacity = max(1, capacity)
        self.counts = counts
    }

    var count: Int { entries.count }

    /// Finds or makes the name of a statement, and drops the oldest when there are too many.
    mutating func lookup(_ key: StatementKey) -> Lookup {
        clock &+= 1
        if let index = entries.index(forKey: key) {
            entries.values[index].lastUse = clock
            counts?.hits.wrappingAdd(1, ordering: .relaxed)
            return Lookup(name: entries.values[index].name, isNew: false)
        }
        counts?.misses.wrappingAdd(1, ordering: .relaxed)
        if entries.count >= capacity, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            dropped.append(oldest.value.name)
            entries[oldest.key] = nil
            counts?.evictions.wrappingAdd(1, ordering: .relaxed)
        }
        serial &+= 1
        let name = "t\(serial)"
        entries[key] = Entry(name: name, lastUse: clock)
        return Lookup(name: name, isNew: true)
    }

    /// Forgets a statement that was refused or whose plan no longer fits; its name is dropped with the next send.
    mutating func invalidate(_ key: StatementKey) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        dropped.append(entry.name)
    }

    /// The names to deallocate, once.
    mutating func takeDropped() -> [String] {
        defer { dropped = [] }
        return dropped
    }
}

/// How the statement caches of all sessions of a pool did, since it was made.
final class StatementCounts: Sendable {
    /// Statements that were prepared already.
    let hits = Atomic(0)
    /// Statements that had to be prepared.
    let misses = Atomic(0)
    /// Statements dropped to make room.
    let evictions = Atomic(0)
}

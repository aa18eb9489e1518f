import BSON

/// One row of the change log, decoded once for all who watch.
struct ChangeRecord: Sendable {
    /// What the log calls a change; the raw values are those of its column, and of `operationType`.
    enum Kind: String, Sendable {
        case insert
        case update
        case replace
        case delete
    }

    /// The place in the log.
    let sequence: Int64
    /// The transaction that made it.
    let transaction: UInt64
    let collection: Int32
    let kind: Kind
    /// nil for an insert.
    let before: BSONDocument?
    /// nil for a delete.
    let after: BSONDocument?
    /// Seconds since 1970.
    let time: Int64
    /// The size of both images as text.
    let bytes: Int
}

/// Which transactions had ended at one moment.
///
/// Shape: `10:20:10,14,15`, as PostgreSQL prints a `pg_snapshot`.
struct TransactionSnapshot: Sendable {
    /// All transactions before this one had ended.
    let oldestRunning: UInt64
    /// This one and those behind it had not begun.
    private let next: UInt64
    private let running: Set<UInt64>

    init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let oldest = UInt64(parts[0]), let next = UInt64(parts[1]) else { return nil }
        oldestRunning = oldest
        self.next = next
        running = Set(parts[2].split(separator: ",").compactMap { UInt64($0) })
    }

    /// Whether what a transaction did was there to be read.
    func includes(_ transaction: UInt64) -> Bool {
        transaction < next && !running.contains(transaction)
    }
}

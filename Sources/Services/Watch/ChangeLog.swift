import BSON
import Errors
import Postgres
import SQL

/// Reads the change log.
struct ChangeLog: Sendable {
    let database: Database
    let shapes: ShapeRegistry

    /// So much is read at once; bytes are those on disk, where they may be compressed well.
    static let pageRows = 200
    private static let pageBytes = 256 << 10
    private static let timeLimit = Duration.seconds(30)

    /// How far the log reaches, and the transactions that may still add changes up to there.
    func horizon() async throws(ServiceError) -> (end: Int64, writers: Set<String>) {
        let rows = try await run(WatchStatements.horizon)
        guard rows.rowCount == 1, let end = rows.int(0, 0), let writers = rows.text(0, 1) else {
            throw ServiceError(.internalServerError, "the change log has no horizon")
        }
        return (Int64(end), Set(writers.split(separator: " ").map(String.init)))
    }

    /// Which log this is, from where it is complete, and which transactions have ended.
    func state() async throws(ServiceError) -> (id: String, trimmedTo: Int64, ended: TransactionSnapshot) {
        let rows = try await run(WatchStatements.log)
        guard rows.rowCount == 1, let id = rows.text(0, 0), let trimmed = rows.int(0, 1),
            let snapshot = rows.text(0, 2).flatMap(TransactionSnapshot.init)
        else { throw ServiceError(.internalServerError, "the change log has no state") }
        return (id, Int64(trimmed), snapshot)
    }

    /// The next changes of some collections.
    ///
    /// - Returns: The changes, and the place up to which they are complete.
    func page(
        of collections: [Int32],
        after: Int64,
        through end: Int64,
        since transaction: UInt64? = nil
    ) async throws(ServiceError) -> (changes: [ChangeRecord], through: Int64) {
        var most = Self.pageRows
        while true {
            let statement = WatchStatements.page(
                of: collections,
                after: after,
                through: end,
                since: transaction,
                rows: most,
                bytes: Self.pageBytes
            )
            let rows: ResultSet
            do {
                rows = try await run(statement)
            } catch {
                // More than an answer may hold, once it was no longer compressed.
                guard error.code == .readSizeLimitExceeded, most > 1 else { throw error }
                most = max(1, most / 8)
                continue
            }
            let changes = try await decode(rows)
            guard let last = changes.last, let found = rows.int(0, 9) else { return ([], end) }
            return (changes, found < most && found == changes.count ? end : last.sequence)
        }
    }

    private func decode(_ rows: ResultSet) async throws(ServiceError) -> [ChangeRecord] {
        var wanted: [Int32: Set<Int32>] = [:]
        for row in 0..<rows.rowCount {
            guard let collection = rows.int(row, 2).flatMap({ Int32(exactly: $0) }) else { continue }
            for column in [5, 7] {
                if let shape = rows.int(row, column), shape > 0 {
                    wanted[collection, default: []].insert(Int32(shape))
                }
            }
        }
        var known: [Int32: [Int32: DocumentShape]] = [:]
        for (collection, ids) in wanted {
            known[collection] = try await shapes.shapes(
                ids,
                collection: collection,
                deadline: .now + Self.timeLimit
            )
        }
        let shapes = known
        return try await LongComputation.run { () throws(ServiceError) in
            var changes: [ChangeRecord] = []
            changes.reserveCapacity(rows.rowCount)
            for row in 0..<rows.rowCount { changes.append(try Self.record(rows, row, shapes)) }
            return changes
        }
    }

    private static func record(
        _ rows: ResultSet,
        _ row: Int,
        _ shapes: [Int32: [Int32: DocumentShape]]
    ) throws(ServiceError) -> ChangeRecord {
        guard let sequence = rows.int(row, 0), let transaction = rows.text(row, 1).flatMap({ UInt64($0) }),
            let collection = rows.int(row, 2).flatMap({ Int32(exactly: $0) }),
            let kind = rows.text(row, 3).flatMap({ ChangeRecord.Kind(rawValue: $0) }),
            let time = rows.int(row, 8)
        else { throw ServiceError(.internalServerError, "a row of the change log is malformed") }
        func image(_ column: Int) throws(ServiceError) -> BSONDocument? {
            guard let text = rows.slice(row, column) else { return nil }
            let shape = rows.int(row, column + 1).flatMap { shapes[collection]?[Int32(clamping: $0)] }
            return try StoredForm.read(text, shape: shape)
        }
        return ChangeRecord(
            sequence: Int64(sequence),
            transaction: transaction,
            collection: collection,
            kind: kind,
            before: try image(4),
            after: try image(6),
            time: Int64(time),
            bytes: (rows.slice(row, 4)?.count ?? 0) + (rows.slice(row, 6)?.count ?? 0)
        )
    }

    /// One statement with one sensible plan for its values.
    func run(_ statement: SQLFragment) async throws(ServiceError) -> ResultSet {
        try await database.run(statement, plan: .custom, within: Self.timeLimit)
    }
}

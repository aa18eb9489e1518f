import BSON
import Errors
import MQL
import Postgres
import SQL
import Sync

/// Makes history of what others than devices changed.
///
/// The log's trigger notes each change that a device of the app did not make; whoever adds to the history takes what
/// is noted first. Nothing is read by number, so that nothing is skipped that was committed late.
struct SyncPending {
    let service: SyncService
    /// At the newest version of its schemas.
    let app: SyncedApp

    private static let pageRows = 500

    /// Takes everything that waits, in transactions of its own.
    func integrate() async throws {
        let id = app.snapshot.id
        guard try await service.run(SyncStatements.isPending(id)).bool(0, 0) == true else { return }
        try await service.inTurn(id) {
            try await service.database.transaction(within: SyncService.timeLimit) { transaction in
                let rows = try await transaction.run(SyncStatements.lock(id), plan: .generic)
                guard let version = rows.int(0, 0) else { return }
                let newest = try await take(after: Int64(version), in: transaction)
                guard newest > Int64(version) else { return }
                _ = try await transaction.run(SyncStatements.advance(id, to: newest), plan: .generic)
            }
        }
    }

    /// Takes everything that waits; the caller holds the history.
    ///
    /// A large transaction becomes several versions, so that each can be read.
    ///
    /// - Returns: The newest version.
    func take(after version: Int64, in transaction: Transaction) async throws -> Int64 {
        var newest = version
        while true {
            let rows = try await transaction.run(
                SyncStatements.takePending(
                    app.snapshot.id,
                    rows: Self.pageRows,
                    bytes: service.pageBytes / 16
                ),
                plan: .generic
            )
            if rows.rowCount == 0 { return newest }
            var findings: [Int32: SyncUnsynced.Findings] = [:]
            let entries = try await entries(rows, after: newest, &findings)
            for (collection, findings) in findings {
                try await SyncUnsynced(service: service, app: app).note(findings, collection, in: transaction)
            }
            try await SyncHistoryReader.append(entries, app, in: transaction)
            newest = entries.last?.version ?? newest
            for user in try await users(rows) {
                _ = try await transaction.run(
                    SyncStatements.announce(app.snapshot.id, user: user),
                    plan: .generic
                )
            }
        }
    }

    /// The users whose custom data has changed.
    private func users(_ rows: ResultSet) async throws -> Set<String> {
        guard let userData = app.userData else { return [] }
        let places = (0..<rows.rowCount).filter { rows.int($0, 2) == Int(userData.collection) }
        if places.isEmpty { return [] }
        let shapes = try await shapes(rows)[userData.collection] ?? [:]
        var users: Set<String> = []
        for row in places {
            for column in [3, 5] {
                if let user = userData.user(of: try Self.image(rows, row, column, shapes)) {
                    users.insert(user)
                }
            }
        }
        return users
    }

    /// One version per transaction of the log.
    private func entries(
        _ rows: ResultSet,
        after version: Int64,
        _ findings: inout [Int32: SyncUnsynced.Findings]
    ) async throws -> [SyncHistoryEntry] {
        let shapes = try await shapes(rows)
        var entries: [SyncHistoryEntry] = []
        var maker = ""
        for row in 0..<rows.rowCount {
            guard let transaction = rows.text(row, 1),
                let number = rows.int(row, 2).flatMap({ Int32(exactly: $0) }),
                let time = rows.int(row, 7)
            else { throw SyncHistoryReader.malformed }
            guard let mapping = app.collections[number].flatMap(app.mapping(at:)) else { continue }
            let before = try Self.image(rows, row, 3, shapes[number] ?? [:])
            let after = try Self.image(rows, row, 5, shapes[number] ?? [:])
            if let id = (after ?? before)?["_id"], app.forms[mapping.type.name.text] != nil {
                let wasUnfit = before.map { mapping.unrepresentable($0) != nil } ?? false
                try findings[number, default: SyncUnsynced.Findings()]
                    .take(after, id, wasUnfit: wasUnfit, mapping)
            }
            guard let address = (after ?? before).flatMap({ mapping.address(of: $0) }) else { continue }
            let instructions = Self.instructions(mapping, from: before, to: after, address)
            if entries.isEmpty || transaction != maker {
                maker = transaction
                entries.append(
                    SyncHistoryEntry(
                        version: (entries.last?.version ?? version) + 1,
                        originFile: 1,
                        clientVersion: 0,
                        timestamp: SyncTime.since2015(Int64(time)),
                        changeset: Changeset(),
                        schemaVersion: app.schemaVersion,
                        objects: []
                    )
                )
            }
            entries[entries.count - 1].changeset.instructions += instructions
            entries[entries.count - 1].objects.append(
                SyncHistoryEntry.Object(address: address, before: before, after: after)
            )
        }
        return entries
    }

    private static func instructions(
        _ mapping: ObjectMapping,
        from before: BSONDocument?,
        to after: BSONDocument?,
        _ address: ObjectAddress
    ) -> [Instruction] {
        let had = before.map { mapping.unrepresentable($0) == nil } ?? false
        let has = after.map { mapping.unrepresentable($0) == nil } ?? false
        switch (had ? before : nil, has ? after : nil) {
        case (let before?, let after?): return mapping.instructions(changing: before, to: after)
        // Where there was no document, only a device that made the object itself can have it: what it said stays.
        case (nil, let after?): return mapping.instructions(creating: after, isFresh: before == nil)
        case (_?, nil): return [mapping.erase(address.key)]
        case (nil, nil): return []
        }
    }

    private func shapes(_ rows: ResultSet) async throws -> [Int32: [Int32: DocumentShape]] {
        var wanted: [Int32: Set<Int32>] = [:]
        for row in 0..<rows.rowCount {
            guard let collection = rows.int(row, 2).flatMap({ Int32(exactly: $0) }) else { continue }
            for column in [4, 6] {
                if let shape = rows.int(row, column), shape > 0 {
                    wanted[collection, default: []].insert(Int32(shape))
                }
            }
        }
        var known: [Int32: [Int32: DocumentShape]] = [:]
        for (collection, ids) in wanted {
            known[collection] = try await service.data.shapes.shapes(
                ids,
                collection: collection,
                deadline: .now + SyncService.timeLimit
            )
        }
        return known
    }

    static func image(
        _ rows: ResultSet,
        _ row: Int,
        _ column: Int,
        _ shapes: [Int32: DocumentShape]
    ) throws(ServiceError) -> BSONDocument? {
        guard let text = rows.slice(row, column) else { return nil }
        let shape = rows.int(row, column + 1).flatMap { Int32(exactly: $0) }
        return try StoredForm.read(Array(text), shape: shape.flatMap { shapes[$0] })
    }
}

import BSON
import Errors
import MQL
import Postgres
import SQL
import Sync

/// Brings a device from one view to another, at one version of the history.
///
/// Everything is read in one snapshot. A document that was changed by others than devices, in a way that is not
/// history yet, is taken as it was before: the change follows as a version of its own.
struct SyncBootstrap {
    let service: SyncService
    let app: SyncedApp
    let old: SyncView
    let new: SyncView
    /// Documents that the device may hold and that leave it unless they are in the new view, class by class.
    var leaving: [ByteText: Filter] = [:]
    /// Where the device keeps the objects that it has, and is told what they have in other properties than these, class
    /// by class; nothing where they are not known.
    var known: [ByteText: Set<String>?]?
    /// What stands before all documents.
    var opening: [Instruction] = []
    /// How large one part may become.
    var partLimit = Self.partBytes

    /// How large one part may become.
    static let partBytes = 1 << 20
    /// How long the snapshot may be held by a device that reads slowly.
    private static let timeLimit = Duration.seconds(600)

    /// Reads the documents and hands out parts of encoded instructions.
    ///
    /// - Parameters:
    ///   - reserving: Whether the bootstrap needs a version of its own: what the device changes before it has the
    ///     bootstrap is told by its base from what it changes with it.
    ///   - begin: Called first, with the newest version of the snapshot, and that of the bootstrap.
    ///   - part: Takes one part.
    /// - Throws: ``SyncFault`` when sync was terminated, and what the database and the callers' closures throw.
    func run(
        reserving: Bool,
        begin: (_ newest: Int64, _ reached: Int64) async throws -> Void,
        part: (_ changeset: [UInt8]) async throws -> Void
    ) async throws {
        await service.bootstraps.begin()
        defer { service.bootstraps.end() }
        try await service.database.transaction(isolation: .repeatableRead, within: Self.timeLimit) {
            transaction in
            let newest =
                if reserving {
                    try await reserved(in: transaction)
                } else {
                    try await version(in: transaction)
                }
            let waiting = try await waiting(in: transaction)
            let enclosing = EnclosingTransaction(transaction, RecordedOrders())
            try await begin(newest, reserving ? newest + 1 : newest)
            var writer = ChangesetWriter()
            for instruction in opening { writer.append(instruction) }
            for (table, filter) in leaving {
                for instruction in try await erasures(table, filter, waiting[table] ?? [:], enclosing) {
                    writer.append(instruction)
                    guard writer.bytes.count >= partLimit else { continue }
                    try await part(writer.bytes)
                    writer = ChangesetWriter()
                }
            }
            for type in app.readableClasses {
                guard let permission = new.permissions[type.name], permission.plan != nil else { continue }
                for (filter, isErased) in changes(type.name) {
                    try await documents(filter, permission, waiting[type.name] ?? [:], enclosing) {
                        document in
                        for instruction in instructions(document, permission.mapping, isErased: isErased) {
                            writer.append(instruction)
                        }
                        guard writer.bytes.count >= partLimit else { return }
                        try await part(writer.bytes)
                        writer = ChangesetWriter()
                    }
                }
            }
            if !writer.bytes.isEmpty { try await part(writer.bytes) }
        }
    }

    /// The newest version of the snapshot, which begins here.
    private func version(in transaction: Transaction) async throws -> Int64 {
        let head = try await transaction.run(SyncStatements.version(app.snapshot.id), plan: .generic)
        guard let version = head.int(0, 0), head.int(0, 1).map({ Int64($0) }) == app.salt else {
            throw SyncFault(.badClientFileIdent, "Bad client file identifier: sync was terminated")
        }
        return Int64(version)
    }

    /// The newest version of the snapshot, which begins here; the one after it stays empty.
    ///
    /// The snapshot begins while nobody can add to the history.
    private func reserved(in transaction: Transaction) async throws -> Int64 {
        let id = app.snapshot.id
        return try await service.inTurn(id) {
            try await service.database.transaction(within: SyncService.timeLimit) { lock in
                _ = try await lock.run(SyncStatements.lock(id), plan: .generic)
                let newest = try await version(in: transaction)
                _ = try await lock.run(SyncStatements.pass(id, to: newest + 1), plan: .generic)
                return newest
            }
        }
    }

    /// What leaves the view, and what enters it.
    private func changes(_ table: ByteText) -> [(Filter, Bool)] {
        switch (old.filters[table], new.filters[table]) {
        case (nil, nil): return []
        case (let before?, nil): return [(before, true)]
        case (nil, let after?): return [(after, false)]
        case (let before?, let after?):
            if before == after { return [] }
            return [(.and([before, .nor([after])]), true), (.and([after, .nor([before])]), false)]
        }
    }

    private func instructions(
        _ document: BSONDocument,
        _ mapping: ObjectMapping,
        isErased: Bool
    ) -> [Instruction] {
        guard let address = mapping.address(of: document) else { return [] }
        if let known {
            guard let names = known[mapping.type.name] ?? nil else { return [] }
            return mapping.instructions(adding: document, to: names)
        }
        let erase = mapping.erase(address.key)
        // What a device has made there without knowing of the document gives way to it.
        return isErased ? [erase] : [erase] + mapping.instructions(creating: document, isFresh: true)
    }

    /// The documents that changed and are not history yet, by their keys in the store, as they were before; nil where there
    /// was none.
    private func waiting(in transaction: Transaction) async throws -> [ByteText: [String: BSONDocument?]] {
        let rows = try await transaction.run(SyncStatements.firstPending(app.snapshot.id), plan: .generic)
        var found: [ByteText: [String: BSONDocument?]] = [:]
        for row in 0..<rows.rowCount {
            guard let number = rows.int(row, 0).flatMap({ Int32(exactly: $0) }),
                let place = app.collections[number],
                let type = app.schema[place], let key = rows.text(row, 3)
            else { continue }
            let wanted = rows.int(row, 2).flatMap { Int32(exactly: $0) }.map { Set([$0]) } ?? []
            let shapes = try await service.data.shapes.shapes(
                wanted,
                collection: number,
                deadline: .now + SyncService.timeLimit
            )
            found[type.name, default: [:]][key] = .some(try SyncPending.image(rows, row, 1, shapes))
        }
        return found
    }

    /// Of the documents that a filter matches, whoever may see them, those outside of the new view.
    private func erasures(
        _ table: ByteText,
        _ filter: Filter,
        _ waiting: [String: BSONDocument?],
        _ enclosing: EnclosingTransaction
    ) async throws -> [Instruction] {
        guard let permission = new.permissions[table] else { return [] }
        let context = EvaluationContext(now: service.now(), meter: EvaluationMeter(limit: .max))
        var erased: [Instruction] = []
        func take(_ document: BSONDocument) {
            guard new.visible(document, table, context) == nil,
                let address = permission.mapping.address(of: document)
            else { return }
            erased.append(permission.mapping.erase(address.key))
        }
        try await documents(filter, permission.mapping, .system, enclosing) { document in
            let id = document["_id"] ?? .null
            if !waiting.isEmpty, waiting.index(forKey: try TypedKey.text(id)) != nil { return }
            take(document)
        }
        for case let document? in waiting.values where (try? filter.matches(document, context)) == true {
            take(document)
        }
        return erased
    }

    /// All documents that the device's user may see and that a filter matches.
    private func documents(
        _ filter: Filter,
        _ permission: SyncView.Permission,
        _ waiting: [String: BSONDocument?],
        _ enclosing: EnclosingTransaction,
        _ take: (BSONDocument) async throws -> Void
    ) async throws {
        guard let plan = permission.plan else { return }
        try await documents(filter, permission.mapping, plan, enclosing) { document in
            guard permission.mapping.unrepresentable(document) == nil, let id = document["_id"] else {
                return
            }
            if !waiting.isEmpty, waiting.index(forKey: try TypedKey.text(id)) != nil { return }
            try await take(document)
        }
        var view = SyncView(permissions: new.permissions)
        view.filters[permission.mapping.type.name] = filter
        let context = EvaluationContext(now: service.now(), meter: EvaluationMeter(limit: .max))
        for document in waiting.values {
            if let seen = view.visible(document, permission.mapping.type.name, context) {
                try await take(seen)
            }
        }
    }

    /// All documents that a filter matches, as far as a plan shows them.
    private func documents(
        _ filter: Filter,
        _ mapping: ObjectMapping,
        _ plan: PreparedPlan,
        _ enclosing: EnclosingTransaction,
        _ take: (BSONDocument) async throws -> Void
    ) async throws {
        guard let namespace = mapping.type.namespace else { return }
        try await service.data.each(
            of: namespace,
            matching: filter,
            plan: plan,
            deadline: .now + Self.timeLimit,
            within: enclosing
        ) { documents in
            for document in documents { try await take(document) }
        }
    }
}

import BSON
import Errors
import MQL
import Postgres
import Rules
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
    /// Whether documents come in the order of their classes and keys, so that it can be said what a part ends with.
    var isOrdered = false

    /// How large one part may become, beside a document.
    static let partBytes = 1 << 20
    /// Longer keys are not stored whole, and their order is not that of the values.
    private static let keyBytes = 2000
    private static let byKey = Sort(keys: [
        Sort.Key(path: FieldPath(components: ["_id"]), ascending: true)
    ])
    /// How long the snapshot may be held by a device that reads slowly.
    private static let timeLimit = Duration.seconds(600)

    /// The last document of what was read in order.
    struct Boundary {
        let table: ByteText
        let id: BSONValue
    }

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
        try await run(reserving: reserving ? 1 : 0) { newest in
            try await begin(newest, reserving ? newest + 1 : newest)
        } part: { changeset, _ in
            try await part(changeset)
        }
    }

    /// As ``run(reserving:begin:part:)``.
    ///
    /// - Parameters:
    ///   - versions: How many versions it needs for itself; they follow on the newest.
    ///   - begin: Called first, with the newest version of the snapshot.
    ///   - part: Takes one part, with what it ends with where documents come in order and more may follow.
    /// - Throws: As above.
    func run(
        reserving versions: Int64,
        begin: (_ newest: Int64) async throws -> Void,
        part: (_ changeset: [UInt8], _ end: Boundary?) async throws -> Void
    ) async throws {
        await service.bootstraps.begin()
        defer { service.bootstraps.end() }
        try await service.database.transaction(isolation: .repeatableRead, within: Self.timeLimit) {
            transaction in
            let newest =
                if versions > 0 {
                    try await reserved(versions, in: transaction)
                } else {
                    try await version(in: transaction)
                }
            let waiting = try await waiting(in: transaction)
            let enclosing = EnclosingTransaction(transaction, RecordedOrders())
            try await begin(newest)
            var writer = ChangesetWriter()
            for instruction in opening { writer.append(instruction) }
            for (table, filter) in leaving {
                for instruction in try await erasures(table, filter, waiting[table] ?? [:], enclosing) {
                    writer.append(instruction)
                    guard writer.bytes.count >= Self.partBytes else { continue }
                    try await part(writer.bytes, nil)
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
                        guard writer.bytes.count >= Self.partBytes else { return }
                        let end = try boundary(type.name, document)
                        if isOrdered, end == nil { return }
                        try await part(writer.bytes, end)
                        writer = ChangesetWriter()
                    }
                }
            }
            if !writer.bytes.isEmpty { try await part(writer.bytes, nil) }
        }
    }

    /// What a part may end with; nil where it cannot be said what follows.
    private func boundary(_ table: ByteText, _ document: BSONDocument) throws -> Boundary? {
        guard isOrdered, let id = document["_id"], try TypedKey.text(id).utf8.count <= Self.keyBytes else {
            return nil
        }
        return Boundary(table: table, id: id)
    }

    /// The newest version of the snapshot, which begins here.
    private func version(in transaction: Transaction) async throws -> Int64 {
        let head = try await transaction.run(SyncStatements.version(app.snapshot.id), plan: .generic)
        guard let version = head.int(0, 0), head.int(0, 1).map({ Int64($0) }) == app.salt else {
            throw SyncFault(.badClientFileIdent, "Bad client file identifier: sync was terminated")
        }
        return Int64(version)
    }

    /// The newest version, and the one after it, which stays empty.
    func reserve() async throws -> (newest: Int64, own: Int64) {
        let id = app.snapshot.id
        return try await service.inTurn(id) {
            try await service.database.transaction(within: SyncService.timeLimit) { lock in
                _ = try await lock.run(SyncStatements.lock(id), plan: .generic)
                let newest = try await version(in: lock)
                _ = try await lock.run(SyncStatements.pass(id, to: newest + 1), plan: .generic)
                return (newest, newest + 1)
            }
        }
    }

    /// The newest version of the snapshot, which begins here; so many after it stay empty.
    ///
    /// The snapshot begins while nobody can add to the history.
    private func reserved(_ versions: Int64, in transaction: Transaction) async throws -> Int64 {
        let id = app.snapshot.id
        return try await service.inTurn(id) {
            try await service.database.transaction(within: SyncService.timeLimit) { lock in
                _ = try await lock.run(SyncStatements.lock(id), plan: .generic)
                let newest = try await version(in: transaction)
                _ = try await lock.run(SyncStatements.pass(id, to: newest + versions), plan: .generic)
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
        let table = permission.mapping.type.name
        var view = SyncView(permissions: new.permissions)
        view.filters[table] = filter
        let context = EvaluationContext(now: service.now(), meter: EvaluationMeter(limit: .max))
        var late: [(key: String, document: BSONDocument)] = waiting.compactMap { key, document in
            view.visible(document, table, context).map { (key, $0) }
        }
        late.sort { TextOrder.compare($0.key, $1.key) > 0 }
        // Whether a device can have a document is said by the whole of it, not by what a role shows.
        let isPartial = plan.plan.hidesFields
        // Nor does the store decide by what is hidden: who is left out would tell of it.
        let wanted =
            isPartial
            ? .and([plan.plan.narrowed(filter), plan.plan.readFilter, plan.plan.queryFilter]) : filter
        try await documents(wanted, permission.mapping, isPartial ? .system : plan, enclosing) { found in
            let shown = isPartial ? view.visible(found, table, context) : found
            guard let document = shown, isPartial || permission.mapping.unrepresentable(document) == nil,
                let id = document["_id"]
            else { return }
            if !waiting.isEmpty {
                let key = try TypedKey.text(id)
                while isOrdered, let first = late.last, TextOrder.compare(first.key, key) < 0 {
                    late.removeLast()
                    try await take(first.document)
                }
                if waiting.index(forKey: key) != nil { return }
            }
            try await take(document)
        }
        for one in late.reversed() { try await take(one.document) }
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
            by: isOrdered ? Self.byKey : nil,
            plan: plan,
            deadline: .now + Self.timeLimit,
            within: enclosing
        ) { documents in
            for document in documents { try await take(document) }
        }
    }
}

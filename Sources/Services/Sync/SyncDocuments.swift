import BSON
import Errors
import MQL
import Postgres
import QueryCompiler
import SQL
import Sync

/// The documents of objects, inside of the transaction that integrates a device's changes.
struct SyncDocuments {
    let service: SyncService
    let app: SyncedApp
    let enclosing: EnclosingTransaction

    /// What became of one document.
    struct Change {
        let object: ObjectAddress
        let state: SyncUpload.State
    }

    /// A document that the store refuses.
    struct Refused {
        let object: ObjectAddress
        let reason: String
    }

    /// Reads documents and locks them until the end of the transaction; those that are not there are left out.
    func lock(_ objects: Set<ObjectAddress>) async throws -> [ObjectAddress: BSONDocument] {
        var found: [ObjectAddress: BSONDocument] = [:]
        for (table, objects) in Dictionary(grouping: objects, by: \.table) {
            guard let mapping = app.schema.mapping(of: table), let layout = try await layout(mapping) else {
                continue
            }
            let keys = try objects.compactMap { try mapping.id(of: $0.key).map(TypedKey.text) }
            let rows = try await enclosing.transaction.run(
                SyncStatements.documents(layout.table, keys: keys),
                plan: .generic
            )
            let shapes = try await service.data.shapes.shapes(
                of: rows,
                collection: layout.id,
                deadline: .now + SyncService.timeLimit
            )
            for row in 0..<rows.rowCount {
                let (text, shape) = StoredRow.parts(rows, row)
                let document = try StoredForm.read(text, shape: shapes[shape])
                if let address = mapping.address(of: document) { found[address] = document }
            }
        }
        return found
    }

    private func layout(_ mapping: ObjectMapping) async throws(ServiceError) -> CollectionLayout? {
        guard let namespace = mapping.type.namespace else { return nil }
        return try await service.data.catalog.layout(
            database: namespace.database,
            collection: namespace.collection,
            deadline: .now + SyncService.timeLimit
        )
    }

    /// Writes changes that were found legal.
    ///
    /// - Returns: Those that the store refuses, such as a duplicate of a unique key.
    func write(_ changes: [Change]) async throws -> [Refused] {
        var refused: [Refused] = []
        for (table, changes) in Dictionary(grouping: changes, by: \.object.table) {
            guard let mapping = app.schema.mapping(of: table), let namespace = mapping.type.namespace else {
                continue
            }
            // Deletions first: what they make room for may be inserted again under another key.
            let deleted = changes.filter { $0.state.current == nil }
            if !deleted.isEmpty {
                let ids = deleted.compactMap { mapping.id(of: $0.object.key) }
                _ = try await perform(
                    .deleteMany(.field(FieldPath("_id"), .compareAny(ids))),
                    namespace
                )
            }
            for change in changes {
                guard let original = change.state.original, let current = change.state.current else {
                    continue
                }
                let id = original["_id"] ?? .null
                let update = UpdateArguments(
                    filter: .field(FieldPath("_id"), .compare(.equal, id)),
                    update: .replacement(current)
                )
                if let error = try await refusal(of: .updateOne(update), namespace) {
                    refused.append(Refused(object: change.object, reason: Self.reason(error)))
                }
            }
            refused += try await insert(changes.filter { $0.state.original == nil }, namespace)
        }
        return refused
    }

    private func insert(_ changes: [Change], _ namespace: Namespace) async throws(ServiceError) -> [Refused] {
        let documents = changes.compactMap(\.state.current)
        if documents.isEmpty { return [] }
        let all = DataAction.insertMany(InsertManyArguments(documents: documents))
        if try await refusal(of: all, namespace) == nil { return [] }
        // One of them; each by itself tells which.
        var refused: [Refused] = []
        for change in changes {
            guard let document = change.state.current,
                let error = try await refusal(of: .insertOne(document), namespace)
            else { continue }
            refused.append(Refused(object: change.object, reason: Self.reason(error)))
        }
        return refused
    }

    /// The server's text quotes other documents' values; the number says enough.
    private static func reason(_ error: ServiceError) -> String {
        "the store refused it" + (error.serverCode.map { " (code \($0.number))" } ?? "")
    }

    /// Why the store refuses a write, which alone is undone then; nil when it was done.
    private func refusal(of action: DataAction, _ namespace: Namespace) async throws(ServiceError)
        -> ServiceError?
    {
        do {
            _ = try await perform(action, namespace)
            return nil
        } catch {
            // The latter for a text with U+0000, which PostgreSQL cannot store.
            guard error.code == .mongoDBError || error.code == .invalidParameter else { throw error }
            return error
        }
    }

    private func perform(_ action: DataAction, _ namespace: Namespace) async throws(ServiceError)
        -> DataResult
    {
        try await service.data.perform(
            DataOperation(namespace: namespace, action: action),
            plan: .system,
            deadline: .now + SyncService.timeLimit,
            within: enclosing
        )
    }
}

extension FieldTest {
    /// Whether the value is one of several.
    static func compareAny(_ values: [BSONValue]) -> FieldTest { .inside(values.map { .value($0) }) }
}

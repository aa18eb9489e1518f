import BSON
import Errors
import MQL
import Postgres
import QueryCompiler
import Rules
import SQL

extension DataCall {
    /// `insertOne`: judged here, since the document is known, then one statement.
    func insertOne(_ document: BSONDocument) async throws(ServiceError) -> BSONValue {
        let (document, id) = prepared(EmptyTimestamps.filled(document, now: now))
        if let denial = try await denial(of: .insert, before: nil, after: document) { throw error(denial) }
        try await insert(document, id)
        return id
    }

    /// Inserts a document that may be inserted.
    func insert(_ document: BSONDocument, _ id: BSONValue) async throws(ServiceError) {
        let key = try TypedKey.text(id)
        let layout = try await ensureLayout()
        let row = try await row(document, key: key, layout)
        do throws(ServiceError) {
            let done = try await run(compiler(layout).insert(row), isPoint: true)
            if done.affectedRows == 0 { throw duplicate(id) }
        } catch {
            throw named(error)
        }
    }

    func ensureLayout() async throws(ServiceError) -> CollectionLayout {
        try await service.catalog.ensure(
            database: namespace.database,
            collection: namespace.collection,
            deadline: deadline
        )
    }

    /// The document with its `_id` first, a new ObjectId where it has none.
    func prepared(_ document: BSONDocument) -> (document: BSONDocument, id: BSONValue) {
        if document.fields.first?.key == "_id", let id = document["_id"] { return (document, id) }
        var rest = document
        let id = document["_id"] ?? .objectID(newID())
        rest["_id"] = nil
        rest.fields.insert(BSONDocument.Field(key: "_id", value: id), at: 0)
        return (rest, id)
    }

    func newID() -> ObjectID {
        service.ids.next(seconds: UInt32(truncatingIfNeeded: now / 1000))
    }

    /// The row of a document.
    ///
    /// - Throws: ``ServiceError`` BSONObjectTooLarge (10334) beyond 16 MiB.
    func row(
        _ document: BSONDocument,
        key: String,
        _ layout: CollectionLayout
    ) async throws(ServiceError) -> NewRow {
        let bytes = try Self.stored(document)
        let shape: Int32
        if let enclosing, !enclosing.recordsAtOnce {
            let id = layout.id
            shape =
                service.shapes.knownID(for: document, collection: id)
                ?? enclosing.shape(
                    EnclosingTransaction.Unknown(document: document, collection: id) {
                        call async throws(ServiceError) in
                        try await call.service.shapes.id(
                            for: document,
                            collection: id,
                            deadline: call.deadline
                        )
                    }
                )
        } else {
            shape = try await service.shapes.id(for: document, collection: layout.id, deadline: deadline)
        }
        return NewRow(key: key, document: bytes, shape: shape)
    }

    private static let documentLimit = 16 << 20

    /// The stored form of a document that is not too large.
    static func stored(_ document: BSONDocument) throws(ServiceError) -> [UInt8] {
        var bytes: [UInt8] = []
        try StoredForm.write(document, to: &bytes)
        // The text is hardly ever shorter than half of BSON, so that only large ones are measured.
        guard bytes.count > documentLimit / 4 else { return bytes }
        let size = try BSONBinaryFormat.write(document).count
        guard size <= documentLimit else {
            throw .mongo(
                .bsonObjectTooLarge,
                "BSONObj size: \(size) is invalid. Size must be between 0 and \(documentLimit)(16MB)"
            )
        }
        return bytes
    }

    /// The refusal of an `_id` that is there already.
    ///
    /// Its message is the server's:
    /// `E11000 duplicate key error collection: db.coll index: _id_ dup key: { _id: 1 }`.
    func duplicate(_ id: BSONValue) -> ServiceError {
        .mongo(
            .duplicateKey,
            "E11000 duplicate key error collection: \(known: namespace.name) index: _id_ dup key: "
                + "\(MongoShellText.describe(BSONDocument([.init(key: "_id", value: id)])))"
        )
    }

    /// A violated unique index that an administrator made, by its name.
    func named(_ error: ServiceError) -> ServiceError {
        guard let failure = error.postgresFailure, failure.sqlState == .uniqueViolation else { return error }
        return ServiceError(
            .mongoDBError,
            "E11000 duplicate key error collection: \(known: namespace.name) index: \(known: failure.constraint ?? "unknown")",
            serverCode: .duplicateKey,
            cause: failure
        )
    }
}

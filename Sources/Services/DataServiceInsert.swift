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
        let (document, id) = prepared(document)
        if let denial = plan.denial(of: .insert, before: nil, after: document) { throw error(denial) }
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

    /// `insertMany`, ordered: a denial keeps nothing, a duplicate key the documents before it (D5).
    func insertMany(_ documents: [BSONDocument]) async throws(ServiceError) -> [BSONValue] {
        var prepared: [(document: BSONDocument, id: BSONValue)] = []
        for document in documents {
            let entry = self.prepared(document)
            if let denial = plan.denial(of: .insert, before: nil, after: entry.document) {
                throw error(denial)
            }
            prepared.append(entry)
        }
        let keys = try prepared.map { entry throws(ServiceError) in try TypedKey.text(entry.id) }
        let layout = try await ensureLayout()
        // The first key that comes twice ends the list; it is the duplicate, if none came before it.
        var seen: Set<[UInt8]> = []
        var rows: [NewRow] = []
        for (index, entry) in prepared.enumerated() {
            guard seen.insert(Array(keys[index].utf8)).inserted else { break }
            rows.append(try await row(entry.document, key: keys[index], layout))
        }
        let inserted = try await insert(rows, layout)
        if inserted < prepared.count { throw duplicate(prepared[inserted].id) }
        return prepared.map(\.id)
    }

    /// - Returns: How many went in before the first duplicate.
    private func insert(_ rows: [NewRow], _ layout: CollectionLayout) async throws(ServiceError) -> Int {
        var attempt = 1
        while true {
            do {
                let done = try await run(compiler(layout).insert(rows), isPoint: false)
                return done.int(0, 0) ?? 0
            } catch {
                guard error.postgresFailure?.sqlState == .uniqueViolation else { throw error }
                guard isPrimaryKey(error, layout) else { return try await insertEach(rows, layout) }
                // Another writer took a key at this moment; looking again shows which.
                guard attempt < 10 else { throw named(error) }
                attempt += 1
            }
        }
    }

    /// One statement per document: those before the one that a unique index refuses stay.
    private func insertEach(_ rows: [NewRow], _ layout: CollectionLayout) async throws(ServiceError) -> Int {
        for (index, row) in rows.enumerated() {
            do throws(ServiceError) {
                if try await run(compiler(layout).insert(row), isPoint: true).affectedRows == 0 {
                    return index
                }
            } catch {
                throw named(error)
            }
        }
        return rows.count
    }

    private func isPrimaryKey(_ error: ServiceError, _ layout: CollectionLayout) -> Bool {
        error.postgresFailure?.constraint?.hasSuffix("_pkey") == true
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
        let shape = try await service.shapes.id(for: document, collection: layout.id, deadline: deadline)
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

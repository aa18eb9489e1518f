public import Foundation
import GRDB

/// Copies of documents in a file that an app and its extensions share; nothing syncs it.
///
/// Shape: the app says `try await store.export(collection, filter: ["done": false], as: "open")` while it is online; a widget
/// says `try await store.documents("open", as: Item.self)` at any time. What an extension puts here with
/// ``save(_:in:)`` the app hands on with ``importChanges(of:into:as:queue:)``.
public final class LocalStore: Sendable {
    private let database: DatabaseQueue
    private let writing: FileLock

    /// Opens a store, and makes it when it is not there.
    ///
    /// - Throws: ``TidegateError`` of the kind `storage`.
    public init(container: URL, name: String = "local") throws {
        do {
            try FileManager.default.createDirectory(at: container, withIntermediateDirectories: true)
            let path = container.appendingPathComponent("tidegate-\(name).copies.sqlite").path
            writing = FileLock(path: path + ".lock")
            let held = try writing.acquireBlocking()
            database = try SharedDatabase.open(path)
            try database.writeWithoutTransaction { db in
                try db.execute(
                    sql: """
                        CREATE TABLE IF NOT EXISTS documents (
                            name     TEXT NOT NULL,
                            id       TEXT NOT NULL,
                            place    INTEGER NOT NULL,
                            document TEXT NOT NULL,
                            -- The key under which a change made here goes to the server; null for copies.
                            change   TEXT,
                            PRIMARY KEY (name, id)
                        ) WITHOUT ROWID;
                        CREATE TABLE IF NOT EXISTS exports (name TEXT PRIMARY KEY, at REAL NOT NULL);
                        """
                )
            }
            held.release()
        } catch {
            throw TidegateError(.storage, "the store in \(container.path) cannot be opened: \(error)")
        }
    }

    // MARK: From the server

    /// Copies what a query finds, in its order, in place of what stood under the name before.
    ///
    /// Changes that were saved here and not handed on stay.
    ///
    /// - Parameters:
    ///   - collection: Asked under the app's rules for its caller.
    ///   - filter: Which documents.
    ///   - options: Their order, how many, which fields.
    ///   - name: What the copy is called here.
    /// - Returns: How many documents came.
    /// - Throws: ``TidegateError``; the copy is then as it was.
    @discardableResult
    public func export<Value: Codable & Sendable>(
        _ collection: MongoCollection<Value>,
        filter: Document = [:],
        options: FindOptions = FindOptions(),
        as name: String
    ) async throws -> Int {
        let documents = try await collection.documents(filter: filter, options: options)
        try await replace(name, with: documents)
        return documents.count
    }

    /// Puts documents in place of what stood under a name.
    public func replace(_ name: String, with documents: [Document]) async throws {
        let rows = try documents.map { (id: try Self.id(of: $0), text: $0.extendedJSON) }
        try await write { db in
            try db.execute(sql: "DELETE FROM documents WHERE name = ? AND change IS NULL", arguments: [name])
            for (place, row) in rows.enumerated() {
                try db.execute(
                    sql:
                        "INSERT INTO documents (name, id, place, document) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                    arguments: [name, row.id, place, row.text]
                )
            }
            try db.execute(
                sql: "INSERT INTO exports VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET at = excluded.at",
                arguments: [name, Date().timeIntervalSince1970]
            )
        }
    }

    // MARK: Reading

    /// When a copy was made; nil for a name that has none.
    public func exportedAt(_ name: String) async throws -> Date? {
        try await database.read { db in
            try Double.fetchOne(db, sql: "SELECT at FROM exports WHERE name = ?", arguments: [name])
        }.map { Date(timeIntervalSince1970: $0) }
    }

    /// The documents under a name, in the order of the query; those saved here come last.
    public func documents<Value: Decodable>(_ name: String, as type: Value.Type = Value.self) async throws
        -> [Value]
    {
        let texts = try await database.read { db in
            try String.fetchAll(
                db,
                sql: "SELECT document FROM documents WHERE name = ? ORDER BY place, id",
                arguments: [name]
            )
        }
        return try texts.map { try BSONDecoder().decode(type, from: Document(extendedJSON: $0)) }
    }

    /// The document with an `_id`; nil when there is none.
    public func document<Value: Decodable>(
        _ name: String,
        id: AnyBSON,
        as type: Value.Type = Value.self
    ) async throws -> Value? {
        let key = id.extendedJSON
        let text = try await database.read { db in
            try String.fetchOne(
                db,
                sql: "SELECT document FROM documents WHERE name = ? AND id = ?",
                arguments: [name, key]
            )
        }
        return try text.map { try BSONDecoder().decode(type, from: Document(extendedJSON: $0)) }
    }

    // MARK: To the server

    /// Saves a document here; ``importChanges(of:into:as:queue:)`` hands it on.
    public func save(_ value: some Encodable, in name: String) async throws {
        var document = try BSONEncoder().encode(value)
        if document["_id"] == nil {
            document = Document(
                [("_id", .objectId(ObjectId()))] + document.fields.map { ($0.name, $0.value) }
            )
        }
        let id = try Self.id(of: document)
        let text = document.extendedJSON
        let key = UUID().uuidString
        try await write { db in
            try db.execute(
                sql: """
                    INSERT INTO documents (name, id, place, document, change) VALUES (?, ?, ?, ?, ?)
                    ON CONFLICT DO UPDATE SET document = excluded.document, change = excluded.change
                    """,
                arguments: [name, id, Int64.max, text, key]
            )
        }
    }

    /// Hands on what was saved here: each document, as it is now, replaces or makes the one with its `_id`.
    ///
    /// Done by way of the queue, and once for each change, whoever dies between.
    ///
    /// - Parameters:
    ///   - name: Where they were saved.
    ///   - target: The collection.
    ///   - sender: As whom they are sent.
    ///   - queue: Sends them, when it is drained.
    /// - Returns: How many changes there were.
    /// - Throws: ``TidegateError`` of the kind `storage`.
    @discardableResult
    public func importChanges(
        of name: String,
        into target: RecordedOperation.Target,
        as sender: DiskQueue.Sender,
        queue: DiskQueue
    ) async throws -> Int {
        let changes = try await database.read { db in
            try Row.fetchAll(
                db,
                sql:
                    "SELECT document, change FROM documents WHERE name = ? AND change IS NOT NULL ORDER BY change",
                arguments: [name]
            ).map { (text: $0["document"] as String, key: $0["change"] as String) }
        }
        for change in changes {
            let document = try Document(extendedJSON: change.text)
            let operation = try RecordedOperation.replaceOne(
                filter: ["_id": document["_id"] ?? .null],
                replacement: document,
                upsert: true,
                in: target
            )
            // Recorded with the change's own key, so that a second time does nothing.
            try await queue.record(operation, for: sender, key: change.key)
            try await write { db in
                // Unless it was changed again meanwhile.
                try db.execute(
                    sql: "UPDATE documents SET change = NULL WHERE name = ? AND change = ?",
                    arguments: [name, change.key]
                )
            }
        }
        return changes.count
    }

    private static func id(of document: Document) throws -> String {
        guard let id = document["_id"] else {
            throw TidegateError(.invalidDocument, "a document without _id cannot be kept")
        }
        return id.extendedJSON
    }

    private func write(_ body: @escaping @Sendable (Database) throws -> Void) async throws {
        let writing = writing
        do {
            try await database.writeWithoutTransaction { db in
                let held = try writing.acquireBlocking()
                try db.inTransaction(.immediate) {
                    try body(db)
                    return .commit
                }
                held.release()
            }
        } catch let error as DatabaseError {
            throw TidegateError(.storage, "the store cannot be written: \(error)")
        }
    }
}

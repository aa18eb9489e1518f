public import Foundation
import GRDB

/// Writes that wait on disk for the gateway: recorded by any process of an app group, sent in order, done once each.
///
/// Shape: an extension says `try await queue.record(.insertOne(note, into: target), for: .user(user))` and returns, with or
/// without network; the main app says `try await queue.drain(as: .user(user))` when it runs. The queue is a SQLite file in
/// the shared container; recording is one durable transaction of some milliseconds.
///
/// Every operation has a key that the gateway remembers for 24 hours with its answer, written in the transaction of the
/// operation itself. So whoever dies between sending and hearing the answer sends again, and is told what happened the
/// first time. An operation that was sent more than 23 hours ago, and whose answer nobody heard, is set aside with the
/// code `OutcomeUnknown` rather than risked twice.
public final class DiskQueue: Sendable {
    /// Whose operations are meant, and how they are sent.
    public struct Sender: Sendable {
        let backend: Backend

        /// As a user, through the client API.
        public static func user(_ user: User) -> Sender { Sender(backend: .user(user)) }

        /// As a client with an API key, through the Data API.
        public static func client(_ client: MongoClient) -> Sender { Sender(backend: client.backend) }

        var owner: String { backend.owner }
    }

    let database: DatabaseQueue
    private let writing: FileLock
    private let line: WaitingLine
    let draining: FileLock

    /// Opens a queue, and makes it when it is not there.
    ///
    /// - Parameters:
    ///   - container: A folder that all processes reach; on Apple platforms that of the app group.
    ///   - name: Part of the files' names.
    /// - Throws: ``TidegateError`` of the kind `storage`.
    public init(container: URL, name: String = "queue") throws {
        do {
            try FileManager.default.createDirectory(at: container, withIntermediateDirectories: true)
            let path = container.appendingPathComponent("tidegate-\(name).sqlite").path
            writing = FileLock(path: path + ".lock")
            line = WaitingLine(path: path + ".line")
            draining = FileLock(path: path + ".drain")
            // Processes that open it at once would meet in the middle of making it.
            let held = try writing.acquireBlocking()
            database = try SharedDatabase.open(path)
            try database.writeWithoutTransaction { try Self.makeTables($0) }
            held.release()
        } catch {
            throw TidegateError(.storage, "the queue in \(container.path) cannot be opened: \(error)")
        }
    }

    private static func makeTables(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS operations (
                    id            INTEGER PRIMARY KEY AUTOINCREMENT,
                    key           TEXT NOT NULL UNIQUE,
                    owner         TEXT NOT NULL,
                    operation     TEXT NOT NULL,
                    recorded_at   REAL NOT NULL,
                    first_sent_at REAL,
                    attempts      INTEGER NOT NULL DEFAULT 0,
                    not_before    REAL NOT NULL DEFAULT 0,
                    is_refused    INTEGER NOT NULL DEFAULT 0,
                    status        INTEGER,
                    code          TEXT,
                    reason        TEXT
                );
                CREATE INDEX IF NOT EXISTS operations_next ON operations (owner, is_refused, id);
                """
        )
    }

    // MARK: Recording

    /// Keeps an operation; when this returns, it survives the process and the power.
    ///
    /// - Parameters:
    ///   - operation: What is to be done.
    ///   - sender: As whom.
    ///   - key: Recorded at most once with the same key; nil makes a new one.
    /// - Returns: The operation's key.
    /// - Throws: ``TidegateError`` of the kind `storage`.
    @discardableResult
    public func record(
        _ operation: RecordedOperation,
        for sender: Sender,
        key: String? = nil
    ) async throws -> String {
        let key = key ?? UUID().uuidString
        let text = operation.call.document.extendedJSON
        let owner = sender.owner
        try await write { db in
            try db.execute(
                sql: """
                    INSERT INTO operations (key, owner, operation, recorded_at) VALUES (?, ?, ?, ?)
                    ON CONFLICT (key) DO NOTHING
                    """,
                arguments: [key, owner, text, Date().timeIntervalSince1970]
            )
        }
        return key
    }

    /// Changes the file.
    ///
    /// Processes take turns by locks of the kernel's, which wake whoever waits, in the order in which they came; SQLite's
    /// own would have them sleep and look again.
    func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value
    {
        let (writing, line) = (writing, line)
        do {
            return try await database.writeWithoutTransaction { db in
                let place = try line.wait()
                let held = try writing.acquireBlocking()
                var value: Value?
                try db.inTransaction(.immediate) {
                    value = try body(db)
                    return .commit
                }
                held.release()
                place.leave()
                guard let value else { throw TidegateError(.storage, "the transaction did not run") }
                return value
            }
        } catch let error as DatabaseError {
            throw TidegateError(.storage, "the queue cannot be written: \(error)")
        }
    }

    // MARK: Looking

    /// How many operations wait to be sent.
    public func count(for sender: Sender) async throws -> Int {
        let owner = sender.owner
        return try await database.read { db in
            try Int.fetchOne(
                db,
                sql: "SELECT count(*) FROM operations WHERE owner = ? AND is_refused = 0",
                arguments: [owner]
            ) ?? 0
        }
    }

    /// Whether an operation still waits.
    func isWaiting(key: String) async throws -> Bool {
        try await database.read { db in
            try Bool.fetchOne(
                db,
                sql: "SELECT EXISTS (SELECT * FROM operations WHERE key = ? AND is_refused = 0)",
                arguments: [key]
            ) ?? false
        }
    }
}

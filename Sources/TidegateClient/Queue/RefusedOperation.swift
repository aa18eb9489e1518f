public import Foundation
import GRDB

/// An operation that the gateway refused, set aside so that it blocks nothing.
public struct RefusedOperation: Sendable, Identifiable {
    /// Its number in the queue, in the order of recording.
    public let id: Int64
    /// What was to be done.
    public let operation: RecordedOperation
    /// The server's code, such as `NoMatchingRuleFound`; `OutcomeUnknown` for one that was sent and never answered.
    public let code: String?
    /// The server's sentence.
    public let reason: String
    /// The HTTP status; 0 without.
    public let status: Int
    /// When it was recorded.
    public let recordedAt: Date
}

extension DiskQueue {
    /// What was set aside, in the order of recording.
    public func refused(for sender: Sender) async throws -> [RefusedOperation] {
        let owner = sender.owner
        return try await database.read { db in
            try Row.fetchAll(
                db,
                sql: "SELECT * FROM operations WHERE owner = ? AND is_refused = 1 ORDER BY id",
                arguments: [owner]
            ).map { row in
                RefusedOperation(
                    id: row["id"],
                    operation: try Self.operation(row["operation"]),
                    code: row["code"],
                    reason: row["reason"] ?? "",
                    status: row["status"] ?? 0,
                    recordedAt: Date(timeIntervalSince1970: row["recorded_at"])
                )
            }
        }
    }

    /// Has an operation sent again that was set aside: in its old place, under a new key.
    public func retry(_ id: RefusedOperation.ID) async throws {
        let key = UUID().uuidString
        try await write { db in
            try db.execute(
                sql: """
                    UPDATE operations SET is_refused = 0, key = ?, first_sent_at = NULL, attempts = 0, not_before = 0
                    WHERE id = ? AND is_refused = 1
                    """,
                arguments: [key, id]
            )
        }
    }

    /// Forgets an operation that was set aside.
    public func discard(_ id: RefusedOperation.ID) async throws {
        try await write { db in
            try db.execute(sql: "DELETE FROM operations WHERE id = ? AND is_refused = 1", arguments: [id])
        }
    }

    static func operation(_ text: String) throws -> RecordedOperation {
        RecordedOperation(call: try ServiceCall(kept: Document(extendedJSON: text)))
    }
}

extension DiskQueue {
    /// Forgets a refusal whose caller was told.
    func forgetRefused(key: String) async throws {
        try await write { db in
            try db.execute(sql: "DELETE FROM operations WHERE key = ? AND is_refused = 1", arguments: [key])
        }
    }
}

import Accounts
import SQL

// SQL about who is connected, beside the functions of migration 0022.
extension SyncStatements {
    /// One row: whether the file is open for this holder now.
    static func claim(_ file: SyncFileKey, holder: String, gateway: String, protocolVersion: Int)
        -> SQLFragment
    {
        """
        SELECT tidegate.claim_sync_file(\(bind: .text(file.app)), \(bind: .int(file.ident)), \(bind: .text(holder)), \
        \(bind: .text(gateway)), \(bind: .int4(Int32(clamping: protocolVersion))))
        """
    }

    /// Closes a file, unless another has opened it.
    static func release(_ file: SyncFileKey, holder: String) -> SQLFragment {
        """
        SELECT tidegate.release_sync_file(\(bind: .text(file.app)), \(bind: .int(file.ident)), \(bind: .text(holder)))
        """
    }

    /// A sign of life; false when the gateway was taken for dead.
    static func keepGateway(_ gateway: String) -> SQLFragment {
        "SELECT tidegate.keep_sync_gateway(\(bind: .text(gateway)))"
    }

    /// The end of a gateway.
    static func endGateway(_ gateway: String) -> SQLFragment {
        "SELECT tidegate.end_sync_gateway(\(bind: .text(gateway)))"
    }

    /// Tells all gateways that something changed which roles may know of a user.
    static func announce(_ app: String, user: String) -> SQLFragment {
        "SELECT tidegate.announce_sync_user(\(bind: .text(app)), \(bind: .text(user)))"
    }

    /// Of tokens, by place, those that count no more: the place, and whether their user is still there.
    static func standing(_ tokens: [AccessToken]) -> SQLFragment {
        """
        SELECT n.place - 1, u.id IS NOT NULL AND NOT u.disabled \
        FROM unnest(\(bind: .textArray(tokens.map(\.sessionID))), \(bind: .textArray(tokens.map(\.userID))), \
        \(bind: .textArray(tokens.map(\.appID))), \(bind: .intArray(tokens.map(\.issuedAt)))) \
        WITH ORDINALITY AS n (id, user_id, app, issued, place) \
        LEFT JOIN tidegate.users u ON u.id = n.user_id AND u.app = n.app \
        LEFT JOIN tidegate.sessions s ON s.id = n.id AND s.user_id = u.id \
        WHERE (s.revoked_at IS NULL AND s.expires_at > now() AND NOT u.disabled \
        AND coalesce(n.issued >= floor(extract(epoch FROM u.tokens_valid_from)), true)) IS NOT TRUE
        """
    }

    /// How many versions one statement of ``trim(_:)`` forgets at the most.
    static let trimmedAtOnce = 10_000

    /// Forgets old history: how many versions.
    static func trim(_ app: String) -> SQLFragment { "SELECT tidegate.trim_sync(\(bind: .text(app)))" }
}

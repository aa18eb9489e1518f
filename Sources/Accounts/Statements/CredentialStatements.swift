public import BSON
public import Errors
public import SQL

/// All SQL about passwords and API keys, and the reading of its rows.
public enum CredentialStatements {
    /// A stored password, with its user once there is one.
    public struct StoredPassword: Sendable {
        /// The stored text of a ``PasswordHash``.
        public let hash: String
        /// The id of the identity.
        public let identityID: String
        /// Whether the user may log in.
        public let confirmed: Bool
        /// nil until the first login.
        public let user: User?
    }

    /// A stored API key with its user.
    public struct StoredKey: Sendable {
        /// 24 hexadecimal digits.
        public let id: String
        /// Whether logins with it are refused.
        public let disabled: Bool
        /// The owner, or for a server key its own user.
        public let user: User
    }

    /// The password of a username.
    public static func password(appID: String, username: String) -> SQLFragment {
        """
        SELECT p.hash, p.identity_id, p.confirmed_at IS NOT NULL, \(AccountStatements.userColumns) \
        FROM tidegate.password_hashes p LEFT JOIN tidegate.users u ON u.id = p.user_id \
        WHERE p.app = \(bind: .text(appID)) AND p.username = \(bind: .text(username))
        """
    }

    /// The row of ``password(appID:username:)``.
    public static func readPassword(
        _ rows: ResultSet,
        appID: String
    ) throws(ServiceError) -> StoredPassword? {
        guard rows.rowCount > 0 else { return nil }
        guard let hash = rows.text(0, 0), let identityID = rows.text(0, 1), let confirmed = rows.bool(0, 2)
        else { throw AccountStatements.unreadable }
        return StoredPassword(
            hash: hash,
            identityID: identityID,
            confirmed: confirmed,
            user: try AccountStatements.user(rows, row: 0, from: 3, appID: appID)
        )
    }

    /// Whether a username is taken: one row, or none.
    public static func usernameExists(appID: String, username: String) -> SQLFragment {
        """
        SELECT 1 FROM tidegate.password_hashes \
        WHERE app = \(bind: .text(appID)) AND username = \(bind: .text(username))
        """
    }

    /// A confirmed registration; no row is made when the username is taken.
    public static func register(
        appID: String,
        username: String,
        hash: String,
        identityID: String
    ) -> SQLFragment {
        """
        INSERT INTO tidegate.password_hashes (app, username, hash, identity_id, confirmed_at) \
        VALUES (\(bind: .text(appID)), \(bind: .text(username)), \(bind: .text(hash)), \
        \(bind: .text(identityID)), now()) ON CONFLICT DO NOTHING
        """
    }

    /// The first login of a registered user: makes the user.
    ///
    /// No row is made when another login came first.
    public static func createUser(
        appID: String,
        username: String,
        userID: String,
        data: BSONDocument
    ) -> SQLFragment {
        let kind = ProviderConfiguration.Kind.emailPassword.rawValue
        return """
            WITH claimed AS (\
            UPDATE tidegate.password_hashes SET user_id = \(bind: .text(userID)) \
            WHERE app = \(bind: .text(appID)) AND username = \(bind: .text(username)) \
            AND user_id IS NULL AND confirmed_at IS NOT NULL RETURNING identity_id), \
            made AS (\
            INSERT INTO tidegate.users (id, app, data, last_login_at) \
            SELECT \(bind: .text(userID)), \(bind: .text(appID)), \(AccountStatements.json(data)), now() FROM claimed) \
            INSERT INTO tidegate.identities (app, provider_type, id, provider_id, user_id, data) \
            SELECT \(bind: .text(appID)), \(bind: .text(kind)), claimed.identity_id, \
            coalesce((SELECT p.id FROM tidegate.providers p WHERE p.app = \(bind: .text(appID)) \
            AND p.name = \(bind: .text(kind))), \(bind: .text(DeviceInformation.noDeviceID))), \
            \(bind: .text(userID)), \(AccountStatements.json(data)) FROM claimed
            """
    }

    /// A better hash of the same password, unless the password was changed meanwhile.
    public static func replaceHash(
        appID: String,
        username: String,
        old: String,
        new: String
    ) -> SQLFragment {
        """
        UPDATE tidegate.password_hashes SET hash = \(bind: .text(new)) \
        WHERE app = \(bind: .text(appID)) AND username = \(bind: .text(username)) AND hash = \(bind: .text(old))
        """
    }

    /// An API key by its digest; its use is noted to the minute.
    public static func apiKey(appID: String, digest: [UInt8]) -> SQLFragment {
        """
        WITH found AS (\
        SELECT id, user_id, disabled, last_used_at FROM tidegate.api_keys \
        WHERE key_hash = \(bind: .bytes(digest)) AND app = \(bind: .text(appID))), \
        noted AS (\
        UPDATE tidegate.api_keys k SET last_used_at = date_trunc('minute', now()) FROM found \
        WHERE k.id = found.id AND NOT found.disabled \
        AND (found.last_used_at IS NULL OR found.last_used_at < date_trunc('minute', now()))) \
        SELECT found.id, found.disabled, \(AccountStatements.userColumns) \
        FROM found JOIN tidegate.users u ON u.id = found.user_id
        """
    }

    /// The row of ``apiKey(appID:digest:)``.
    public static func readKey(_ rows: ResultSet, appID: String) throws(ServiceError) -> StoredKey? {
        guard rows.rowCount > 0 else { return nil }
        guard let id = rows.text(0, 0), let disabled = rows.bool(0, 1),
            let user = try AccountStatements.user(rows, row: 0, from: 2, appID: appID)
        else { throw AccountStatements.unreadable }
        return StoredKey(id: id, disabled: disabled, user: user)
    }
}

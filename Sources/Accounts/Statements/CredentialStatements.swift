public import BSON
public import Errors
public import SQL

/// All SQL about passwords and API keys, and the reading of its rows.
///
/// The process may read neither table. It calls functions that show one account at a time.
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
        SELECT p.hash, p.identity_id, p.is_confirmed, \(AccountStatements.userColumns) \
        FROM tidegate.read_password(\(bind: .text(appID)), \(bind: .text(username))) p \
        LEFT JOIN tidegate.users u ON u.id = p.user_id
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
        SELECT 1 WHERE tidegate.register_password(\(bind: .text(appID)), \(bind: .text(username)), \
        \(bind: .text(hash)), \(bind: .text(identityID)))
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
            SELECT 1 WHERE tidegate.claim_registration(\(bind: .text(appID)), \(bind: .text(username)), \
            \(bind: .text(userID)), \(bind: .text(kind)), \(bind: .text(DeviceInformation.noDeviceID)), \
            \(AccountStatements.json(data)))
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
        SELECT 1 WHERE tidegate.replace_password_hash(\(bind: .text(appID)), \(bind: .text(username)), \
        \(bind: .text(old)), \(bind: .text(new)))
        """
    }

    /// An API key by its digest; its use is noted to the minute.
    public static func apiKey(appID: String, digest: [UInt8]) -> SQLFragment {
        """
        SELECT k.id, k.disabled, \(AccountStatements.userColumns) \
        FROM tidegate.use_api_key(\(bind: .text(appID)), \(bind: .bytes(digest))) k \
        JOIN tidegate.users u ON u.id = k.user_id
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

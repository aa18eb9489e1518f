public import Errors
public import SQL

/// An API key as its owner sees it.
public struct UserAPIKey: Sendable, Hashable {
    /// 24 hexadecimal digits.
    public let id: String
    /// Unique among the user's.
    public let name: String
    /// Whether logins with it are refused.
    public let disabled: Bool

    /// Made of its parts.
    public init(id: String, name: String, disabled: Bool) {
        self.id = id
        self.name = name
        self.disabled = disabled
    }
}

/// All SQL about the API keys of users, and the reading of its rows.
public enum UserKeyStatements {
    /// A new key of a user: one word.
    public static func create(
        appID: String,
        userID: String,
        keyID: String,
        name: String,
        digest: [UInt8]
    ) -> SQLFragment {
        """
        SELECT tidegate.create_user_api_key(\(bind: .text(appID)), \(bind: .text(userID)), \
        \(bind: .text(keyID)), \(bind: .text(name)), \(bind: .bytes(digest)), \
        \(bind: .int4(Int32(APIKeyProvider.maximumUserKeys))))
        """
    }

    /// A user's keys, oldest first.
    public static func list(appID: String, userID: String) -> SQLFragment {
        """
        SELECT id, name, disabled \
        FROM tidegate.read_user_api_keys(\(bind: .text(appID)), \(bind: .text(userID)))
        """
    }

    /// The rows of ``list(appID:userID:)``.
    public static func readList(_ rows: ResultSet) throws(ServiceError) -> [UserAPIKey] {
        var keys: [UserAPIKey] = []
        for row in 0..<rows.rowCount {
            guard let id = rows.text(row, 0), let name = rows.text(row, 1), let disabled = rows.bool(row, 2)
            else { throw AccountStatements.unreadable }
            keys.append(UserAPIKey(id: id, name: name, disabled: disabled))
        }
        return keys
    }

    /// Disables or enables a key: one row, or none when the user has no such key.
    public static func set(appID: String, userID: String, keyID: String, disabled: Bool) -> SQLFragment {
        """
        SELECT 1 WHERE tidegate.set_user_api_key(\(bind: .text(appID)), \(bind: .text(userID)), \
        \(bind: .text(keyID)), \(bind: .bool(disabled)))
        """
    }

    /// Deletes a key: one row, or none when the user has no such key.
    public static func drop(appID: String, userID: String, keyID: String) -> SQLFragment {
        """
        SELECT 1 WHERE tidegate.drop_user_api_key(\(bind: .text(appID)), \(bind: .text(userID)), \
        \(bind: .text(keyID)))
        """
    }
}

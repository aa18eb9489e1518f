public import BSON
public import Errors
public import SQL

/// All SQL about users and identities, and the reading of its rows.
///
/// Each function is one statement for one round trip. What must not happen twice (a user made by two
/// first logins at once) is decided by a unique key within the statement, not by looking first.
public enum AccountStatements {
    /// The columns of a user, seven from a given one on.
    ///
    /// An access token lives for half an hour; what ended before that needs no remembering.
    static let userColumns: SQLFragment = """
        u.id, u.kind, u.data::text, u.disabled, floor(extract(epoch FROM u.tokens_valid_from))::bigint, \
        (SELECT json_agg(json_build_array(i.id, i.provider_type, i.provider_id, i.data) ORDER BY i.created_at, i.id) \
        FROM tidegate.identities i WHERE i.user_id = u.id)::text, \
        (SELECT string_agg(s.id, ',') FROM tidegate.sessions s \
        WHERE s.user_id = u.id AND s.revoked_at > now() - interval '31 minutes')
        """

    /// Reads the columns of ``userColumns``; nil when they are all null.
    static func user(
        _ rows: ResultSet,
        row: Int,
        from first: Int,
        appID: String
    ) throws(ServiceError) -> User? {
        guard let id = rows.text(row, first) else { return nil }
        guard let kind = rows.text(row, first + 1).flatMap(UserProfile.Kind.init(rawValue:)),
            let data = rows.slice(row, first + 2), let disabled = rows.bool(row, first + 3)
        else { throw unreadable }
        let identities: [UserProfile.Identity]
        if let text = rows.slice(row, first + 5) {
            guard let list = try ExtendedJSON.readValue(Array(text), limits: ReadLimits(depth: 110)).array
            else { throw unreadable }
            identities = list.compactMap { entry in
                guard let parts = entry.array, parts.count == 4, let id = parts[0].string,
                    let type = parts[1].string, let provider = parts[2].string
                else { return nil }
                return UserProfile.Identity(
                    id: id,
                    providerType: type,
                    providerID: provider,
                    data: parts[3].document ?? BSONDocument()
                )
            }
            guard identities.count == list.count else { throw unreadable }
        } else {
            identities = []
        }
        let profile = UserProfile(
            id: id,
            kind: kind,
            data: try ExtendedJSON.readDocument(Array(data)),
            customData: nil,
            identities: identities
        )
        return User(
            appID: appID,
            profile: profile,
            disabled: disabled,
            tokensValidFrom: rows.int(row, first + 4).map(Int64.init) ?? 0,
            endedSessions: Set((rows.text(row, first + 6) ?? "").split(separator: ",").map(String.init))
        )
    }

    static let unreadable = ServiceError(.internalServerError, "a stored user cannot be read")

    /// A user by id.
    public static func user(appID: String, userID: String) -> SQLFragment {
        "SELECT \(userColumns) FROM tidegate.users u WHERE u.id = \(bind: .text(userID)) AND u.app = \(bind: .text(appID))"
    }

    /// The user of ``user(appID:userID:)``, nil when there is none.
    public static func readUser(_ rows: ResultSet, appID: String) throws(ServiceError) -> User? {
        guard rows.rowCount > 0 else { return nil }
        return try user(rows, row: 0, from: 0, appID: appID)
    }

    /// The user that an identity belongs to.
    public static func user(
        appID: String,
        kind: ProviderConfiguration.Kind,
        identityID: String
    ) -> SQLFragment {
        """
        SELECT \(userColumns) FROM tidegate.identities x JOIN tidegate.users u ON u.id = x.user_id \
        WHERE x.app = \(bind: .text(appID)) AND x.provider_type = \(bind: .text(kind.rawValue)) \
        AND x.id = \(bind: .text(identityID))
        """
    }

    /// A new user with its first identity; no row is made when the identity exists.
    public static func createUser(
        appID: String,
        userID: String,
        kind: ProviderConfiguration.Kind,
        identityID: String,
        data: BSONDocument
    ) -> SQLFragment {
        """
        WITH identity AS (\
        INSERT INTO tidegate.identities (app, provider_type, id, provider_id, user_id, data) \
        VALUES (\(bind: .text(appID)), \(bind: .text(kind.rawValue)), \(bind: .text(identityID)), \
        \(providerID(appID: appID, kind: kind)), \(bind: .text(userID)), \(json(data))) \
        ON CONFLICT DO NOTHING RETURNING user_id) \
        INSERT INTO tidegate.users (id, app, data, last_login_at) \
        SELECT user_id, \(bind: .text(appID)), \(json(data)), now() FROM identity
        """
    }

    /// What a provider said anew of an identity, and with it the user's data.
    public static func updateData(
        appID: String,
        userID: String,
        kind: ProviderConfiguration.Kind,
        identityID: String,
        identityData: BSONDocument,
        userData: BSONDocument
    ) -> SQLFragment {
        """
        WITH identity AS (\
        UPDATE tidegate.identities SET data = \(json(identityData)) WHERE app = \(bind: .text(appID)) \
        AND provider_type = \(bind: .text(kind.rawValue)) AND id = \(bind: .text(identityID))) \
        UPDATE tidegate.users SET data = \(json(userData)) \
        WHERE id = \(bind: .text(userID)) AND app = \(bind: .text(appID))
        """
    }

    /// Notes that a user logged in, without a session.
    public static func noteLogin(appID: String, userID: String) -> SQLFragment {
        """
        UPDATE tidegate.users SET last_login_at = now() \
        WHERE id = \(bind: .text(userID)) AND app = \(bind: .text(appID))
        """
    }

    /// Removes a user; identities, credentials, keys and sessions go with it.
    public static func deleteUser(appID: String, userID: String) -> SQLFragment {
        "DELETE FROM tidegate.users WHERE id = \(bind: .text(userID)) AND app = \(bind: .text(appID))"
    }

    /// Removes at most 500 anonymous users of the age at which they end.
    public static let expireAnonymousUsers: SQLFragment = """
        DELETE FROM tidegate.users WHERE id IN (\
        SELECT i.user_id FROM tidegate.identities i \
        WHERE i.provider_type = 'anon-user' \
        AND i.created_at < now() - make_interval(days => \(bind: .int4(Int32(AnonymousProvider.lifetimeDays)))) \
        AND NOT EXISTS (SELECT FROM tidegate.identities o \
        WHERE o.user_id = i.user_id AND o.provider_type <> 'anon-user') LIMIT 500)
        """

    /// One more identity of a user, unless it is there.
    public static func addIdentity(
        appID: String,
        userID: String,
        kind: ProviderConfiguration.Kind,
        identityID: String
    ) -> SQLFragment {
        """
        INSERT INTO tidegate.identities (app, provider_type, id, provider_id, user_id, data) \
        VALUES (\(bind: .text(appID)), \(bind: .text(kind.rawValue)), \(bind: .text(identityID)), \
        \(providerID(appID: appID, kind: kind)), \(bind: .text(userID)), '{}') ON CONFLICT DO NOTHING
        """
    }

    /// Gives a user one more way to log in: one text.
    public static func link(
        appID: String,
        userID: String,
        kind: ProviderConfiguration.Kind,
        identityID: String,
        data: BSONDocument
    ) -> SQLFragment {
        """
        SELECT tidegate.link_identity(\(bind: .text(appID)), \(bind: .text(userID)), \(bind: .text(kind.rawValue)), \
        \(bind: .text(identityID)), \(json(data)))
        """
    }

    static func json(_ document: BSONDocument) -> SQLFragment {
        "\(bind: .text(ExtendedJSON.canonical(.document(document))))::json"
    }

    private static func providerID(appID: String, kind: ProviderConfiguration.Kind) -> SQLFragment {
        """
        coalesce((SELECT p.id FROM tidegate.providers p \
        WHERE p.app = \(bind: .text(appID)) AND p.name = \(bind: .text(kind.rawValue))), \
        \(bind: .text(DeviceInformation.noDeviceID)))
        """
    }
}

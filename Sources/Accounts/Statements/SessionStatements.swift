public import Errors
public import SQL

/// All SQL about sessions and signing keys, and the reading of its rows.
public enum SessionStatements {
    /// What a login leaves behind.
    public struct NewSession: Sendable {
        /// 24 hexadecimal digits.
        public let id: String
        /// 24 hexadecimal digits of the app.
        public let appID: String
        /// 24 hexadecimal digits.
        public let userID: String
        /// Which provider it is.
        public let kind: ProviderConfiguration.Kind
        /// The id of the identity.
        public let identityID: String
        /// What the request says of its device; nil for no device.
        public let device: DeviceInformation?
        /// The id for a device that is not known.
        public let newDeviceID: String
        /// Milliseconds since 1970.
        public let expiresAt: Int64

        /// Made of its parts.
        public init(
            id: String,
            appID: String,
            userID: String,
            kind: ProviderConfiguration.Kind,
            identityID: String,
            device: DeviceInformation?,
            newDeviceID: String,
            expiresAt: Int64
        ) {
            self.id = id
            self.appID = appID
            self.userID = userID
            self.kind = kind
            self.identityID = identityID
            self.device = device
            self.newDeviceID = newDeviceID
            self.expiresAt = expiresAt
        }
    }

    /// Makes a session and notes the login; no row when the user is gone or disabled by now.
    ///
    /// A device id that the app has seen is kept; any other is answered with a new one, so that nobody
    /// can choose it.
    public static func create(_ session: NewSession) -> SQLFragment {
        let deviceID: SQLFragment
        let facts: SQLFragment
        if let device = session.device {
            let known = device.deviceID ?? DeviceInformation.noDeviceID
            deviceID = """
                CASE WHEN \(bind: .text(known)) <> \(bind: .text(DeviceInformation.noDeviceID)) \
                AND EXISTS (SELECT FROM tidegate.sessions d WHERE d.app = \(bind: .text(session.appID)) \
                AND d.device_id = \(bind: .text(known))) \
                THEN \(bind: .text(known)) ELSE \(bind: .text(session.newDeviceID)) END
                """
            facts = AccountStatements.json(device.facts)
        } else {
            deviceID = .bind(.text(DeviceInformation.noDeviceID))
            facts = "NULL::json"
        }
        return """
            WITH welcome AS (\
            UPDATE tidegate.users SET last_login_at = now() WHERE id = \(bind: .text(session.userID)) \
            AND app = \(bind: .text(session.appID)) AND NOT disabled RETURNING id) \
            INSERT INTO tidegate.sessions \
            (id, app, user_id, provider_type, identity_id, device_id, device, expires_at) \
            SELECT \(bind: .text(session.id)), \(bind: .text(session.appID)), welcome.id, \
            \(bind: .text(session.kind.rawValue)), \(bind: .text(session.identityID)), \(deviceID), \(facts), \
            \(bind: .timestamp(milliseconds: session.expiresAt)) FROM welcome \
            RETURNING device_id, (SELECT i.provider_id FROM tidegate.identities i \
            WHERE i.app = \(bind: .text(session.appID)) AND i.provider_type = \(bind: .text(session.kind.rawValue)) \
            AND i.id = \(bind: .text(session.identityID)))
            """
    }

    /// The device and provider of ``create(_:)``; nil when no session was made.
    public static func readCreated(_ rows: ResultSet) -> (deviceID: String, providerID: String)? {
        guard rows.rowCount > 0, let deviceID = rows.text(0, 0) else { return nil }
        return (deviceID, rows.text(0, 1) ?? DeviceInformation.noDeviceID)
    }

    /// Notes a refresh; no row when the session has ended or its user may not.
    public static func refresh(appID: String, sessionID: String, userID: String) -> SQLFragment {
        """
        UPDATE tidegate.sessions s SET refreshed_at = now() FROM tidegate.users u \
        WHERE s.id = \(bind: .text(sessionID)) AND s.app = \(bind: .text(appID)) \
        AND s.user_id = \(bind: .text(userID)) AND u.id = s.user_id AND NOT u.disabled \
        AND s.revoked_at IS NULL AND s.expires_at > now()
        """
    }

    /// Whether a session stands: one row, or none.
    public static func find(appID: String, sessionID: String, userID: String) -> SQLFragment {
        """
        SELECT 1 FROM tidegate.sessions s JOIN tidegate.users u ON u.id = s.user_id \
        WHERE s.id = \(bind: .text(sessionID)) AND s.app = \(bind: .text(appID)) \
        AND s.user_id = \(bind: .text(userID)) AND NOT u.disabled \
        AND s.revoked_at IS NULL AND s.expires_at > now()
        """
    }

    /// Ends one session; no row when it had ended.
    public static func revoke(appID: String, sessionID: String, userID: String) -> SQLFragment {
        """
        UPDATE tidegate.sessions SET revoked_at = now() \
        WHERE id = \(bind: .text(sessionID)) AND app = \(bind: .text(appID)) \
        AND user_id = \(bind: .text(userID)) AND revoked_at IS NULL AND expires_at > now()
        """
    }

    /// Removes at most 1,000 sessions that ended by themselves.
    public static let removeExpired: SQLFragment = """
        DELETE FROM tidegate.sessions WHERE id IN (SELECT id FROM tidegate.sessions \
        WHERE expires_at < now() - interval '1 day' LIMIT 1000 FOR UPDATE SKIP LOCKED)
        """

    /// An app's signing keys that are not retired, in the order in which they were made.
    public static func signingKeys(appID: String) -> SQLFragment {
        """
        SELECT id, encode(secret, 'hex'), floor(extract(epoch FROM valid_from))::bigint, \
        floor(extract(epoch FROM retired_at))::bigint \
        FROM tidegate.read_signing_keys(\(bind: .text(appID))) ORDER BY valid_from, id
        """
    }

    /// The keys of ``signingKeys(appID:)``.
    public static func readSigningKeys(
        _ rows: ResultSet,
        appID: String
    ) throws(ServiceError) -> SigningKeySet {
        var keys: [SigningKey] = []
        for row in 0..<rows.rowCount {
            guard let id = rows.text(row, 0), let secret = rows.slice(row, 1).flatMap(bytes(hex:)),
                let validFrom = rows.int(row, 2)
            else { throw ServiceError(.internalServerError, "a signing key cannot be read") }
            keys.append(
                SigningKey(
                    id: id,
                    secret: secret,
                    validFrom: Int64(validFrom),
                    retiredAt: rows.int(row, 3).map(Int64.init)
                )
            )
        }
        return SigningKeySet(appID: appID, keys: keys)
    }

    private static func bytes(hex: ArraySlice<UInt8>) -> [UInt8]? {
        guard hex.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(hex.count / 2)
        var high: UInt8?
        for character in hex {
            let digit: UInt8
            switch character {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = character - UInt8(ascii: "a") + 10
            default: return nil
            }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return bytes
    }
}

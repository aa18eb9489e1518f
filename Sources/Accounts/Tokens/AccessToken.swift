public import BSON

/// The claims of the short-lived token.
///
/// Source: `reference/client-api.md` §4.
public struct AccessToken: Sendable, Hashable {
    /// 30 minutes; not configurable.
    public static let lifetimeSeconds: Int64 = 1800

    /// `sub`: 24 hexadecimal digits.
    public let userID: String
    /// `iss`: the session, which is the refresh token's `baas_id`.
    public let sessionID: String
    /// 24 hexadecimal digits, all zero for no device.
    public let deviceID: String
    /// `baas_domain_id`.
    public let appID: String
    /// `user_data`: left out when there is none, since a null breaks `realm-core`.
    public let userData: BSONDocument?
    /// `iat`, seconds since 1970.
    public let issuedAt: Int64
    /// `exp`, seconds since 1970.
    public let expiresAt: Int64

    /// Made of its parts.
    public init(
        userID: String,
        sessionID: String,
        deviceID: String,
        appID: String,
        userData: BSONDocument?,
        issuedAt: Int64,
        expiresAt: Int64
    ) {
        self.userID = userID
        self.sessionID = sessionID
        self.deviceID = deviceID
        self.appID = appID
        self.userData = userData
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
    }

    /// A token that is issued now and lives ``lifetimeSeconds``.
    public init(
        userID: String,
        sessionID: String,
        deviceID: String,
        appID: String,
        userData: BSONDocument?,
        now: Int64
    ) {
        self.init(
            userID: userID,
            sessionID: sessionID,
            deviceID: deviceID,
            appID: appID,
            userData: userData,
            issuedAt: now,
            expiresAt: now &+ Self.lifetimeSeconds
        )
    }

    static let type = "access"

    /// The claims as JSON, with whole numbers plain and the user's data in canonical Extended JSON.
    var claims: [UInt8] {
        var writer = ClaimsWriter()
        writer.member("typ", Self.type)
        writer.member("sub", userID)
        writer.member("iss", sessionID)
        writer.member("baas_device_id", deviceID)
        writer.member("baas_domain_id", appID)
        writer.member("stitch_devId", deviceID)
        writer.member("stitch_domainId", appID)
        if let userData { writer.member("user_data", .document(userData)) }
        writer.member("iat", issuedAt)
        writer.member("exp", expiresAt)
        return writer.finish()
    }

    init?(_ token: JSONWebToken) {
        guard let userID = token.objectID("sub"), let sessionID = token.objectID("iss"),
            let deviceID = token.objectID("baas_device_id"), let appID = token.objectID("baas_domain_id"),
            let issuedAt = token.seconds("iat"), let expiresAt = token.seconds("exp")
        else { return nil }
        self.init(
            userID: userID,
            sessionID: sessionID,
            deviceID: deviceID,
            appID: appID,
            userData: token.claims["user_data"]?.document,
            issuedAt: issuedAt,
            expiresAt: expiresAt
        )
    }
}

extension JSONWebToken {
    /// A claim of 24 hexadecimal digits.
    func objectID(_ claim: String) -> String? {
        guard let text = claims[claim]?.string, ObjectID(hex: text) != nil else { return nil }
        return text
    }
}

/// Writes a token's claims as one JSON object.
struct ClaimsWriter {
    private var bytes: [UInt8] = [UInt8(ascii: "{")]

    mutating func member(_ name: String, _ text: String) {
        member(name, .string(text))
    }

    /// A plain integer: clients read `exp` and `iat` as numbers, not as wrapped ones.
    mutating func member(_ name: String, _ number: Int64) {
        key(name)
        bytes += Array(String(number).utf8)
    }

    mutating func member(_ name: String, _ value: BSONValue) {
        key(name)
        ExtendedJSON.writeCanonical(value, to: &bytes)
    }

    private mutating func key(_ name: String) {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        ExtendedJSON.writeCanonical(.string(name), to: &bytes)
        bytes.append(UInt8(ascii: ":"))
    }

    mutating func finish() -> [UInt8] {
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }
}

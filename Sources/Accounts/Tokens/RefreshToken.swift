import BSON

/// The claims of the long-lived token, which stands for a session.
///
/// Source: `reference/client-api.md` §4.
public struct RefreshToken: Sendable, Hashable {
    /// 60 days.
    public static let standardLifetimeSeconds: Int64 = 60 * 86400
    /// 30 minutes.
    public static let shortestLifetimeSeconds: Int64 = 1800
    /// 5 years.
    public static let longestLifetimeSeconds: Int64 = 5 * 366 * 86400
    /// About 50 years: an anonymous user can never log in again, so the token must not run out.
    public static let anonymousLifetimeSeconds: Int64 = 50 * 365 * 86400

    /// `sub`: 24 hexadecimal digits.
    public let userID: String
    /// `baas_id`.
    public let sessionID: String
    /// 24 hexadecimal digits, all zero for no device.
    public let deviceID: String
    /// `baas_domain_id`.
    public let appID: String
    /// `baas_identity`: the identity that logged in.
    public let identityID: String
    /// `provider_type` of the identity.
    public let providerType: String
    /// `provider_id` of the identity: 24 hexadecimal digits.
    public let providerID: String
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
        identityID: String,
        providerType: String,
        providerID: String,
        issuedAt: Int64,
        expiresAt: Int64
    ) {
        self.userID = userID
        self.sessionID = sessionID
        self.deviceID = deviceID
        self.appID = appID
        self.identityID = identityID
        self.providerType = providerType
        self.providerID = providerID
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
    }

    static let type = "refresh"

    var claims: [UInt8] {
        let identity: BSONValue = [
            "id": .string(identityID), "provider_type": .string(providerType),
            "provider_id": .string(providerID),
        ]
        var writer = ClaimsWriter()
        writer.member("typ", Self.type)
        writer.member("sub", userID)
        writer.member("baas_data", .null)
        writer.member("baas_device_id", deviceID)
        writer.member("baas_domain_id", appID)
        writer.member("baas_id", sessionID)
        writer.member("baas_identity", identity)
        writer.member("stitch_data", .null)
        writer.member("stitch_devId", deviceID)
        writer.member("stitch_domainId", appID)
        writer.member("stitch_id", sessionID)
        writer.member("stitch_ident", identity)
        writer.member("iat", issuedAt)
        writer.member("exp", expiresAt)
        return writer.finish()
    }

    init?(_ token: JSONWebToken) {
        guard let userID = token.objectID("sub"), let sessionID = token.objectID("baas_id"),
            let deviceID = token.objectID("baas_device_id"), let appID = token.objectID("baas_domain_id"),
            let identity = token.claims["baas_identity"]?.document,
            let identityID = identity["id"]?.string,
            let providerType = identity["provider_type"]?.string,
            let providerID = identity["provider_id"]?.string,
            let issuedAt = token.seconds("iat"), let expiresAt = token.seconds("exp")
        else { return nil }
        self.init(
            userID: userID,
            sessionID: sessionID,
            deviceID: deviceID,
            appID: appID,
            identityID: identityID,
            providerType: providerType,
            providerID: providerID,
            issuedAt: issuedAt,
            expiresAt: expiresAt
        )
    }
}

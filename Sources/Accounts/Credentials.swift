public import BSON
public import Errors

/// What a caller presents in order to log in: one case per provider that is served.
public enum Credentials: Sendable {
    case anonymous
    case emailPassword(username: String, password: String)
    case apiKey(String)
    /// A JWT signed by somebody the app believes.
    case customToken(String)
    /// A JWT of Google, Facebook or Apple that says who logged in there.
    case idToken(ProviderConfiguration.Kind, String)
    /// Whatever the app's own function wants to see.
    case customFunction(BSONDocument)

    /// The provider that decides about these.
    public var kind: ProviderConfiguration.Kind {
        switch self {
        case .anonymous: .anonymous
        case .emailPassword: .emailPassword
        case .apiKey: .apiKey
        case .customToken: .customToken
        case .idToken(let kind, _): kind
        case .customFunction: .customFunction
        }
    }

    /// Reads the body of a login request.
    ///
    /// - Parameters:
    ///   - provider: The name in the path.
    ///   - body: The whole object, `options` and `provider` included; both are passed over, and no function sees them.
    /// - Returns: What the provider is to check.
    /// - Throws: ``ServiceError`` `authProviderNotFound` for an unknown or unserved provider;
    ///   `invalidParameter` naming the member that is missing or no string.
    ///
    /// Source: `reference/client-api.md` §3.
    public static func parse(provider: String, _ body: BSONDocument) throws(ServiceError) -> Credentials {
        guard let kind = ProviderConfiguration.Kind(rawValue: provider) else {
            throw AccountFailure.providerNotFound(provider)
        }
        switch kind {
        case .anonymous: return .anonymous
        case .emailPassword:
            return .emailPassword(
                username: try text(body, "username"),
                password: try text(body, "password")
            )
        case .apiKey: return .apiKey(try text(body, "key"))
        case .customToken:
            // A published helper script of the vendor sends the token as `key`.
            if body["token"] == nil, case .string(let key)? = body["key"], !key.isEmpty {
                return .customToken(key)
            }
            return .customToken(try text(body, "token"))
        case .google, .facebook, .apple: return .idToken(kind, try idToken(kind, body))
        case .customFunction:
            var payload = body
            payload["options"] = nil
            if payload["provider"] == .string(provider) { payload["provider"] = nil }
            return .customFunction(payload)
        }
    }

    /// The one form of what such providers hand out that can be checked without asking them.
    private static func idToken(
        _ kind: ProviderConfiguration.Kind,
        _ body: BSONDocument
    ) throws(ServiceError) -> String {
        if body["id_token"] == nil {
            for member in ["authCode", "accessToken"] where body[member] != nil {
                throw ServiceError(
                    .invalidParameter,
                    "'\(known: member)' is not served: log in with 'id_token'",
                    details: [member: "is not served"]
                )
            }
        }
        return try text(body, "id_token")
    }

    /// A required member: a string, not empty.
    static func text(_ body: BSONDocument, _ member: String) throws(ServiceError) -> String {
        guard case .string(let text)? = body[member], !text.isEmpty else {
            throw ServiceError(
                .invalidParameter,
                "'\(member)' is a required string",
                details: [member: "is a required string"]
            )
        }
        return text
    }
}

/// What a login says of the device it comes from.
public struct DeviceInformation: Sendable, Hashable {
    /// The id that this device was given before.
    public let deviceID: String?
    /// Platform and versions, as they came.
    public let facts: BSONDocument

    /// Made of its parts.
    public init(deviceID: String?, facts: BSONDocument) {
        self.deviceID = deviceID
        self.facts = facts
    }

    /// Reads `options.device` of a login body; nil when it is not there.
    public init?(loginBody body: BSONDocument) {
        guard let device = body["options"]?.document?["device"]?.document else { return nil }
        switch device["deviceId"] {
        case .objectID(let id)?: deviceID = id.hex
        case .string(let text)?: deviceID = ObjectID(hex: text)?.hex
        default: deviceID = nil
        }
        var facts = BSONDocument()
        for field in device where field.key != "deviceId" && facts.count < 20 {
            guard case .string(let text) = field.value, text.utf8.count <= 200 else { continue }
            facts.append(field.key, .string(text))
        }
        self.facts = facts
    }

    /// What `device_id` says when there is no device.
    public static let noDeviceID = "000000000000000000000000"
}

/// What a successful login hands out.
public struct LoginResult: Sendable, Hashable {
    /// A JWT for half an hour.
    public let accessToken: String
    /// A JWT that stands for the session.
    public let refreshToken: String
    /// 24 hexadecimal digits.
    public let userID: String
    /// 24 hexadecimal digits, all zero for no device.
    public let deviceID: String

    /// Made of its parts.
    public init(accessToken: String, refreshToken: String, userID: String, deviceID: String) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.userID = userID
        self.deviceID = deviceID
    }

    /// The body of the answer: four strings.
    ///
    /// Source: `reference/client-api.md` §3.
    public var document: BSONDocument {
        [
            "access_token": .string(accessToken), "refresh_token": .string(refreshToken),
            "user_id": .string(userID), "device_id": .string(deviceID),
        ]
    }
}

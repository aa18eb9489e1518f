/// What a user logs in with.
public enum Credentials: Sendable {
    /// Nobody in particular: a new user each time.
    case anonymous
    case emailPassword(email: String, password: String)
    /// A key that a user made.
    case userAPIKey(String)
    /// A key that an administrator made.
    case serverAPIKey(String)
    /// A token of your own issuer.
    case jwt(token: String)
    /// What the app's authentication function takes.
    case function(payload: Document)
    case apple(idToken: String)
    case googleId(token: String)

    var provider: String {
        switch self {
        case .anonymous: "anon-user"
        case .emailPassword: "local-userpass"
        case .userAPIKey, .serverAPIKey: "api-key"
        case .jwt: "custom-token"
        case .function: "custom-function"
        case .apple: "oauth2-apple"
        case .googleId: "oauth2-google"
        }
    }

    var payload: Document {
        switch self {
        case .anonymous: [:]
        case .emailPassword(let email, let password):
            ["username": .string(email), "password": .string(password)]
        case .userAPIKey(let key), .serverAPIKey(let key): ["key": .string(key)]
        case .jwt(let token): ["token": .string(token)]
        case .function(let payload): payload
        case .apple(let token), .googleId(let token): ["id_token": .string(token)]
        }
    }
}

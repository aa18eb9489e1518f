public import Errors

/// The credentials in one Data API request's headers, as they came; empty values count as absent.
public struct RequestCredentials: Sendable {
    /// The token of an `Authorization` header with the scheme `Bearer`; nil without such a header.
    public var bearer: String?
    /// From `apiKey` or `api-key`.
    public var apiKey: String?
    /// The user name of an email/password user; its form is not checked.
    public var email: String?
    /// The other half of the pair.
    public var password: String?
    /// From `jwtTokenString`.
    public var jwt: String?

    /// Made of its parts.
    public init(
        bearer: String? = nil,
        apiKey: String? = nil,
        email: String? = nil,
        password: String? = nil,
        jwt: String? = nil
    ) {
        self.bearer = bearer
        self.apiKey = apiKey
        self.email = email
        self.password = password
        self.jwt = jwt
    }

    /// What is to be checked: a token of ours, or a login.
    public enum Choice: Sendable {
        case bearer(String)
        case login(Credentials)
    }

    /// Picks one: the bearer token before all, then API key, email with password, foreign token.
    ///
    /// - Throws: ``ServiceError`` `missingParameter` for half of a pair, `invalidParameter` for none.
    ///
    /// Source: `reference/data-api.md` §5 (order), §7 (texts).
    public func choice() throws(ServiceError) -> Choice {
        if let bearer { return .bearer(bearer) }
        if let apiKey, !apiKey.isEmpty { return .login(.apiKey(apiKey)) }
        let email = email.flatMap { $0.isEmpty ? nil : $0 }
        let password = password.flatMap { $0.isEmpty ? nil : $0 }
        if let email, let password {
            return .login(.emailPassword(username: email, password: password))
        }
        if let jwt, !jwt.isEmpty { return .login(.customToken(jwt)) }
        guard email == nil, password == nil else { throw AccountFailure.incompleteCredentials }
        throw AccountFailure.noCredentials
    }
}

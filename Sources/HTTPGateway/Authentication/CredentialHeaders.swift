import Accounts
import HTTPTypes

extension RequestCredentials {
    /// The credentials of a Data API request's headers (data-api.md §5).
    init(_ headers: HTTPFields) {
        self.init(
            bearer: headers.bearerToken,
            apiKey: headers[.apiKey] ?? headers[.apiKeyDashed],
            email: headers[.email],
            password: headers[.password],
            jwt: headers[.jwtTokenString]
        )
    }
}

extension HTTPFields {
    /// The token of an `Authorization` header with the scheme `Bearer`.
    var bearerToken: String? {
        guard let value = self[.authorization] else { return nil }
        let scheme = "bearer "
        guard value.count >= scheme.count, value.prefix(scheme.count).lowercased() == scheme else {
            return nil
        }
        return String(value.dropFirst(scheme.count).drop { $0 == " " })
    }
}

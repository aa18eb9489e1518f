import Accounts
import HTTPTypes

extension RequestCredentials {
    /// The credentials of a Data API request's headers (data-api.md §5).
    init(_ headers: HTTPFields) {
        // A bearer token comes before all others, so that these are not looked for.
        if let token = headers.bearerToken {
            self.init(bearer: token)
            return
        }
        self.init(
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
        let bytes = value.utf8
        let scheme = "bearer ".utf8
        guard bytes.count >= scheme.count, zip(bytes, scheme).allSatisfy({ $0 | 0x20 == $1 }) else {
            return nil
        }
        return String(Substring(bytes.dropFirst(scheme.count).drop { $0 == UInt8(ascii: " ") }))
    }
}

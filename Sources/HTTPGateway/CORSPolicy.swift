import HTTPTypes

/// Cross-origin headers, by the app's allowed origins (data-api.md §8).
struct CORSPolicy {
    /// Empty means any.
    let allowedOrigins: [String]

    /// Whether a request from this origin may go on; one without `Origin` (curl) always may.
    func admits(_ origin: String?) -> Bool {
        guard let origin, !allowedOrigins.isEmpty else { return true }
        return allowedOrigins.contains(origin)
    }

    /// Adds the answer's headers.
    ///
    /// The origin is echoed rather than `*`, since credentials are allowed.
    func apply(to headers: inout HTTPFields, origin: String?) {
        guard let origin, admits(origin) else { return }
        headers[.accessControlAllowOrigin] = origin
        headers[.accessControlAllowCredentials] = "true"
        headers[.accessControlExposeHeaders] =
            "X-Appservices-Request-Id, X-Baas-Location, X-Stitch-Location, Location, Server-Timing"
        headers.append(HTTPField(name: .vary, value: "Origin"))
    }

    /// The answer to a preflight.
    func preflightHeaders(requested: String?) -> HTTPFields {
        var headers = HTTPFields()
        headers[.accessControlAllowMethods] = "GET, POST, PUT, PATCH, DELETE, OPTIONS"
        if let requested { headers[.accessControlAllowHeaders] = requested }
        headers[.accessControlMaxAge] = "600"
        return headers
    }
}

extension HTTPField.Name {
    static let requestID = staticName("X-Appservices-Request-Id")
    static let forwardedFor = staticName("X-Forwarded-For")
    static let forwardedProto = staticName("X-Forwarded-Proto")
    static let forwardedHost = staticName("X-Forwarded-Host")
    static let apiKey = staticName("apikey")
    static let apiKeyDashed = staticName("api-key")
    static let email = staticName("email")
    static let password = staticName("password")
    static let jwtTokenString = staticName("jwttokenstring")
    static let endpointSignature = staticName("Endpoint-Signature")
    static let hookSignature = staticName("X-Hook-Signature")
    static let idempotencyKey = staticName("Idempotency-Key")
    static let serverTiming = staticName("Server-Timing")

    /// A name that is a valid token by construction.
    static func staticName(_ text: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(text) else { preconditionFailure("not a header name: \(text)") }
        return name
    }
}

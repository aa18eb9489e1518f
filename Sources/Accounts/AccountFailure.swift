public import Errors

/// Every refusal about accounts, with the text and code that clients know.
///
/// A 401 stands here only for credentials and tokens; a permission is never refused with one, since
/// `realm-web` would refresh and repeat without end (`reference/client-api.md` §6.4).
public enum AccountFailure {
    // The Data API (data-api.md §7)

    /// No credential header and no bearer token.
    public static let noCredentials = ServiceError(
        .invalidParameter,
        "no authentication methods were specified"
    )
    /// Half of a pair, such as an email without its password.
    public static let incompleteCredentials = ServiceError(
        .missingParameter,
        "must specify some form of authentication (either email+password, api-key, or jwt) in the request header or body"
    )
    /// A bearer token that is not good; why is for the log alone.
    public static func badBearer(_ cause: (any Error)?) -> ServiceError {
        ServiceError(.invalidSession, "invalid session", cause: cause)
    }
    /// Any credential header that was not accepted, whatever the reason.
    public static func userNotFoundForEndpoint(_ cause: (any Error)?) -> ServiceError {
        ServiceError(.invalidSession, "invalid session: error finding user for endpoint", cause: cause)
    }
    /// A function would have to say as whom the request runs, and nobody asked it.
    public static let scriptNotAsked = ServiceError(
        .functionExecutionError,
        "run_as_user_id_script_source was not run"
    )

    // Log in (client-api.md §3.1)

    /// Unknown email or wrong password: the two are not told apart.
    public static func invalidPassword(because reason: ErrorMessage) -> ServiceError {
        ServiceError(.invalidPassword, "unauthorized", cause: Reason(reason))
    }
    /// A key or token that the provider does not accept.
    public static func notAccepted(_ reason: ErrorMessage) -> ServiceError {
        ServiceError(.authError, "unauthorized", cause: Reason(reason))
    }
    /// Good credentials of a disabled user.
    public static let userDisabled = ServiceError(.userDisabled, "user disabled")
    /// A provider that is unknown or not enabled.
    public static func providerNotFound(_ name: String) -> ServiceError {
        ServiceError(.authProviderNotFound, "authentication provider not found: '\(name)'")
    }
    /// The function that decides about logins threw, or named nobody; a message is the function's own.
    public static func functionRefused(_ message: ErrorMessage?, _ cause: (any Error)?) -> ServiceError {
        ServiceError(.authError, message ?? "unauthorized", cause: cause)
    }

    // Tokens (client-api.md §6.2)

    /// No token where one is needed.
    public static let mustAuthenticate = ServiceError(.missingAuthReq, "must authenticate first")
    /// An access token past its end.
    public static let accessTokenExpired = ServiceError(
        .invalidSession,
        "invalid session: access token expired"
    )
    /// A refresh token past its end.
    public static let refreshTokenExpired = ServiceError(
        .invalidSession,
        "invalid session: refresh token expired"
    )
    /// A good refresh token whose session has ended.
    public static let refreshTokenNotFound = ServiceError(
        .invalidSession,
        "invalid session: failed to find refresh token"
    )
    /// A good access token of a user who is gone or disabled.
    public static let userNotFound = ServiceError(.invalidSession, "invalid session: user not found")
    /// An access token for a refresh token, or the reverse.
    public static let tokenTypeMismatch = ServiceError(
        .invalidSession,
        "invalid session: token type mismatch"
    )
    /// A refresh token that we did not sign.
    public static let signatureInvalid = ServiceError(.invalidSession, "signature is invalid")
    /// A token of another app than the one in the path.
    public static let domainMismatch = ServiceError(.userAppDomainMismatch, "user app domain mismatch")
    /// Garbage, or a signature that is not ours, where an access token should be.
    public static func malformedToken(_ reason: ErrorMessage) -> ServiceError {
        ServiceError(.invalidSession, "\(known: malformedTokenText)", cause: Reason(reason))
    }

    private static let malformedTokenText = "unauthorized"

    /// Whether the client API leaves `error_code` out for an error.
    ///
    /// SDK tests compare with a body that has none. Source: `reference/client-api.md` §6.2, second row; §§7, 11.
    public static func omitsCode(_ error: ServiceError) -> Bool {
        error.code == .invalidSession && error.message == malformedTokenText
            || (error.cause as? Reason)?.omitsCode == true
    }

    // Registration (client-api.md §11)

    /// A name or identity that exists.
    public static let nameInUse = ServiceError(.accountNameInUse, "name already in use")
    /// A password that is too short or too long.
    public static let passwordLength = ServiceError(
        .badRequest,
        "password must be between 6 and 128 characters",
        details: ["password": "length"]
    )
    /// An email that no mail could reach.
    public static let emailInvalid = ServiceError(
        .badRequest,
        "email invalid",
        details: ["email": "invalid"]
    )
    /// Too many passwords wait to be checked.
    public static let tooManyLogins = ServiceError(.tooManyRequests, "too many requests")

    /// Why, for the log.
    public struct Reason: LoggableCause, Sendable {
        /// Says nothing of what the caller sent.
        public let logText: String
        /// The answer has no `error_code`.
        let omitsCode: Bool

        /// Made of its parts.
        public init(_ reason: ErrorMessage, omitsCode: Bool = false) {
            logText = reason.logText
            self.omitsCode = omitsCode
        }
    }
}

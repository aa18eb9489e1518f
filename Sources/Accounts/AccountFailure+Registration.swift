public import Errors

/// Refusals of registration, confirmation and reset.
///
/// Source: `reference/client-api.md` §11.
extension AccountFailure {
    /// No account of that name; the hosted service tells, and SDKs expect it.
    public static let noSuchUser = ServiceError(.userNotFound, "user not found")
    /// A token that was never handed out, or belongs to something else.
    public static let tokenUnknown = ServiceError(.badRequest, "invalid token data")
    /// A token that was used, or is too old.
    public static let tokenSpent = ServiceError(
        .userpassTokenInvalid,
        "userpass token is expired or invalid"
    )
    /// There is nothing left to confirm.
    public static let alreadyConfirmed = ServiceError(.userAlreadyConfirmed, "already confirmed")
    /// A confirmation function is asked for where none is needed.
    public static func automaticConfirmation(of email: String) -> ServiceError {
        ServiceError(
            .badRequest,
            "cannot run confirmation for \(email): automatic confirmation is enabled",
            cause: Reason("automatic confirmation", omitsCode: true)
        )
    }
    /// A confirmation function is asked for where mails confirm.
    public static func noConfirmationFunction(for email: String) -> ServiceError {
        ServiceError(
            .badRequest,
            "cannot run confirmation for \(email): users confirm by mail",
            details: ["email": "is confirmed by mail"]
        )
    }
    /// A confirmation mail is asked for where a function confirms.
    public static let confirmsByFunction = ServiceError(.badRequest, "please use confirm via function")
    /// A reset mail is asked for where a function resets.
    public static let resetsByFunction = ServiceError(
        .badRequest,
        "please use reset password via function"
    )
    /// A reset function is asked for where mails reset.
    public static let noResetFunction = ServiceError(
        .badRequest,
        "no reset function is configured: please use the reset mail"
    )
    /// The function that confirms said no, or failed.
    public static func notConfirmed(_ email: String, _ cause: (any Error)?) -> ServiceError {
        ServiceError(.badRequest, "failed to confirm user \"\(email)\"", cause: cause)
    }
    /// The function that resets said no, or failed.
    public static func notReset(_ email: String, _ cause: ServiceError?) -> ServiceError {
        ServiceError(
            .badRequest,
            "failed to reset password for user \"\(email)\"",
            cause: Reason("\(known: cause?.logText ?? "the function said no")", omitsCode: true)
        )
    }
    /// A function is to confirm, and none is named.
    public static let confirmationFunctionMissing = ServiceError(
        .badRequest,
        "the local-userpass provider needs confirmationFunctionName for confirmation by a function"
    )
    /// Mails would have nowhere to lead to.
    public static let confirmationAddressMissing = ServiceError(
        .badRequest,
        "the local-userpass provider needs emailConfirmationUrl for confirmation by mail, or autoConfirm"
    )
    /// Mails would have nowhere to lead to.
    public static let resetAddressMissing = ServiceError(
        .badRequest,
        "the local-userpass provider needs resetPasswordUrl for resets by mail"
    )
}

/// Refusals of users' API keys and of linking.
///
/// Source: `reference/client-api.md` §§7, 8.
extension AccountFailure {
    /// A header without a token, as the hosted service answered it here.
    public static let noBearer = ServiceError(
        .missingAuthReq,
        "expected Authorization header with JWT (Bearer schema)",
        cause: Reason("no bearer token", omitsCode: true)
    )
    /// A key without a name.
    public static let keyNameMissing = ServiceError(
        .invalidParameter,
        "'name' is a required string",
        details: ["name": "is a required string"],
        cause: Reason("no name", omitsCode: true)
    )
    /// A name with other characters.
    public static let keyName = ServiceError(
        .invalidParameter,
        "'name' can only contain ASCII letters, numbers, underscores, and hyphens",
        details: ["name": "has other characters"]
    )
    /// A name that is too long.
    public static let keyNameLength = ServiceError(
        .invalidParameter,
        "'name' must not be longer than 64 characters",
        details: ["name": "is too long"]
    )
    /// The user has a key of that name.
    public static let keyNameInUse = ServiceError(
        .apiKeyAlreadyExists,
        "API key with name already exists"
    )
    /// No key of this user.
    public static func keyNotFound(_ id: String) -> ServiceError {
        ServiceError(.apiKeyNotFound, "API key not found: '\(id)' doesn't exist")
    }
    /// The key that the caller's own session was made with.
    public static let keyInUse = ServiceError(.apiKeyInUse, "cannot modify the API key in use")
    /// Anonymous users and server keys have no keys of their own.
    public static let keysNotForUser = ServiceError(
        .invalidParameter,
        "anonymous users and server API keys cannot have API keys"
    )
    /// The user has as many keys as there may be.
    public static let tooManyKeys = ServiceError(
        .invalidParameter,
        "a user can have at most \(known: APIKeyProvider.maximumUserKeys) API keys"
    )
    /// What cannot be linked at all.
    public static let invalidLink = ServiceError(.invalidParameter, "invalid user link request")
    /// The identity logs another user in.
    ///
    /// The word alone would have `realm-web` refresh and repeat without end.
    public static let identityTaken = ServiceError(
        .authError,
        "unauthorized: the identity belongs to another user"
    )
    /// Credentials that do not hold, in a link request.
    public static func linkNotAccepted(_ cause: ServiceError) -> ServiceError {
        ServiceError(.authError, "unauthorized: the credentials are not accepted", cause: cause)
    }
    /// The user has an identity of this provider.
    public static let secondIdentity = ServiceError(
        .invalidParameter,
        "unauthorized: the user has another identity of this provider"
    )
    /// The flow through a browser window.
    public static let redirectFlowNotServed = ServiceError(
        .authProviderNotFound,
        "the OAuth 2.0 redirect flow is not served: log in with an id_token"
    )
}

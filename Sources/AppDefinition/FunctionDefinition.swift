public import Rules

/// A function's settings and source.
///
/// Source: `reference/functions.md` §1; `reference/app-config.md` §6.
public struct FunctionDefinition: Sendable, Hashable {
    /// The name with slashes for folders: `endpoint/hello`.
    public let name: String
    /// Only other functions, triggers and endpoints may call it.
    public let isPrivate: Bool
    /// Rules do not apply to what it does.
    public let runsAsSystem: Bool
    /// Always this user; nil for the caller.
    public let runsAsUserID: String?
    /// The source of a function that says as whom it runs.
    public let runsAsUserScript: String?
    /// Must hold for whoever calls from outside; the constant true for no condition.
    public let canEvaluate: RuleExpression
    /// Arguments stay out of the log.
    public let hidesArguments: Bool
    /// JavaScript.
    public let source: String

    /// Whether it runs as whoever calls it.
    public var runsAsCaller: Bool { !runsAsSystem && runsAsUserID == nil && runsAsUserScript == nil }
}

/// A custom HTTPS endpoint.
///
/// Source: `reference/data-api.md` §9; `reference/app-config.md` §7.
public struct EndpointDefinition: Sendable, Hashable {
    /// Begins with a slash.
    public let route: String
    /// `GET POST PUT PATCH DELETE` or `*`.
    public let httpMethod: String
    /// The function that answers.
    public let functionName: String
    /// What a request must prove beside its credentials.
    public let validation: RequestValidation
    /// The function's result is the answer's body.
    public let respondsWithResult: Bool
    /// The form of an answer when the request asks for none.
    public let returnType: ReturnType
    /// The function sees the caller's custom data.
    public let fetchesCustomUserData: Bool
    /// A valid credential without a user makes one.
    public let createsUserOnAuth: Bool
    /// It does not answer.
    public let isDisabled: Bool
}

/// How a request proves that it may be made at all, beside the caller's own credentials.
public enum RequestValidation: Sendable, Hashable {
    case none
    /// `?secret=…` equals the secret of this name.
    case secretAsQueryParameter(secretName: String)
    /// `X-Hook-Signature` is an HMAC of the body under the secret of this name.
    case payloadSignature(secretName: String)
}

/// The form of an answer when the request asks for none.
public enum ReturnType: String, Sendable, Hashable {
    case json = "JSON"
    case extendedJSON = "EJSON"
}

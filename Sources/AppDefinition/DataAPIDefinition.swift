public import Rules

/// The settings of the Data API.
///
/// Source: `reference/data-api.md` §6.1; `reference/app-config.md` §7.
public struct DataAPIDefinition: Sendable, Hashable {
    /// As whom requests run.
    public enum Identity: Sendable, Hashable {
        /// As the caller says who it is.
        case caller
        case system
        case user(id: String)
        /// A function decides.
        case script(source: String)
    }

    /// No version answers.
    public let isDisabled: Bool
    /// `v1`, `beta`; ascending.
    public let versions: [String]
    /// The form of an answer when the request asks for none.
    public let returnType: ReturnType
    /// As whom requests run.
    public let identity: Identity
    /// Must hold for the caller and the request, else it is refused; the constant true for no condition.
    public let canEvaluate: RuleExpression
    /// What a request must prove beside its credentials.
    public let validation: RequestValidation
    /// A valid credential without a user makes one.
    public let createsUserOnAuth: Bool
    /// Rules see `%%user.custom_data`.
    public let fetchesCustomUserData: Bool
    /// Arguments may stand in the log.
    public let logsArguments: Bool

    /// What stands for an app that never configured its Data API: on, for callers who log in, under the rules
    /// that its clients have anyway.
    ///
    /// The hosted service had it off until somebody switched it on. Here it is the one door to the data for
    /// such an app, and its `data_api_config.json` can still close it.
    public static let standard = DataAPIDefinition(
        isDisabled: false,
        versions: ["v1"],
        returnType: .json,
        identity: .caller,
        canEvaluate: .constant(true),
        validation: .none,
        createsUserOnAuth: false,
        fetchesCustomUserData: false,
        logsArguments: false
    )

    /// Whether a version in the URL is served: `beta` is an older name of `v1`.
    public func serves(version: String) -> Bool {
        !isDisabled && (versions.isEmpty ? version == "v1" : versions.contains(version))
    }
}

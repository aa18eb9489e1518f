/// What of an app's definition decides who its callers are; made once per snapshot.
public struct AccountSettings: Sendable {
    /// As whom the Data API runs.
    public enum RunAs: Sendable, Hashable {
        /// As the caller says who it is: bearer token or credential headers.
        case caller
        case system
        /// Always this user, whatever the request carries.
        case user(id: String)
        /// A function decides, which accounts do not run: whoever does, asks nobody here.
        case script
    }

    /// The app's internal id, 24 hexadecimal digits; `baas_domain_id` in tokens.
    public let appID: String
    /// The id in URLs; the audience of foreign tokens that name no other.
    public let clientAppID: String
    /// Another number for each snapshot: credentials checked under an older one are not remembered.
    public let revision: Int64
    /// The ways to log in, by name.
    public let providers: [String: ProviderConfiguration]
    /// Secret values by name.
    public let secrets: [String: String]
    /// Lifetime of refresh tokens, in seconds: 30 minutes to 5 years.
    public let refreshTokenLifetimeSeconds: Int64
    /// Where the app keeps one document per user; nil when it does not.
    public let customUserData: CustomUserDataConfiguration?
    /// As whom Data API requests run.
    public let dataAPIRunAs: RunAs
    /// A valid credential without a user makes one.
    public let createUserOnAuth: Bool
    /// The Data API loads the custom user data document for rules.
    public let fetchCustomUserData: Bool

    /// Made of its parts.
    public init(
        appID: String,
        clientAppID: String,
        revision: Int64 = 0,
        providers: [String: ProviderConfiguration],
        secrets: [String: String] = [:],
        refreshTokenLifetimeSeconds: Int64 = RefreshToken.standardLifetimeSeconds,
        customUserData: CustomUserDataConfiguration? = nil,
        dataAPIRunAs: RunAs = .caller,
        createUserOnAuth: Bool = false,
        fetchCustomUserData: Bool = false
    ) {
        self.appID = appID
        self.clientAppID = clientAppID
        self.revision = revision
        self.providers = providers
        self.secrets = secrets
        self.refreshTokenLifetimeSeconds = min(
            max(refreshTokenLifetimeSeconds, RefreshToken.shortestLifetimeSeconds),
            RefreshToken.longestLifetimeSeconds
        )
        self.customUserData = customUserData
        self.dataAPIRunAs = dataAPIRunAs
        self.createUserOnAuth = createUserOnAuth
        self.fetchCustomUserData = fetchCustomUserData
    }

    /// The same app, for the credentials of a request to one of its endpoints.
    public func forEndpoint(createsUser: Bool, fetchesCustomUserData: Bool) -> AccountSettings {
        AccountSettings(
            appID: appID,
            clientAppID: clientAppID,
            revision: revision,
            providers: providers,
            secrets: secrets,
            refreshTokenLifetimeSeconds: refreshTokenLifetimeSeconds,
            customUserData: customUserData,
            dataAPIRunAs: .caller,
            createUserOnAuth: createsUser,
            fetchCustomUserData: fetchesCustomUserData
        )
    }

    /// Whether users who register are sent a mail.
    public var confirmsByMail: Bool {
        guard case .emailPassword(let rules)? = enabledProvider(.emailPassword)?.settings else {
            return false
        }
        return !rules.autoConfirm && !rules.runConfirmationFunction && rules.emailConfirmationURL != nil
    }

    /// The configuration of a provider that is there and not disabled.
    public func enabledProvider(_ kind: ProviderConfiguration.Kind) -> ProviderConfiguration? {
        guard let provider = providers[kind.rawValue], !provider.disabled else { return nil }
        return provider
    }
}

/// One way of logging in, as an app's definition allows it.
///
/// Source: `reference/app-config.md` §4.1; `reference/client-api.md` §3.2.
public struct ProviderConfiguration: Sendable, Hashable {
    /// The providers that an app can name.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case anonymous = "anon-user"
        case emailPassword = "local-userpass"
        case apiKey = "api-key"
        case customToken = "custom-token"
        case customFunction = "custom-function"
        case google = "oauth2-google"
        case facebook = "oauth2-facebook"
        case apple = "oauth2-apple"
    }

    /// What only one kind of provider is told.
    public enum Settings: Sendable, Hashable {
        case none
        case emailPassword(EmailPasswordSettings)
        case customToken(CustomTokenSettings)
        /// The function whose answer is the identity.
        case customFunction(name: String)
        case oauth(OAuthSettings)
    }

    /// Which provider it is.
    public let kind: Kind
    /// A disabled provider refuses every login, as an absent one does.
    public let disabled: Bool
    /// What only this kind of provider is told.
    public let settings: Settings
    /// What of a token becomes the user's data.
    public let metadataFields: [MetadataField]

    /// Made of its parts.
    public init(
        kind: Kind,
        disabled: Bool = false,
        settings: Settings = .none,
        metadataFields: [MetadataField] = []
    ) {
        self.kind = kind
        self.disabled = disabled
        self.settings = settings
        self.metadataFields = metadataFields
    }

    /// The name in URLs and in the map of providers, which is the type's.
    public var name: String { kind.rawValue }
}

/// How email/password users are confirmed and reset.
public struct EmailPasswordSettings: Sendable, Hashable {
    /// Users may log in as soon as they are registered.
    public var autoConfirm: Bool
    /// A function confirms users, not a mail.
    public var runConfirmationFunction: Bool
    /// The function that confirms users.
    public var confirmationFunctionName: String?
    /// Where confirmation mails lead.
    public var emailConfirmationURL: String?
    /// The subject of confirmation mails.
    public var confirmEmailSubject: String?
    /// A function resets passwords, not a mail.
    public var runResetFunction: Bool
    /// The function that resets passwords.
    public var resetFunctionName: String?
    /// Where reset mails lead.
    public var resetPasswordURL: String?
    /// The subject of reset mails.
    public var resetPasswordSubject: String?

    /// Made of its parts.
    public init(
        autoConfirm: Bool = false,
        runConfirmationFunction: Bool = false,
        confirmationFunctionName: String? = nil,
        emailConfirmationURL: String? = nil,
        confirmEmailSubject: String? = nil,
        runResetFunction: Bool = false,
        resetFunctionName: String? = nil,
        resetPasswordURL: String? = nil,
        resetPasswordSubject: String? = nil
    ) {
        self.autoConfirm = autoConfirm
        self.runConfirmationFunction = runConfirmationFunction
        self.confirmationFunctionName = confirmationFunctionName
        self.emailConfirmationURL = emailConfirmationURL
        self.confirmEmailSubject = confirmEmailSubject
        self.runResetFunction = runResetFunction
        self.resetFunctionName = resetFunctionName
        self.resetPasswordURL = resetPasswordURL
        self.resetPasswordSubject = resetPasswordSubject
    }
}

/// Which foreign tokens are believed.
public struct CustomTokenSettings: Sendable, Hashable {
    /// The algorithms that a foreign token may be signed with.
    public enum Algorithm: String, Sendable, Hashable, CaseIterable {
        case hs256 = "HS256"
        case rs256 = "RS256"
    }

    /// Where the keys come from.
    public enum Keys: Sendable, Hashable {
        /// Names of secrets; at most three.
        case secrets([String])
        /// The address of a JWK set, fetched and kept.
        case jwkURI(String)
    }

    /// The only algorithm that is accepted.
    public let algorithm: Algorithm
    /// Where the keys are found.
    public let keys: Keys
    /// Accepted audiences; empty means the client app id alone.
    public let audience: [String]
    /// One of ``audience`` is enough; otherwise the token must name all.
    public let requireAnyAudience: Bool

    /// Made of its parts.
    public init(algorithm: Algorithm, keys: Keys, audience: [String] = [], requireAnyAudience: Bool = false) {
        self.algorithm = algorithm
        self.keys = keys
        self.audience = audience
        self.requireAnyAudience = requireAnyAudience
    }
}

/// What an OAuth provider is told.
public struct OAuthSettings: Sendable, Hashable {
    /// The app's id at the provider.
    public let clientID: String?
    /// The name of the secret that holds the client secret.
    public let clientSecretName: String?
    /// Whether OpenID Connect is used.
    public let openID: Bool
    /// Where the flow may end.
    public let redirectURIs: [String]
    /// Domains that emails must belong to; empty for any.
    public let domainRestrictions: [String]
    /// Who may have issued an id token; the provider's own names, unless the app says otherwise.
    public let issuers: [String]
    /// The address of the issuer's JWK set.
    public let keySetAddress: String

    /// Made of its parts.
    public init(
        clientID: String?,
        clientSecretName: String?,
        openID: Bool,
        redirectURIs: [String],
        domainRestrictions: [String],
        issuers: [String],
        keySetAddress: String
    ) {
        self.clientID = clientID
        self.clientSecretName = clientSecretName
        self.openID = openID
        self.redirectURIs = redirectURIs
        self.domainRestrictions = domainRestrictions
        self.issuers = issuers
        self.keySetAddress = keySetAddress
    }

    /// Where a provider's id tokens come from when the app does not say.
    ///
    /// Source: the discovery documents of Google, Apple and Facebook (`/.well-known/openid-configuration`).
    static func standardOrigin(_ kind: ProviderConfiguration.Kind) -> (issuers: [String], keys: String) {
        switch kind {
        case .apple: (["https://appleid.apple.com"], "https://appleid.apple.com/auth/keys")
        case .facebook:
            (
                ["https://www.facebook.com", "https://facebook.com"],
                "https://limited.facebook.com/.well-known/oauth/openid/jwks/"
            )
        case .google, .anonymous, .emailPassword, .apiKey, .customToken, .customFunction:
            (
                ["https://accounts.google.com", "accounts.google.com"],
                "https://www.googleapis.com/oauth2/v3/certs"
            )
        }
    }
}

/// A claim that becomes a field of the user's data.
public struct MetadataField: Sendable, Hashable {
    /// A login without the claim is refused.
    public let required: Bool
    /// The claim's path: dots descend, a backslash takes the next character as it is.
    public let name: String
    /// The key in the user's data; ``name`` when nil.
    public let fieldName: String?

    /// Made of its parts.
    public init(required: Bool, name: String, fieldName: String? = nil) {
        self.required = required
        self.name = name
        self.fieldName = fieldName
    }

    /// The steps of ``name``: `a\.b.c` becomes `["a.b", "c"]`.
    public var path: [String] {
        var steps: [String] = []
        var step = ""
        var escaped = false
        for character in name {
            if escaped {
                step.append(character)
                escaped = false
            } else if character == "\\" {
                escaped = true
            } else if character == "." {
                steps.append(step)
                step = ""
            } else {
                step.append(character)
            }
        }
        if escaped { step.append("\\") }
        steps.append(step)
        return steps
    }
}

import BSON
public import Errors

/// Id tokens of Google, Facebook and Apple: the decision about claims whose signature holds.
///
/// Source: OpenID Connect Core 1.0 §3.1.3.7; `reference/client-api.md` §3; `reference/app-config.md` §4.1.
public struct IDTokenProvider: Sendable {
    /// The algorithms that such issuers sign with.
    public static let algorithms = ["RS256", "ES256"]

    private let kind: ProviderConfiguration.Kind
    private let settings: OAuthSettings
    private let metadataFields: [MetadataField]

    /// Made of its parts.
    public init(
        kind: ProviderConfiguration.Kind,
        settings: OAuthSettings,
        metadataFields: [MetadataField]
    ) {
        self.kind = kind
        self.settings = settings
        self.metadataFields = metadataFields
    }

    /// Decides about a token whose signature was checked.
    ///
    /// - Parameters:
    ///   - token: Whose signature holds.
    ///   - now: Seconds since 1970.
    /// - Returns: The identity and its data.
    /// - Throws: ``ServiceError`` `authError`, which says `unauthorized` whatever the reason.
    public func decide(
        _ token: JSONWebToken,
        now: Int64
    ) throws(ServiceError) -> CustomTokenProvider.Decision {
        guard let clientID = settings.clientID else {
            throw AccountFailure.notAccepted("the provider has no clientId")
        }
        guard let issuer = token.claims["iss"]?.string, settings.issuers.contains(issuer) else {
            throw AccountFailure.notAccepted("iss names another issuer")
        }
        try checkDomain(token.claims)
        // The rest is as with any token that somebody else signed; the audience is the app at the provider.
        return try CustomTokenProvider(
            settings: CustomTokenSettings(
                algorithm: .rs256,
                keys: .jwkURI(settings.keySetAddress),
                audience: [clientID]
            ),
            metadataFields: fields,
            clientAppID: clientID
        ).decide(token, now: now)
    }

    /// What the app wants to know, by the names of the claims that hold it; Apple tells the email unasked.
    private var fields: [MetadataField] {
        if kind == .apple, metadataFields.isEmpty { return [MetadataField(required: false, name: "email")] }
        return metadataFields.map { field in
            let claim: String =
                switch field.name {
                case "first_name": "given_name"
                case "last_name": "family_name"
                default: field.name
                }
            return MetadataField(
                required: field.required,
                name: claim,
                fieldName: field.fieldName ?? field.name
            )
        }
    }

    /// An address counts for its domain only when the provider has seen that it is the user's.
    private func checkDomain(_ claims: BSONDocument) throws(ServiceError) {
        guard !settings.domainRestrictions.isEmpty else { return }
        let isVerified = claims["email_verified"]?.bool == true || claims["email_verified"]?.string == "true"
        guard isVerified, let email = claims["email"]?.string, let at = email.lastIndex(of: "@"),
            settings.domainRestrictions.contains(String(email[email.index(after: at)...]).lowercased())
        else { throw AccountFailure.notAccepted("the email's domain is not allowed") }
    }
}

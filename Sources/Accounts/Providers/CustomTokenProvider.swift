public import BSON
public import Errors

/// Tokens that somebody else signed: the decision about claims whose signature holds.
///
/// Source: `reference/client-api.md` §3.2, row “custom JWT”; `reference/app-config.md` §4.1.
public struct CustomTokenProvider: Sendable {
    /// Who the token speaks of.
    public struct Decision: Sendable, Hashable {
        /// The token's `sub`.
        public let identityID: String
        /// The listed claims, under the keys that the app gives them.
        public let data: BSONDocument
        /// `exp`, seconds since 1970.
        public let expiresAt: Int64
    }

    /// Characters of a whole token.
    public static let maximumTokenCharacters = 1_000_000
    /// Characters of one metadata value.
    public static let maximumMetadataCharacters = 4096
    /// How far a foreign clock may be ahead of ours, in seconds; for `nbf` alone, never for `exp`.
    static let notBeforeLeewaySeconds: Int64 = 30
    /// Bytes of `sub`, which is a key in an index.
    static let maximumSubjectBytes = 1024

    private let settings: CustomTokenSettings
    private let metadataFields: [MetadataField]
    private let clientAppID: String

    /// Made of its parts.
    public init(settings: CustomTokenSettings, metadataFields: [MetadataField], clientAppID: String) {
        self.settings = settings
        self.metadataFields = metadataFields
        self.clientAppID = clientAppID
    }

    /// Decides about a token whose signature was checked.
    ///
    /// - Parameters:
    ///   - token: Whose signature holds.
    ///   - now: Seconds since 1970.
    /// - Returns: The identity and its data.
    /// - Throws: ``ServiceError`` `authError`, which says `unauthorized` whatever the reason.
    public func decide(_ token: JSONWebToken, now: Int64) throws(ServiceError) -> Decision {
        guard let subject = token.claims["sub"]?.string, !subject.isEmpty,
            subject.utf8.count <= Self.maximumSubjectBytes, !subject.utf8.contains(0)
        else { throw AccountFailure.notAccepted("sub is missing or too long") }
        guard let expiresAt = token.seconds("exp") else {
            throw AccountFailure.notAccepted("exp is missing")
        }
        guard expiresAt > now else { throw AccountFailure.notAccepted("the token has expired") }
        if token.claims["nbf"] != nil {
            guard let notBefore = token.seconds("nbf"), notBefore <= now &+ Self.notBeforeLeewaySeconds else {
                throw AccountFailure.notAccepted("the token is not valid yet")
            }
        }
        try checkAudience(token.claims["aud"])
        return Decision(identityID: subject, data: try metadata(token.claims), expiresAt: expiresAt)
    }

    private func checkAudience(_ claim: BSONValue?) throws(ServiceError) {
        let named: Set<String>
        switch claim {
        case .string(let one)?: named = [one]
        case .array(let several)?: named = Set(several.compactMap(\.string))
        default: throw AccountFailure.notAccepted("aud is missing")
        }
        let accepted = settings.audience.isEmpty ? [clientAppID] : settings.audience
        let holds =
            settings.requireAnyAudience
            ? accepted.contains(where: named.contains) : accepted.allSatisfy(named.contains)
        guard holds else { throw AccountFailure.notAccepted("aud names another audience") }
    }

    private func metadata(_ claims: BSONDocument) throws(ServiceError) -> BSONDocument {
        var data = BSONDocument()
        for field in metadataFields {
            guard let value = Self.value(at: field.path, in: claims), !value.isNull else {
                guard !field.required else {
                    throw AccountFailure.notAccepted("claim '\(known: field.name)' is missing")
                }
                continue
            }
            let length =
                if case .string(let text) = value { text.unicodeScalars.count } else {
                    ExtendedJSON.canonical(value).unicodeScalars.count
                }
            guard length <= Self.maximumMetadataCharacters else {
                throw AccountFailure.notAccepted("claim '\(known: field.name)' is too long")
            }
            data[field.fieldName ?? field.name] = value
        }
        return data
    }

    private static func value(at path: [String], in claims: BSONDocument) -> BSONValue? {
        var value = BSONValue.document(claims)
        for step in path {
            guard let next = value.document?[step] else { return nil }
            value = next
        }
        return value
    }
}

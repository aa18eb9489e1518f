import Accounts
import BSON
import Errors

extension AccountService {
    /// Who a token speaks of that somebody else signed.
    struct ForeignIdentity: Sendable {
        let id: String
        let data: BSONDocument
        /// Milliseconds since 1970.
        let goodUntil: Int64
    }

    /// Checks a custom JWT or an id token, signature and claims.
    func foreignIdentity(
        _ login: Credentials,
        _ settings: AccountSettings
    ) async throws(ServiceError) -> ForeignIdentity {
        let provider = try provider(login.kind, settings)
        let decision: CustomTokenProvider.Decision
        switch (login, provider.settings) {
        case (.customToken(let text), .customToken(let tokenSettings)):
            let token = try await foreignTokens.verify(
                text,
                settings: tokenSettings,
                secrets: settings.secrets
            )
            decision = try CustomTokenProvider(
                settings: tokenSettings,
                metadataFields: provider.metadataFields,
                clientAppID: settings.clientAppID
            ).decide(token, now: seconds)
        case (.idToken(let kind, let text), .oauth(let oauthSettings)):
            let token = try await foreignTokens.verify(
                text,
                algorithms: IDTokenProvider.algorithms,
                keySetAddress: oauthSettings.keySetAddress
            )
            decision = try IDTokenProvider(
                kind: kind,
                settings: oauthSettings,
                metadataFields: provider.metadataFields
            ).decide(token, now: seconds)
        default: throw AccountFailure.providerNotFound(provider.name)
        }
        let goodUntil = decision.expiresAt.multipliedReportingOverflow(by: 1000)
        return ForeignIdentity(
            id: decision.identityID,
            data: decision.data,
            goodUntil: goodUntil.overflow ? .max : goodUntil.partialValue
        )
    }
}

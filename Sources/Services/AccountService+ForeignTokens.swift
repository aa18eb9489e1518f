import Accounts
import BSON
import Errors
import SQL

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
        if case .customFunction(let payload) = login, case .customFunction(let name) = provider.settings {
            return try await identity(byFunction: name, payload, settings)
        }
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

    /// Logs the bearer of such a token in; the first login makes the user.
    func acceptToken(
        _ login: Credentials,
        _ settings: AccountSettings,
        mayCreate: Bool
    ) async throws(ServiceError) -> Accepted {
        let identity = try await foreignIdentity(login, settings)
        let lookup = AccountStatements.user(
            appID: settings.appID,
            kind: login.kind,
            identityID: identity.id
        )
        var rows = try await query(lookup)
        var user = try AccountStatements.readUser(rows, appID: settings.appID)
        if user == nil {
            guard mayCreate else { throw AccountFailure.notAccepted("the token has no user yet") }
            do {
                return try await createUser(
                    login.kind,
                    identityID: identity.id,
                    data: identity.data,
                    settings,
                    goodUntil: identity.goodUntil
                )
            } catch {
                guard error.code == .accountNameInUse else { throw error }
                // Another first login of the same identity came first.
                rows = try await query(lookup)
                user = try AccountStatements.readUser(rows, appID: settings.appID)
            }
        }
        guard let user else { throw AccountFailure.notAccepted("the user is gone") }
        guard !user.disabled else { throw AccountFailure.userDisabled }
        return Accepted(
            user: try await refreshed(user, login.kind, identity.id, identity.data),
            identityID: identity.id,
            goodUntil: identity.goodUntil
        )
    }

    /// The user with what the provider says of the identity now.
    func refreshed(
        _ user: User,
        _ kind: ProviderConfiguration.Kind,
        _ identityID: String,
        _ data: BSONDocument
    ) async throws(ServiceError) -> User {
        let profile = user.profile
        guard
            let index = profile.identities.firstIndex(where: {
                $0.providerType == kind.rawValue && $0.id == identityID
            }),
            profile.identities[index].data != data
        else { return user }
        var identities = profile.identities
        let old = identities[index]
        identities[index] = UserProfile.Identity(
            id: old.id,
            providerType: old.providerType,
            providerID: old.providerID,
            data: data
        )
        let union = BSONDocument.union(identities.map(\.data))
        _ = try await query(
            AccountStatements.updateData(
                appID: user.appID,
                userID: profile.id,
                kind: kind,
                identityID: identityID,
                identityData: data,
                userData: union
            )
        )
        forget(UserKey(appID: user.appID, userID: profile.id))
        return user.with(
            UserProfile(
                id: profile.id,
                kind: profile.kind,
                data: union,
                customData: nil,
                identities: identities
            )
        )
    }
}

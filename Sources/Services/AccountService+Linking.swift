public import Accounts
import BSON
public import Errors
import SQL

extension AccountService {
    /// Gives the caller one more way to log in, and a session made with it.
    ///
    /// Credentials that the caller has already change nothing and succeed.
    /// - Throws: ``ServiceError`` as `reference/client-api.md` §§6.2, 8 list them: 401 for the access token,
    ///   `authError` with more than the one word for credentials that do not hold or belong to another user,
    ///   `invalidParameter` for what cannot be linked.
    public func link(
        _ login: Credentials,
        accessToken: String?,
        device: DeviceInformation? = nil,
        _ settings: AccountSettings,
        from address: NetworkAddress? = nil,
        identified: (_ appID: String, _ userID: String) -> Void = { _, _ in }
    ) async throws(ServiceError) -> LoginResult {
        let caller = try await authenticate(accessToken: accessToken, settings, identified: identified)
        _ = try provider(login.kind, settings)
        guard caller.user.profile.kind == .normal, login.kind != .anonymous else {
            throw AccountFailure.invalidLink
        }
        let attempt = try throttle.begin(login, appID: settings.appID, from: address)
        let linked: Accepted
        do {
            linked = try await link(login, to: caller.user, settings)
            throttle.succeeded(attempt)
        } catch {
            guard Self.isRefusal(error) else { throw error }
            try await failed(attempt)
            // A taken identity has a text of its own; all others say the bare word.
            throw error.message == AccountFailure.identityTaken.message
                ? error : AccountFailure.linkNotAccepted(error)
        }
        forget(UserKey(appID: settings.appID, userID: caller.user.profile.id))
        return try await beginSession(linked, login.kind, device: device, settings)
    }

    private func link(
        _ login: Credentials,
        to user: User,
        _ settings: AccountSettings
    ) async throws(ServiceError) -> Accepted {
        switch login {
        case .anonymous: throw AccountFailure.invalidLink
        case .emailPassword(let username, let password):
            let stored = try await checkPassword(username: username, password: password, settings)
            let data = EmailPasswordProvider.data(username: username)
            return try await add(.emailPassword, stored.identityID, data, to: user, settings)
        case .apiKey(let key):
            let owner = try await acceptKey(key, settings)
            guard owner.user.profile.id == user.profile.id else { throw AccountFailure.invalidLink }
            return owner
        case .customToken, .idToken, .customFunction:
            let identity = try await foreignIdentity(login, settings)
            let linked = try await add(login.kind, identity.id, identity.data, to: user, settings)
            return Accepted(
                user: try await refreshed(linked.user, login.kind, identity.id, identity.data),
                identityID: identity.id
            )
        }
    }

    private func add(
        _ kind: ProviderConfiguration.Kind,
        _ identityID: String,
        _ data: BSONDocument,
        to user: User,
        _ settings: AccountSettings
    ) async throws(ServiceError) -> Accepted {
        let rows = try await query(
            AccountStatements.link(
                appID: settings.appID,
                userID: user.profile.id,
                kind: kind,
                identityID: identityID,
                data: data
            )
        )
        switch rows.text(0, 0) {
        case "linked", "known": return Accepted(user: user, identityID: identityID)
        case "taken": throw AccountFailure.identityTaken
        case "second": throw AccountFailure.secondIdentity
        default: throw AccountFailure.userNotFound
        }
    }
}

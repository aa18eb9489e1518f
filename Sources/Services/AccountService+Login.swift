public import Accounts
import BSON
public import Errors
import SQL

extension AccountService {
    /// Credentials that were accepted.
    struct Accepted: Sendable {
        let user: User
        let identityID: String
        /// Milliseconds since 1970; the greatest number for credentials without an end.
        var goodUntil: Int64 = .max
    }

    /// Logs a user in: checks the credentials, makes the user if it is the first time, begins a session.
    ///
    /// - Throws: ``ServiceError`` as `reference/client-api.md` §3.1 lists them.
    public func logIn(
        _ login: Credentials,
        device: DeviceInformation? = nil,
        _ settings: AccountSettings,
        from address: NetworkAddress? = nil
    ) async throws(ServiceError) -> LoginResult {
        _ = try provider(login.kind, settings)
        let accepted = try await accept(login, settings, mayCreate: true, from: address)
        return try await beginSession(accepted, login.kind, device: device, settings)
    }

    /// Begins a session of a user whose credentials were accepted.
    func beginSession(
        _ accepted: Accepted,
        _ kind: ProviderConfiguration.Kind,
        device: DeviceInformation?,
        _ settings: AccountSettings
    ) async throws(ServiceError) -> LoginResult {
        let userID = accepted.user.profile.id
        let customData = try await customData(of: userID, settings)
        let signer = try await signer(appID: settings.appID)
        let now = seconds
        let anonymous = kind == .anonymous
        // The token of an anonymous user does not run out; the session ends with the user.
        let tokenLifetime =
            anonymous ? RefreshToken.anonymousLifetimeSeconds : settings.refreshTokenLifetimeSeconds
        let sessionLifetime = anonymous ? Int64(AnonymousProvider.lifetimeDays) * 86400 : tokenLifetime
        let sessionID = newID().hex
        let rows = try await query(
            SessionStatements.create(
                SessionStatements.NewSession(
                    id: sessionID,
                    appID: settings.appID,
                    userID: userID,
                    kind: kind,
                    identityID: accepted.identityID,
                    device: device,
                    newDeviceID: newID().hex,
                    expiresAt: (now &+ sessionLifetime) &* 1000
                )
            )
        )
        guard let session = SessionStatements.readCreated(rows) else { throw AccountFailure.userDisabled }
        let access = AccessToken(
            userID: userID,
            sessionID: sessionID,
            deviceID: session.deviceID,
            appID: settings.appID,
            userData: customData,
            now: now
        )
        let refresh = RefreshToken(
            userID: userID,
            sessionID: sessionID,
            deviceID: session.deviceID,
            appID: settings.appID,
            identityID: accepted.identityID,
            providerType: kind.rawValue,
            providerID: session.providerID,
            issuedAt: now,
            expiresAt: now &+ tokenLifetime
        )
        guard let accessText = signer.sign(access, now: now), let refreshText = signer.sign(refresh, now: now)
        else { throw ServiceError(.internalServerError, "the app has no signing key") }
        return LoginResult(
            accessToken: accessText,
            refreshToken: refreshText,
            userID: userID,
            deviceID: session.deviceID
        )
    }

    /// The configuration of a provider, when the app has it enabled.
    func provider(
        _ kind: ProviderConfiguration.Kind,
        _ settings: AccountSettings
    ) throws(ServiceError) -> ProviderConfiguration {
        guard let provider = settings.enabledProvider(kind) else {
            throw AccountFailure.providerNotFound(kind.rawValue)
        }
        return provider
    }

    /// Checks credentials by their provider.
    ///
    /// A user that is not there yet is made if `mayCreate` says so; registered email/password users always
    /// are, since their registration was the making. Failures are counted; too many refuse the next try before
    /// it costs anything.
    func accept(
        _ login: Credentials,
        _ settings: AccountSettings,
        mayCreate: Bool,
        from address: NetworkAddress?
    ) async throws(ServiceError) -> Accepted {
        let attempt = try throttle.begin(login, appID: settings.appID, from: address)
        do {
            let accepted = try await check(login, settings, mayCreate: mayCreate)
            throttle.succeeded(attempt)
            return accepted
        } catch {
            if Self.isRefusal(error) { try await failed(attempt) }
            throw error
        }
    }

    private func check(
        _ login: Credentials,
        _ settings: AccountSettings,
        mayCreate: Bool
    ) async throws(ServiceError) -> Accepted {
        switch login {
        case .anonymous: try await createUser(.anonymous, identityID: newIdentityID(), data: [:], settings)
        case .emailPassword(let username, let password):
            try await acceptPassword(username: username, password: password, settings)
        case .apiKey(let key): try await acceptKey(key, settings)
        case .customToken, .idToken, .customFunction:
            try await acceptToken(login, settings, mayCreate: mayCreate)
        }
    }

    func acceptKey(_ key: String, _ settings: AccountSettings) async throws(ServiceError) -> Accepted {
        guard let digest = APIKeyProvider.digest(key) else { throw AccountFailure.notAccepted("not a key") }
        let rows = try await query(
            CredentialStatements.apiKey(appID: settings.appID, digest: digest)
        )
        guard let found = try CredentialStatements.readKey(rows, appID: settings.appID) else {
            throw AccountFailure.notAccepted("unknown key")
        }
        guard !found.disabled else { throw AccountFailure.notAccepted("the key is disabled") }
        guard !found.user.disabled else { throw AccountFailure.userDisabled }
        // The first login with a key of its own shows in the owner's profile.
        if !found.user.profile.identities.contains(where: { $0.id == found.id }) {
            _ = try await query(
                AccountStatements.addIdentity(
                    appID: settings.appID,
                    userID: found.user.profile.id,
                    kind: .apiKey,
                    identityID: found.id
                )
            )
            forget(UserKey(appID: settings.appID, userID: found.user.profile.id))
        }
        return Accepted(user: found.user, identityID: found.id)
    }
}

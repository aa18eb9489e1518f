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
            if Self.isRefusal(error) { throttle.failed(attempt) }
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
        case .customToken, .idToken: try await acceptToken(login, settings, mayCreate: mayCreate)
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

    private func acceptToken(
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

    /// Makes a user with one identity.
    ///
    /// - Throws: ``ServiceError`` `accountNameInUse` when the identity exists.
    private func createUser(
        _ kind: ProviderConfiguration.Kind,
        identityID: String,
        data: BSONDocument,
        _ settings: AccountSettings,
        goodUntil: Int64 = .max
    ) async throws(ServiceError) -> Accepted {
        try checkCreation(settings)
        let userID = newID().hex
        let made = try await query(
            AccountStatements.createUser(
                appID: settings.appID,
                userID: userID,
                kind: kind,
                identityID: identityID,
                data: data
            )
        )
        guard made.affectedRows > 0 else { throw AccountFailure.nameInUse }
        guard let user = try await user(UserKey(appID: settings.appID, userID: userID)) else {
            throw AccountFailure.notAccepted("the user is gone")
        }
        return Accepted(user: user, identityID: identityID, goodUntil: goodUntil)
    }

    /// Refuses to make a user where a function would have to be asked first.
    func checkCreation(_ settings: AccountSettings) throws(ServiceError) {
        if let function = settings.customUserData?.onUserCreationFunctionName {
            throw AccountFailure.creationFunctionNotServed(function)
        }
    }
}

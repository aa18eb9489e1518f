public import Accounts
public import Errors

extension AccountService {
    /// Finds out as whom a Data API request runs.
    ///
    /// Where the configuration names the caller, credentials are not looked at. Otherwise a bearer token
    /// comes before all, and when it is bad nothing else is tried; credential headers are a login for this
    /// one request. Whatever is wrong with a credential, the answer is the same.
    /// - Throws: ``ServiceError`` `missingParameter` or `invalidParameter` for credentials that are
    ///   incomplete or absent, `invalidSession` for bad ones, `tooManyRequests` when too many passwords wait
    ///   or too many logins have failed.
    ///
    /// Source: `reference/data-api.md` §§5, 6.1, 7.
    public func authenticate(
        _ request: RequestCredentials,
        _ settings: AccountSettings,
        from address: @autoclosure () -> NetworkAddress? = nil
    ) async throws(ServiceError) -> Principal {
        switch settings.dataAPIRunAs {
        case .system: return .system
        case .script: throw AccountFailure.scriptNotAsked
        case .user(let id):
            guard let user = try await user(UserKey(appID: settings.appID, userID: id)), !user.disabled else {
                throw AccountFailure.userNotFoundForEndpoint(nil)
            }
            return try await principal(user, settings)
        case .caller: break
        }
        switch try request.choice() {
        case .bearer(let token):
            let user: User
            do {
                user = try await authenticate(accessToken: token, settings).user
            } catch {
                throw Self.isRefusal(error) ? AccountFailure.badBearer(error) : error
            }
            return try await principal(user, settings)
        case .login(let login):
            let user: User
            do {
                user = try await self.user(login, settings, from: address())
            } catch {
                throw Self.isRefusal(error) ? AccountFailure.userNotFoundForEndpoint(error) : error
            }
            return try await principal(user, settings)
        }
    }

    /// The user whom the credentials belong to, from memory or by a full check.
    private func user(
        _ login: Credentials,
        _ settings: AccountSettings,
        from address: NetworkAddress?
    ) async throws(ServiceError) -> User {
        _ = try provider(login.kind, settings)
        let digest = credentials.digest(login, settings)
        if let key = credentials.user(digest, now: now()), let user = try await user(key) {
            guard !user.disabled else { throw AccountFailure.userDisabled }
            return user
        }
        let success = try await credentials.check(digest) { () async throws(ServiceError) in
            let moment = self.credentials.moment()
            let generation = self.principals.generation()
            let accepted = try await self.accept(
                login,
                settings,
                mayCreate: settings.createUserOnAuth,
                from: address
            )
            if login.kind != .apiKey {
                _ = try await self.query(
                    AccountStatements.noteLogin(appID: settings.appID, userID: accepted.user.profile.id)
                )
            }
            return CredentialCache.Success(
                user: accepted.user,
                goodUntil: accepted.goodUntil,
                moment: moment,
                generation: generation
            )
        }
        let now = now()
        principals.store(success.user, read: success.generation, now: now)
        if principals.isListening {
            credentials.store(
                UserKey(appID: settings.appID, userID: success.user.profile.id),
                digest: digest,
                began: success.moment,
                expiresAt: min(success.goodUntil, now &+ CredentialCache.lifetime)
            )
        }
        return success.user
    }

    private func principal(_ user: User, _ settings: AccountSettings) async throws(ServiceError) -> Principal
    {
        guard settings.fetchCustomUserData else { return .user(user.profile) }
        return .user(user.profile.with(customData: try await customData(of: user.profile.id, settings)))
    }

    /// Whether an error says that a credential is not good, and not that something else is wrong.
    static func isRefusal(_ error: ServiceError) -> Bool {
        switch error.code {
        case .missingAuthReq, .invalidSession, .userAppDomainMismatch, .authError, .authProviderNotFound,
            .invalidPassword, .userDisabled, .userNotFound:
            true
        default: false
        }
    }
}

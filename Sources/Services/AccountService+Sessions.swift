public import Accounts
public import BSON
public import Errors
import SQL

extension AccountService {
    /// A new access token for a session that stands, with the custom user data as it is now.
    ///
    /// Without an `Authorization` header the token is nil. Errors are as `reference/client-api.md` §6.2 lists them.
    /// Here as in the other calls, `identified` is told whose token it is, once it is known to be ours.
    public func refresh(
        refreshToken text: String?,
        identified: (_ appID: String, _ userID: String) -> Void = { _, _ in }
    ) async throws(ServiceError) -> String {
        guard let text else { throw AccountFailure.mustAuthenticate }
        let (settings, token) = try await refreshToken(text)
        identified(token.appID, token.userID)
        let rows = try await query(
            SessionStatements.refresh(appID: token.appID, sessionID: token.sessionID, userID: token.userID)
        )
        guard rows.affectedRows > 0 else { throw AccountFailure.refreshTokenNotFound }
        let customData = try await customData(of: token.userID, settings)
        let signer = try await signer(appID: settings.appID)
        let now = seconds
        let access = AccessToken(
            userID: token.userID,
            sessionID: token.sessionID,
            deviceID: token.deviceID,
            appID: token.appID,
            userData: customData,
            now: now
        )
        guard let accessText = signer.sign(access, now: now) else {
            throw ServiceError(.internalServerError, "the app has no signing key")
        }
        return accessText
    }

    /// Ends one session with its access tokens, in other gateways when they hear of it.
    public func logOut(
        refreshToken text: String?,
        identified: (_ appID: String, _ userID: String) -> Void = { _, _ in }
    ) async throws(ServiceError) {
        guard let text else { throw AccountFailure.mustAuthenticate }
        let (_, token) = try await refreshToken(text)
        identified(token.appID, token.userID)
        let rows = try await query(
            SessionStatements.revoke(appID: token.appID, sessionID: token.sessionID, userID: token.userID)
        )
        guard rows.affectedRows > 0 else { throw AccountFailure.refreshTokenNotFound }
        forget(UserKey(appID: token.appID, userID: token.userID))
    }

    /// The user and app of a refresh token whose session stands; for calls that ask for that token.
    public func authenticate(
        refreshToken text: String?,
        identified: (_ appID: String, _ userID: String) -> Void = { _, _ in }
    ) async throws(ServiceError) -> (token: RefreshToken, user: User, settings: AccountSettings) {
        guard let text else { throw AccountFailure.mustAuthenticate }
        let (settings, token) = try await refreshToken(text)
        identified(token.appID, token.userID)
        let rows = try await query(
            SessionStatements.find(appID: token.appID, sessionID: token.sessionID, userID: token.userID)
        )
        guard rows.rowCount > 0, let user = try await user(UserKey(appID: token.appID, userID: token.userID))
        else { throw AccountFailure.refreshTokenNotFound }
        return (token, user, settings)
    }

    /// The body of `GET auth/profile`.
    ///
    /// Without an `Authorization` header the token is nil.
    public func profile(
        accessToken: String?,
        identified: (_ appID: String, _ userID: String) -> Void = { _, _ in }
    ) async throws(ServiceError) -> BSONDocument {
        let caller = try await authenticate(accessToken: accessToken, identified: identified)
        let customData = try await customData(of: caller.token.userID, caller.settings)
        return caller.user.profile.with(customData: customData).document(appID: caller.user.appID)
    }

    /// Removes the caller's own account with its identities, credentials, keys and sessions.
    public func deleteUser(
        accessToken: String?,
        identified: (_ appID: String, _ userID: String) -> Void = { _, _ in }
    ) async throws(ServiceError) {
        let caller = try await authenticate(accessToken: accessToken, identified: identified)
        let key = UserKey(appID: caller.user.appID, userID: caller.user.profile.id)
        _ = try await query(
            AccountStatements.deleteUser(appID: key.appID, userID: key.userID)
        )
        // Here at once; in other gateways when the notification arrives.
        forget(key)
    }
}

public import Accounts
public import Errors

extension AccountService {
    /// The user of an access token as he is now, not as he was at his login, with his custom data of now.
    ///
    /// - Parameters:
    ///   - token: Whose it is; it was checked before.
    ///   - settings: The app's.
    /// - Returns: The caller for rules.
    /// - Throws: ``ServiceError`` where the token counts no more.
    public func currentPrincipal(
        of token: AccessToken,
        _ settings: AccountSettings
    ) async throws(ServiceError) -> Principal {
        // Asked of the database: what is remembered of the user may be older than the news of a change.
        let rows = try await query(AccountStatements.user(appID: token.appID, userID: token.userID))
        guard let user = try AccountStatements.readUser(rows, appID: token.appID), user.accepts(token) else {
            throw AccountFailure.userNotFound
        }
        return .user(user.profile.with(customData: try await customData(of: token.userID, settings)))
    }
}

import Accounts
import BSON
import Errors
import SQL

extension AccountService {
    /// Makes a user with one identity.
    ///
    /// - Throws: ``ServiceError`` `accountNameInUse` when the identity exists.
    func createUser(
        _ kind: ProviderConfiguration.Kind,
        identityID: String,
        data: BSONDocument,
        _ settings: AccountSettings,
        goodUntil: Int64 = .max
    ) async throws(ServiceError) -> Accepted {
        let userID = newID().hex
        try await runCreation(
            UserProfile(
                id: userID,
                kind: .normal,
                data: data,
                customData: nil,
                identities: [
                    UserProfile.Identity(
                        id: identityID,
                        providerType: kind.rawValue,
                        providerID: "",
                        data: data
                    )
                ]
            ),
            settings
        )
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

    /// Runs the function that has a say in every new user; when it throws, the user is not made.
    ///
    /// It comes before the user and before the first access token, so that a document that it writes is in that
    /// token's custom data. Source: `reference/functions.md` §11.
    func runCreation(_ profile: UserProfile, _ settings: AccountSettings) async throws(ServiceError) {
        guard let name = settings.customUserData?.onUserCreationFunctionName else { return }
        _ = try await run(
            name,
            [.document(FunctionUser.document(.user(profile), hidesData: false))],
            settings
        )
    }
}

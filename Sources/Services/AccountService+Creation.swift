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

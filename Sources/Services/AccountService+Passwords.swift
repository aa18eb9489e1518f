import Accounts
import BSON
import Errors
import SQL

extension AccountService {
    /// Hashes a new password in its turn.
    func hash(_ password: String) async throws(ServiceError) -> PasswordHash {
        let cost = limits.passwordCost
        let salt = Self.newSalt()
        guard let hash = try await passwords.run({ PasswordHash(password: password, salt: salt, cost: cost) })
        else { throw ServiceError(.internalServerError, "the password cannot be hashed") }
        return hash
    }

    /// Checks a password.
    ///
    /// An unknown name costs the same work as a known one, and so does a hash of
    /// another kind, so that time does not tell who has an account.
    func checkPassword(
        username: String,
        password: String,
        _ settings: AccountSettings
    ) async throws(ServiceError) -> CredentialStatements.StoredPassword {
        guard EmailPasswordProvider.isPlausible(username: username, password: password) else {
            throw AccountFailure.invalidPassword(because: "no email or password that could be registered")
        }
        let rows = try await query(
            CredentialStatements.password(appID: settings.appID, username: username)
        )
        let stored = try CredentialStatements.readPassword(rows, appID: settings.appID)
        let cost = limits.passwordCost
        let salt = Self.newSalt()
        let hash = stored.flatMap { PasswordHash(text: $0.hash) }
        let (isGood, better) = try await passwords.run { () -> (Bool, PasswordHash?) in
            let isGood = hash?.verify(password) ?? false
            if let hash, hash.worksAsHard(as: cost) { return (isGood, nil) }
            let fresh = PasswordHash(password: password, salt: salt, cost: cost)
            return (isGood, isGood ? fresh : nil)
        }
        guard let stored else { throw AccountFailure.invalidPassword(because: "unknown email") }
        guard isGood else { throw AccountFailure.invalidPassword(because: "wrong password") }
        guard stored.confirmed else { throw AccountFailure.notAccepted("the user is not confirmed") }
        if let better {
            _ = try await query(
                CredentialStatements.replaceHash(
                    appID: settings.appID,
                    username: username,
                    old: stored.hash,
                    new: better.text
                )
            )
        }
        return stored
    }

    /// Logs a password in; the first login makes the user.
    func acceptPassword(
        username: String,
        password: String,
        _ settings: AccountSettings
    ) async throws(ServiceError) -> Accepted {
        let stored = try await checkPassword(username: username, password: password, settings)
        let user: User
        if let known = stored.user {
            user = known
        } else {
            user = try await firstLogin(username: username, identityID: stored.identityID, settings)
        }
        guard !user.disabled else { throw AccountFailure.userDisabled }
        return Accepted(user: user, identityID: stored.identityID)
    }

    /// Makes the user of a registration; of several first logins at once, one does.
    private func firstLogin(
        username: String,
        identityID: String,
        _ settings: AccountSettings
    ) async throws(ServiceError) -> User {
        let userID = newID().hex
        let data = EmailPasswordProvider.data(username: username)
        try await runCreation(
            UserProfile(
                id: userID,
                kind: .normal,
                data: data,
                customData: nil,
                identities: [
                    UserProfile.Identity(
                        id: identityID,
                        providerType: ProviderConfiguration.Kind.emailPassword.rawValue,
                        providerID: "",
                        data: data
                    )
                ]
            ),
            settings
        )
        _ = try await query(
            CredentialStatements.createUser(
                appID: settings.appID,
                username: username,
                userID: userID,
                data: data
            )
        )
        let rows = try await query(
            CredentialStatements.password(appID: settings.appID, username: username)
        )
        guard let user = try CredentialStatements.readPassword(rows, appID: settings.appID)?.user else {
            throw AccountFailure.invalidPassword(because: "the user is gone")
        }
        return user
    }

    private static func newSalt() -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }
}

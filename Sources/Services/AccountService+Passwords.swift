public import Accounts
import BSON
public import Errors
import SQL

extension AccountService {
    /// Registers an email/password user, who may log in at once.
    ///
    /// - Throws: ``ServiceError`` `accountNameInUse`, `badRequest` as `reference/client-api.md` §11 says;
    ///   `badRequest` naming `autoConfirm` where the app wants a confirmation, which is not served yet.
    public func register(
        email: String,
        password: String,
        _ settings: AccountSettings
    ) async throws(ServiceError) {
        let provider = try provider(.emailPassword, settings)
        try EmailPasswordProvider.checkRegistration(email: email, password: password)
        guard case .emailPassword(let emailSettings) = provider.settings, emailSettings.autoConfirm else {
            throw AccountFailure.confirmationNotServed
        }
        try checkCreation(settings)
        // Before the hash, which costs: the answer is the same either way.
        let taken = try await query(
            CredentialStatements.usernameExists(appID: settings.appID, username: email)
        )
        guard taken.rowCount == 0 else { throw AccountFailure.nameInUse }
        let cost = limits.passwordCost
        let salt = Self.newSalt()
        guard let hash = try await passwords.run({ PasswordHash(password: password, salt: salt, cost: cost) })
        else { throw ServiceError(.internalServerError, "the password cannot be hashed") }
        let made = try await query(
            CredentialStatements.register(
                appID: settings.appID,
                username: email,
                hash: hash.text,
                identityID: newIdentityID()
            )
        )
        guard made.affectedRows > 0 else { throw AccountFailure.nameInUse }
    }

    /// Checks a password.
    ///
    /// An unknown name costs the same work as a known one, and so does a hash of
    /// another kind, so that time does not tell who has an account.
    func acceptPassword(
        username: String,
        password: String,
        _ settings: AccountSettings
    ) async throws(ServiceError) -> Accepted {
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
        let user: User
        if let known = stored.user {
            user = known
        } else {
            user = try await firstLogin(username: username, settings)
        }
        guard !user.disabled else { throw AccountFailure.userDisabled }
        return Accepted(user: user, identityID: stored.identityID)
    }

    /// Makes the user of a registration; of several first logins at once, one does.
    private func firstLogin(
        username: String,
        _ settings: AccountSettings
    ) async throws(ServiceError) -> User {
        try checkCreation(settings)
        _ = try await query(
            CredentialStatements.createUser(
                appID: settings.appID,
                username: username,
                userID: newID().hex,
                data: EmailPasswordProvider.data(username: username)
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

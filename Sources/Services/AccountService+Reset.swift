public import Accounts
public import BSON
public import Errors
import SQL

extension AccountService {
    /// Sends a mail by which its reader can choose another password.
    public func sendReset(
        email: String,
        _ settings: AccountSettings,
        from address: NetworkAddress? = nil
    ) async throws(ServiceError) {
        let rules = try emailPasswordSettings(settings)
        try await requestMail(.reset, email: email, settings, from: address) { () throws(ServiceError) in
            guard !rules.runResetFunction else { throw AccountFailure.resetsByFunction }
            guard rules.resetPasswordURL != nil else { throw AccountFailure.resetAddressMissing }
        }
    }

    /// Sets another password by the token of a mail, and ends every session of the user.
    ///
    /// A token that is not good costs no hash.
    public func reset(
        token: String,
        tokenID: String,
        password: String,
        _ settings: AccountSettings,
        from address: NetworkAddress? = nil
    ) async throws(ServiceError) {
        _ = try emailPasswordSettings(settings)
        guard EmailPasswordProvider.isPassword(password) else { throw AccountFailure.passwordLength }
        try await guarded(settings, from: address) { () async throws(ServiceError) in
            guard let digest = UserToken.digest(token) else { throw AccountFailure.tokenUnknown }
            let worth = try await self.query(
                RegistrationStatements.checkToken(
                    appID: settings.appID,
                    tokenID: tokenID,
                    digest: digest,
                    .reset
                )
            )
            try Self.check(RegistrationStatements.readOutcome(worth))
            let hash = try await self.hash(password)
            let rows = try await self.query(
                RegistrationStatements.useToken(
                    appID: settings.appID,
                    tokenID: tokenID,
                    digest: digest,
                    .reset,
                    hash: hash.text
                )
            )
            try Self.check(RegistrationStatements.readOutcome(rows))
        }
    }

    /// Runs the reset function, which may let the new password stand at once.
    public func callReset(
        email: String,
        password: String,
        arguments: [BSONValue],
        _ settings: AccountSettings,
        from address: NetworkAddress? = nil
    ) async throws(ServiceError) {
        let rules = try emailPasswordSettings(settings)
        guard EmailPasswordProvider.isPassword(password) else { throw AccountFailure.passwordLength }
        try await checkAccount(email, settings, from: address)
        guard rules.runResetFunction, let name = rules.resetFunctionName else {
            throw AccountFailure.noResetFunction
        }
        try await reset(email, to: password, by: name, arguments, settings)
    }
}

public import Accounts
import BSON
public import Errors
import SQL

extension AccountService {
    /// How an app has registrations confirmed.
    private enum Confirmation: Equatable {
        case automatic
        case mail
        case function(String)
    }

    /// Registers an email/password user: confirmed at once, or by the mail that is asked for here.
    ///
    /// - Throws: ``ServiceError`` `accountNameInUse`, `badRequest` as `reference/client-api.md` §11 says;
    ///   what a function that confirms fails with only says that it failed.
    public func register(
        email: String,
        password: String,
        _ settings: AccountSettings,
        from address: NetworkAddress? = nil
    ) async throws(ServiceError) {
        let rules = try emailPasswordSettings(settings)
        try EmailPasswordProvider.checkRegistration(email: email, password: password)
        let confirmation = try Self.confirmation(rules)
        // Names that are taken are found out by trying: what finds one counts as a failure.
        let attempt = try throttle.begin(account: nil, appID: settings.appID, from: address)
        // Before the hash, which costs: the answer is the same either way.
        let taken = try await query(
            CredentialStatements.usernameExists(appID: settings.appID, username: email)
        )
        guard taken.rowCount == 0 else {
            try await failed(attempt)
            throw AccountFailure.nameInUse
        }
        if confirmation == .mail { try checkMails(from: address) }
        let hash = try await hash(password)
        let identityID = newIdentityID()
        let made: ResultSet
        switch confirmation {
        case .function(let name):
            return try await register(
                email,
                hash: hash.text,
                identityID: identityID,
                confirmedBy: name,
                settings
            )
        case .automatic:
            made =
                try await query(
                    CredentialStatements.register(
                        appID: settings.appID,
                        username: email,
                        hash: hash.text,
                        identityID: identityID
                    )
                )
        case .mail:
            made =
                try await query(
                    RegistrationStatements.registerPending(
                        appID: settings.appID,
                        username: email,
                        hash: hash.text,
                        identityID: identityID
                    )
                )
        }
        guard made.affectedRows > 0 else { throw AccountFailure.nameInUse }
        if confirmation == .mail { await mailQueued(from: address) }
    }

    private static func confirmation(_ rules: EmailPasswordSettings) throws(ServiceError) -> Confirmation {
        if rules.autoConfirm { return .automatic }
        if rules.runConfirmationFunction {
            guard let name = rules.confirmationFunctionName else {
                throw AccountFailure.confirmationFunctionMissing
            }
            return .function(name)
        }
        guard rules.emailConfirmationURL != nil else { throw AccountFailure.confirmationAddressMissing }
        return .mail
    }

    /// Confirms an email by the token of a mail; of any number of uses of a token one succeeds.
    public func confirm(
        token: String,
        tokenID: String,
        _ settings: AccountSettings,
        from address: NetworkAddress? = nil
    ) async throws(ServiceError) {
        _ = try emailPasswordSettings(settings)
        try await guarded(settings, from: address) { () async throws(ServiceError) in
            guard let digest = UserToken.digest(token) else { throw AccountFailure.tokenUnknown }
            let rows = try await self.query(
                RegistrationStatements.useToken(
                    appID: settings.appID,
                    tokenID: tokenID,
                    digest: digest,
                    .confirm
                )
            )
            try Self.check(RegistrationStatements.readOutcome(rows))
        }
    }

    /// Sends the confirmation mail again.
    public func sendConfirmation(
        email: String,
        _ settings: AccountSettings,
        from address: NetworkAddress? = nil
    ) async throws(ServiceError) {
        let rules = try emailPasswordSettings(settings)
        try await requestMail(.confirm, email: email, settings, from: address) { () throws(ServiceError) in
            // Whoever need not confirm is confirmed already.
            guard !rules.autoConfirm else { return }
            guard !rules.runConfirmationFunction else { throw AccountFailure.confirmsByFunction }
            guard rules.emailConfirmationURL != nil else { throw AccountFailure.confirmationAddressMissing }
        }
    }

    /// Runs the confirmation function again, for a registration that it left pending.
    public func callConfirmation(
        email: String,
        _ settings: AccountSettings,
        from address: NetworkAddress? = nil
    ) async throws(ServiceError) {
        let rules = try emailPasswordSettings(settings)
        try await checkAccount(email, settings, from: address)
        if rules.autoConfirm { throw AccountFailure.automaticConfirmation(of: email) }
        guard rules.runConfirmationFunction else {
            throw AccountFailure.noConfirmationFunction(for: email)
        }
        guard let name = rules.confirmationFunctionName else {
            throw AccountFailure.confirmationFunctionMissing
        }
        try await confirm(email, by: name, settings)
    }

    // What confirmation and reset share

    /// What the app says of email and password, when it has that provider enabled.
    func emailPasswordSettings(_ settings: AccountSettings) throws(ServiceError) -> EmailPasswordSettings {
        guard case .emailPassword(let rules) = try provider(.emailPassword, settings).settings else {
            throw AccountFailure.providerNotFound(ProviderConfiguration.Kind.emailPassword.rawValue)
        }
        return rules
    }

    /// Counts what looks like guessing, and lets nobody guess too often.
    func guarded<Value: Sendable>(
        _ settings: AccountSettings,
        account: String? = nil,
        from address: NetworkAddress?,
        _ body: () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        let attempt = try throttle.begin(account: account, appID: settings.appID, from: address)
        do {
            return try await body()
        } catch {
            if error.code == .userNotFound || error.code == .userpassTokenInvalid
                || error.message == AccountFailure.tokenUnknown.message
            {
                try await failed(attempt)
            }
            throw error
        }
    }

    /// Refuses a name that nobody registered.
    func checkAccount(
        _ email: String,
        _ settings: AccountSettings,
        from address: NetworkAddress?
    ) async throws(ServiceError) {
        try await guarded(settings, from: address) { () async throws(ServiceError) in
            guard EmailPasswordProvider.isPlausible(username: email, password: "") else {
                throw AccountFailure.noSuchUser
            }
            let known = try await self.query(
                CredentialStatements.usernameExists(appID: settings.appID, username: email)
            )
            guard known.rowCount > 0 else { throw AccountFailure.noSuchUser }
        }
    }

    /// Puts a mail into the outbox.
    ///
    /// `configured` throws when the app's configuration stands against it; it is asked once the account is known
    /// to be there.
    func requestMail(
        _ purpose: AccountMailPurpose,
        email: String,
        _ settings: AccountSettings,
        from address: NetworkAddress?,
        configured: () throws(ServiceError) -> Void
    ) async throws(ServiceError) {
        try await checkAccount(email, settings, from: address)
        try configured()
        try checkMails(from: address)
        let rows = try await query(
            RegistrationStatements.queueMail(
                appID: settings.appID,
                username: email,
                purpose,
                most: limits.mailsPerAccount
            )
        )
        switch RegistrationStatements.readMailRequest(rows) {
        case .queued?: await mailQueued(from: address)
        case .unknown?: throw AccountFailure.noSuchUser
        case .confirmed?: throw AccountFailure.alreadyConfirmed
        case .tooMany(let seconds)?:
            throw TokenBuckets.refusal(
                wait: Int64(seconds) * 1_000_000_000,
                "mails to this account",
                limit: "mails-per-hour-per-account"
            )
        case nil: throw ServiceError(.internalServerError, "the outbox gave no answer")
        }
    }

    /// Translates what a token was worth.
    static func check(_ outcome: RegistrationStatements.TokenOutcome?) throws(ServiceError) {
        switch outcome {
        case .good?, .done?: return
        case .spent?: throw AccountFailure.tokenSpent
        case .unknown?: throw AccountFailure.tokenUnknown
        case .confirmed?: throw AccountFailure.alreadyConfirmed
        case nil: throw ServiceError(.internalServerError, "a token gave no answer")
        }
    }
}

import Accounts
public import BSON
public import Errors
import SQL
import Synchronization

/// Runs the functions that the configuration of an app's accounts names, as the system.
public protocol AccountFunctions: Sendable {
    /// Runs one.
    ///
    /// - Parameters:
    ///   - name: As in `functions/config.json`.
    ///   - arguments: What it is called with.
    ///   - appID: The app's internal id.
    /// - Returns: What it returned.
    /// - Throws: ``ServiceError`` as ``FunctionFailure`` lists them.
    func run(
        _ name: String,
        arguments: [BSONValue],
        appID: String
    ) async throws(ServiceError) -> BSONValue
}

// What functions decide about accounts: who logs in, who is confirmed, whose password is set anew.
// Source: `reference/functions.md` §11.
extension AccountService {
    /// Has the functions that an app's configuration names run by somebody; without, they are not found.
    ///
    /// Not an argument of the initializer, since whoever runs functions asks for the users that they run as.
    public func callFunctions(through functions: any AccountFunctions) {
        self.functions.withLock { $0 = functions }
    }

    /// Runs a function of the app as the system, for a login, a registration or a reset.
    func run(
        _ name: String,
        _ arguments: [BSONValue],
        _ settings: AccountSettings
    ) async throws(ServiceError) -> BSONValue {
        guard let functions = functions.withLock({ $0 }) else { throw FunctionFailure.notFound(name) }
        return try await functions.run(name, arguments: arguments, appID: settings.appID)
    }

    /// The identity that a function gives to whoever sent a payload: a text, or `{id, name}`.
    func identity(
        byFunction name: String,
        _ payload: BSONDocument,
        _ settings: AccountSettings
    ) async throws(ServiceError) -> ForeignIdentity {
        let answer: BSONValue
        do throws(ServiceError) {
            answer = try await run(name, [.document(payload)], settings)
        } catch {
            guard Self.isOfTheFunction(error) else { throw error }
            throw AccountFailure.functionRefused(error.sentence, error)
        }
        var data = BSONDocument()
        var id = answer
        if case .document(let parts) = answer {
            id = parts["id"] ?? .null
            if let name = parts["name"]?.string { data.append("name", .string(name)) }
        }
        // An ObjectId is what many a function has at hand, although a text is asked for.
        if case .objectID(let number) = id { id = .string(number.hex) }
        guard case .string(let text) = id, !text.isEmpty, text.utf8.count <= 1024, !text.utf8.contains(0)
        else {
            throw AccountFailure.functionRefused(nil, AccountFailure.Reason("the function named nobody"))
        }
        return ForeignIdentity(id: text, data: data, goodUntil: .max)
    }

    /// What a function for confirmation or reset says.
    private enum Verdict: String {
        case success
        case pending
        case fail
    }

    private static func verdict(_ answer: BSONValue) -> Verdict {
        answer.document?["status"]?.string.flatMap(Verdict.init(rawValue:)) ?? .fail
    }

    /// Whether an error comes of what the function did, and not of our being busy.
    private static func isOfTheFunction(_ error: ServiceError) -> Bool {
        switch error.code {
        case .functionExecutionError, .functionSyntaxError, .executionTimeLimitExceeded: true
        default: false
        }
    }

    private struct FunctionToken {
        let id: String
        let text: String
        let digest: [UInt8]
    }

    private func newToken() throws(ServiceError) -> FunctionToken {
        var random = SystemRandomNumberGenerator()
        let text = UserToken.make(random: &random)
        guard let digest = UserToken.digest(text) else {
            throw ServiceError(.internalServerError, "a token cannot be made")
        }
        return FunctionToken(id: newID().hex, text: text, digest: digest)
    }

    /// Registers a user whom a function confirms: at once, later by the token, or not at all.
    func register(
        _ email: String,
        hash: String,
        identityID: String,
        confirmedBy name: String,
        _ settings: AccountSettings
    ) async throws(ServiceError) {
        let token = try newToken()
        let made = try await query(
            RegistrationStatements.registerForFunction(
                appID: settings.appID,
                username: email,
                hash: hash,
                identityID: identityID,
                tokenID: token.id,
                digest: token.digest
            )
        )
        guard made.affectedRows > 0 else { throw AccountFailure.nameInUse }
        do throws(ServiceError) {
            try await confirm(email, token, by: name, settings)
        } catch {
            // The name is free again, whatever went wrong.
            _ = try await query(RegistrationStatements.withdraw(appID: settings.appID, tokenID: token.id))
            throw error
        }
    }

    /// Asks the function again about a registration that waits.
    func confirm(
        _ email: String,
        by name: String,
        _ settings: AccountSettings
    ) async throws(ServiceError) {
        let token = try newToken()
        try await issue(token, .confirm, email, settings)
        do throws(ServiceError) {
            try await confirm(email, token, by: name, settings)
        } catch {
            _ = try await query(RegistrationStatements.revokeToken(appID: settings.appID, tokenID: token.id))
            throw error
        }
    }

    private func confirm(
        _ email: String,
        _ token: FunctionToken,
        by name: String,
        _ settings: AccountSettings
    ) async throws(ServiceError) {
        let argument: BSONDocument = [
            "token": .string(token.text), "tokenId": .string(token.id), "username": .string(email),
        ]
        let answer: BSONValue
        do throws(ServiceError) {
            answer = try await run(name, [.document(argument)], settings)
        } catch {
            throw Self.isOfTheFunction(error) ? AccountFailure.notConfirmed(email, error) : error
        }
        switch Self.verdict(answer) {
        case .pending: return
        case .fail:
            throw AccountFailure.notConfirmed(email, AccountFailure.Reason("the function said no"))
        case .success:
            let rows = try await query(
                RegistrationStatements.useToken(
                    appID: settings.appID,
                    tokenID: token.id,
                    digest: token.digest,
                    .confirm
                )
            )
            try Self.check(RegistrationStatements.readOutcome(rows))
        }
    }

    /// Sets another password if a function agrees, and ends every session of the user; a pending one waits for the
    /// token that the function was given.
    func reset(
        _ email: String,
        to password: String,
        by name: String,
        _ extra: [BSONValue],
        _ settings: AccountSettings
    ) async throws(ServiceError) {
        let token = try newToken()
        try await issue(token, .reset, email, settings)
        let argument: BSONDocument = [
            "username": .string(email), "password": .string(password), "token": .string(token.text),
            "tokenId": .string(token.id),
            "currentPasswordValid": .bool(try await isPassword(password, of: email, settings)),
        ]
        do throws(ServiceError) {
            let answer = try await run(name, [.document(argument)] + extra, settings)
            switch Self.verdict(answer) {
            case .pending: return
            case .fail: throw AccountFailure.notReset(email, nil)
            case .success:
                let hash = try await hash(password)
                let rows = try await query(
                    RegistrationStatements.useToken(
                        appID: settings.appID,
                        tokenID: token.id,
                        digest: token.digest,
                        .reset,
                        hash: hash.text
                    )
                )
                try Self.check(RegistrationStatements.readOutcome(rows))
            }
        } catch {
            _ = try await query(RegistrationStatements.revokeToken(appID: settings.appID, tokenID: token.id))
            throw Self.isOfTheFunction(error) ? AccountFailure.notReset(email, error) : error
        }
    }

    private func issue(
        _ token: FunctionToken,
        _ purpose: AccountMailPurpose,
        _ email: String,
        _ settings: AccountSettings
    ) async throws(ServiceError) {
        let rows = try await query(
            RegistrationStatements.issueFunctionToken(
                appID: settings.appID,
                username: email,
                purpose,
                tokenID: token.id,
                digest: token.digest
            )
        )
        switch RegistrationStatements.readOutcome(rows) {
        case .good?: return
        case .confirmed?: throw AccountFailure.alreadyConfirmed
        default: throw AccountFailure.noSuchUser
        }
    }

    /// Whether a password is the one that the account has now.
    private func isPassword(
        _ password: String,
        of email: String,
        _ settings: AccountSettings
    ) async throws(ServiceError) -> Bool {
        let rows = try await query(CredentialStatements.password(appID: settings.appID, username: email))
        guard let stored = try CredentialStatements.readPassword(rows, appID: settings.appID),
            let hash = PasswordHash(text: stored.hash)
        else { return false }
        return try await passwords.run { hash.verify(password) }
    }
}

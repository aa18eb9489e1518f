public import Accounts
public import BSON
import Errors
public import Mail
public import Observability
public import Postgres
import SQL

/// Sends what waits in the outbox, at once and again, until cancelled.
///
/// Any number of gateways may run it: each mail is claimed by one for some minutes, so that one that dies leaves
/// it to the next. The token in a mail is made for each attempt and known to nobody but its reader.
public struct MailDelivery: Sendable {
    /// How often it looks for mails whose next attempt is due.
    static let interval = Duration.seconds(5)

    private let database: Database
    private let carriers: [any MailCarrier]
    private let sender: MailSender
    private let ids: ObjectIDGenerator
    private let apps: @Sendable (_ appID: String) -> AccountSettings?
    private let now: @Sendable () -> Int64
    private let observer: Observer?

    /// Made of its parts.
    ///
    /// - Parameters:
    ///   - database: Where the outbox is.
    ///   - carriers: Each takes every mail; one that fails has all try again.
    ///   - sender: Who mails come from.
    ///   - ids: Makes ids of tokens.
    ///   - apps: The settings in force of an app by its internal id.
    ///   - now: Milliseconds since 1970.
    ///   - observer: Learns of failures of the database.
    public init(
        database: Database,
        carriers: [any MailCarrier],
        sender: MailSender,
        ids: ObjectIDGenerator,
        apps: @escaping @Sendable (_ appID: String) -> AccountSettings?,
        now: @escaping @Sendable () -> Int64,
        observer: Observer? = nil
    ) {
        self.database = database
        self.carriers = carriers
        self.sender = sender
        self.ids = ids
        self.apps = apps
        self.now = now
        self.observer = observer
    }

    /// Delivers when a mail is announced, and every few seconds what failed before.
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in database.notifications(["tidegate_outbox"]) { await deliverAll() }
            }
            group.addTask {
                while !Task.isCancelled {
                    await deliverAll()
                    try? await Task.sleep(for: Self.interval)
                }
            }
        }
    }

    /// Tries everything that is due.
    ///
    /// - Returns: How many mails were tried.
    @discardableResult
    public func deliverAll() async -> Int {
        var tried = 0
        do throws(ServiceError) {
            while !Task.isCancelled {
                let rows = try await database.run(RegistrationStatements.claimMail)
                guard let mail = RegistrationStatements.readClaimed(rows) else { break }
                tried += 1
                let failure = await deliver(mail)
                _ = try await database.run(RegistrationStatements.finishMail(mail.id, failure: failure))
            }
        } catch {
            // While the database is away the pool tells of it; the rest is of interest here.
            if error.code != .maintenanceInProgress {
                observer?.record(.internalError(error, requestID: nil))
            }
        }
        return tried
    }

    /// - Returns: Why it failed, nil when it did not.
    private func deliver(_ claimed: RegistrationStatements.ClaimedMail) async -> String? {
        guard let app = apps(claimed.appID),
            case .emailPassword(let rules)? = app.enabledProvider(.emailPassword)?.settings
        else { return "the app does not serve local-userpass" }
        let address = claimed.purpose == .confirm ? rules.emailConfirmationURL : rules.resetPasswordURL
        guard let address else {
            return claimed.purpose == .confirm
                ? "emailConfirmationUrl is not set" : "resetPasswordUrl is not set"
        }
        guard MailAddress.isPlain(claimed.username) else { return "no mail can be sent to this address" }
        var random = SystemRandomNumberGenerator()
        let token = UserToken.make(random: &random)
        let seconds = now() / 1000
        let tokenID = ids.next(seconds: UInt32(truncatingIfNeeded: seconds)).hex
        guard let digest = UserToken.digest(token) else { return "the token cannot be stored" }
        let text = AccountMail(
            subject: claimed.subject,
            body: claimed.body,
            recipient: claimed.username,
            app: app.clientAppID,
            address: address,
            token: token,
            tokenID: tokenID
        )
        let message = MailMessage(
            sender: sender,
            recipient: text.recipient,
            subject: text.subject,
            body: text.body,
            id: tokenID,
            date: seconds
        )
        do throws(ServiceError) {
            let issued = try await database.run(
                RegistrationStatements.issueToken(mail: claimed.id, tokenID: tokenID, digest: digest)
            )
            guard issued.rowCount > 0 else { return "the claim ran out" }
            for carrier in carriers { try await carrier.carry(message) }
            return nil
        } catch {
            return error.message
        }
    }
}

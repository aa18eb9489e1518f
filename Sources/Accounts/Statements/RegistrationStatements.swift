public import SQL

/// All SQL about registrations, the tokens that mails carry, and the mails themselves.
public enum RegistrationStatements {
    /// A registration that a mail asks to confirm; no row is made when the username is taken.
    public static func registerPending(
        appID: String,
        username: String,
        hash: String,
        identityID: String
    ) -> SQLFragment {
        """
        SELECT 1 WHERE tidegate.register_pending(\(bind: .text(appID)), \(bind: .text(username)), \
        \(bind: .text(hash)), \(bind: .text(identityID)))
        """
    }

    /// What came of asking for a mail.
    public enum MailRequest: Sendable, Equatable {
        case queued
        /// No such account, or none that the mail is meant for.
        case unknown
        case confirmed
        case tooMany(waitSeconds: Int)
    }

    /// Asks for a mail; at most so many an hour for an account, 0 for any number.
    public static func queueMail(
        appID: String,
        username: String,
        _ purpose: AccountMailPurpose,
        most: Int
    ) -> SQLFragment {
        """
        SELECT outcome, wait_seconds FROM tidegate.queue_mail(\(bind: .text(appID)), \(bind: .text(username)), \
        \(bind: .text(purpose.rawValue)), \(bind: .int4(Int32(clamping: most))))
        """
    }

    /// The row of ``queueMail(appID:username:_:most:)``.
    public static func readMailRequest(_ rows: ResultSet) -> MailRequest? {
        guard rows.rowCount > 0 else { return nil }
        return switch rows.text(0, 0) {
        case "queued": .queued
        case "unknown": .unknown
        case "confirmed": .confirmed
        case "too many": .tooMany(waitSeconds: rows.int(0, 1) ?? 1)
        default: nil
        }
    }

    /// What a token was worth.
    public enum TokenOutcome: String, Sendable {
        /// It may be used.
        case good
        /// It was used now.
        case done
        /// It was used before, or is too old.
        case spent
        case unknown
        /// There was nothing left to confirm.
        case confirmed
    }

    /// Looks at a token without using it.
    public static func checkToken(
        appID: String,
        tokenID: String,
        digest: [UInt8],
        _ purpose: AccountMailPurpose
    ) -> SQLFragment {
        """
        SELECT tidegate.check_user_token(\(bind: .text(appID)), \(bind: .text(tokenID)), \
        \(bind: .bytes(digest)), \(bind: .text(purpose.rawValue)))
        """
    }

    /// Uses a token: confirms an account, or gives it another password hash.
    public static func useToken(
        appID: String,
        tokenID: String,
        digest: [UInt8],
        _ purpose: AccountMailPurpose,
        hash: String? = nil
    ) -> SQLFragment {
        let hash: SQLFragment = hash.map { .bind(.text($0)) } ?? "NULL"
        return """
            SELECT tidegate.use_user_token(\(bind: .text(appID)), \(bind: .text(tokenID)), \
            \(bind: .bytes(digest)), \(bind: .text(purpose.rawValue)), \(hash))
            """
    }

    /// The word of ``checkToken(appID:tokenID:digest:_:)`` and ``useToken(appID:tokenID:digest:_:hash:)``.
    public static func readOutcome(_ rows: ResultSet) -> TokenOutcome? {
        rows.rowCount > 0 ? rows.text(0, 0).flatMap(TokenOutcome.init(rawValue:)) : nil
    }

    /// A mail that is due, kept from others for some minutes.
    public struct ClaimedMail: Sendable {
        /// The row in the outbox.
        public let id: Int64
        /// 24 hexadecimal digits of the app.
        public let appID: String
        /// The address that it goes to.
        public let username: String
        /// What it is about.
        public let purpose: AccountMailPurpose
        /// A template.
        public let subject: String
        /// A template.
        public let body: String
    }

    /// Takes the mail that has been due longest.
    public static let claimMail: SQLFragment =
        "SELECT mail, app, username, purpose, subject, body FROM tidegate.claim_mail()"

    /// The row of ``claimMail``, nil when nothing is due.
    public static func readClaimed(_ rows: ResultSet) -> ClaimedMail? {
        guard rows.rowCount > 0, let id = rows.int(0, 0), let appID = rows.text(0, 1),
            let username = rows.text(0, 2),
            let purpose = rows.text(0, 3).flatMap(AccountMailPurpose.init(rawValue:)),
            let subject = rows.text(0, 4), let body = rows.text(0, 5)
        else { return nil }
        return ClaimedMail(
            id: Int64(id),
            appID: appID,
            username: username,
            purpose: purpose,
            subject: subject,
            body: body
        )
    }

    /// Makes the token of a claimed mail good; no row when the mail is no longer ours.
    public static func issueToken(mail: Int64, tokenID: String, digest: [UInt8]) -> SQLFragment {
        """
        SELECT 1 WHERE tidegate.issue_user_token(\(bind: .int(mail)), \(bind: .text(tokenID)), \
        \(bind: .bytes(digest)), make_interval(secs => \(bind: .double(Double(UserToken.lifetimeSeconds)))))
        """
    }

    /// A registration that a function is about to decide on; no row is made when the username is taken.
    public static func registerForFunction(
        appID: String,
        username: String,
        hash: String,
        identityID: String,
        tokenID: String,
        digest: [UInt8]
    ) -> SQLFragment {
        """
        SELECT 1 WHERE tidegate.register_for_function(\(bind: .text(appID)), \(bind: .text(username)), \
        \(bind: .text(hash)), \(bind: .text(identityID)), \(bind: .text(tokenID)), \(bind: .bytes(digest)), \
        \(lifetime))
        """
    }

    /// Removes a registration that its function refused.
    public static func withdraw(appID: String, tokenID: String) -> SQLFragment {
        "SELECT tidegate.withdraw_registration(\(bind: .text(appID)), \(bind: .text(tokenID)))"
    }

    /// Makes a token that a function is given; the answer is ``TokenOutcome``.
    public static func issueFunctionToken(
        appID: String,
        username: String,
        _ purpose: AccountMailPurpose,
        tokenID: String,
        digest: [UInt8]
    ) -> SQLFragment {
        """
        SELECT tidegate.issue_function_token(\(bind: .text(appID)), \(bind: .text(username)), \
        \(bind: .text(purpose.rawValue)), \(bind: .text(tokenID)), \(bind: .bytes(digest)), \(lifetime))
        """
    }

    /// Makes a token good for nothing.
    public static func revokeToken(appID: String, tokenID: String) -> SQLFragment {
        "SELECT tidegate.revoke_user_token(\(bind: .text(appID)), \(bind: .text(tokenID)))"
    }

    private static var lifetime: SQLFragment {
        "make_interval(secs => \(bind: .double(Double(UserToken.lifetimeSeconds))))"
    }

    /// Notes that a mail was sent, or why it was not.
    public static func finishMail(_ mail: Int64, failure: String?) -> SQLFragment {
        let failure: SQLFragment = failure.map { .bind(.text($0)) } ?? "NULL"
        return "SELECT tidegate.finish_mail(\(bind: .int(mail)), \(failure))"
    }

    /// Removes mails and tokens that nobody needs any more.
    public static let trim: SQLFragment = "SELECT tidegate.trim_mails()"
}

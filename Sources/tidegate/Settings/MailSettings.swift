import Errors
import Mail

/// Where mails go, and who they come from.
struct MailSettings: Sendable {
    var server: SMTPServer?
    var sender: MailSender?
    /// A directory that gets every mail as a file, too; set in development.
    var folder: String?

    /// - Throws: `InvalidSetting` that names the setting.
    init(_ values: SettingValues) throws(ServiceError) {
        if let text = values.text(.mailFrom) {
            guard let sender = MailSender(text) else {
                throw ServiceError(
                    .invalidSetting,
                    "mail-from must be an address, or a name and an address: Example <noreply@example.com>"
                )
            }
            self.sender = sender
        }
        let port = try values.integer(.smtpPort, in: 1...65535)
        let word = values.text(.smtpTLS) ?? ""
        guard let security = SMTPServer.Security(rawValue: word) else {
            throw ServiceError(.invalidSetting, "smtp-tls must be starttls, tls or off, not '\(word)'")
        }
        let user = values.text(.smtpUser)
        let password = values.text(.smtpPassword)
        guard (user == nil) == (password == nil) else {
            throw ServiceError(.invalidSetting, "smtp-user and smtp-password go together")
        }
        guard let host = values.text(.smtpHost) else { return }
        guard sender != nil else { throw ServiceError(.invalidSetting, "smtp-host needs mail-from") }
        guard host.utf8.allSatisfy({ Self.isPartOfHost($0) }) else {
            throw ServiceError(.invalidSetting, "smtp-host must be a name or an address without port")
        }
        let isHere = ["localhost", "127.0.0.1", "::1"].contains(host)
        if user != nil, security == .off, !isHere {
            throw ServiceError(.invalidSetting, "smtp-tls must not be off where a password is sent")
        }
        server = SMTPServer(
            host: host,
            port: port,
            security: security,
            username: user,
            password: password,
            authorities: values.text(.smtpCA)
        )
    }

    /// The sender of mails that go nowhere but into ``folder``.
    static let developer = MailSender("tidegate@localhost")

    private static func isPartOfHost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: ":"):
            true
        default: false
        }
    }
}

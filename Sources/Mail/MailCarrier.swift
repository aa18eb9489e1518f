import CMail
public import Errors
import Threading

/// Whatever takes a mail away.
public protocol MailCarrier: Sendable {
    /// Hands one mail over.
    ///
    /// - Throws: ``ServiceError`` `internalServerError` with the reason, which is fit for operators.
    func carry(_ mail: MailMessage) async throws(ServiceError)
}

/// A mail server that mails are handed in to; the only user of libcurl.
public struct SMTPServer: MailCarrier {
    /// How the connection is protected.
    public enum Security: String, Sendable, CaseIterable {
        /// TLS after the greeting; nothing is sent before.
        case starttls
        /// TLS from the first byte.
        case tls
        /// In the clear.
        case off
    }

    private let host: String
    private let port: Int
    private let security: Security
    private let username: String?
    private let password: String?
    private let authorities: String?

    /// Made of its parts; without a username it does not log in.
    ///
    /// `authorities` is a PEM file of those who may vouch for the server's certificate; nil means the system's.
    public init(
        host: String,
        port: Int,
        security: Security,
        username: String?,
        password: String?,
        authorities: String? = nil
    ) {
        self.host = host
        self.port = port
        self.security = security
        self.username = username
        self.password = password
        self.authorities = authorities
    }

    /// Speaks to the server on a thread of its own, for at most a minute.
    public func carry(_ mail: MailMessage) async throws(ServiceError) {
        let reason = await withUnsafeContinuation { (waiting: UnsafeContinuation<String?, Never>) in
            DedicatedThread.start(name: "smtp") { [self] in waiting.resume(returning: send(mail)) }
        }
        if let reason { throw ServiceError(.internalServerError, "\(reason)") }
    }

    /// - Returns: Why it failed, nil when it did not.
    private func send(_ mail: MailMessage) -> String? {
        let authority = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        let url = (security == .tls ? "smtps://" : "smtp://") + authority
        let message = mail.bytes
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer in
            guard let reason = buffer.baseAddress else { return "no memory" }
            reason.initialize(repeating: 0, count: 512)
            let code = Self.withOptional(username) { username in
                Self.withOptional(password) { password in
                    Self.withOptional(authorities) { authorities in
                        url.withCString { url in
                            var server = cmail_server(
                                url: url,
                                username: username,
                                password: password,
                                authorities: authorities,
                                requires_tls: security == .off ? 0 : 1,
                                connect_seconds: 15,
                                total_seconds: 60
                            )
                            return message.withUnsafeBufferPointer { message in
                                message.withMemoryRebound(to: CChar.self) { message in
                                    cmail_send(
                                        &server,
                                        "<\(mail.sender.address)>",
                                        "<\(mail.recipient)>",
                                        message.baseAddress,
                                        message.count,
                                        reason,
                                        512
                                    )
                                }
                            }
                        }
                    }
                }
            }
            return code == 0 ? nil : String(cString: reason)
        }
    }

    private static func withOptional<Result>(
        _ text: String?,
        _ body: (UnsafePointer<CChar>?) -> Result
    ) -> Result {
        guard let text else { return body(nil) }
        return text.withCString { body($0) }
    }
}

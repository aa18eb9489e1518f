import Errors
import Foundation
import Synchronization
import Testing

@testable import Mail

/// Mail servers that speak TLS, each with a certificate of its own authority.
@Suite("A mail server over TLS")
struct TLSTests {
    private func send(
        to sink: TLSMailSink,
        _ security: SMTPServer.Security,
        authorities: String?
    ) async throws -> ServiceError? {
        let mail = MailMessage(
            sender: try #require(MailSender("Shop <noreply@shop.example>")),
            recipient: "ann@example.com",
            subject: "Hello",
            body: "a secret link",
            id: "65f0c0ffee00000000000001",
            date: 0
        )
        let server = SMTPServer(
            host: "127.0.0.1",
            port: sink.port,
            security: security,
            username: "shop",
            password: "hush",
            authorities: authorities
        )
        do throws(ServiceError) {
            try await server.carry(mail)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "gets mails, and sees login and mail only once the connection is TLS",
        arguments: [SMTPServer.Security.tls, .starttls]
    )
    func taken(security: SMTPServer.Security) async throws {
        let sink = try await TLSMailSink(startsWithTLS: security == .tls)
        #expect(try await send(to: sink, security, authorities: sink.authorities) == nil)
        let lines = sink.talk.lines.withLock { $0 }
        #expect(lines.contains { $0.hasPrefix("AUTH PLAIN") })
        #expect(lines.contains { $0.uppercased().hasPrefix("MAIL FROM:<NOREPLY@SHOP.EXAMPLE>") })
        #expect(lines.contains("a secret link"))
        let before = sink.talk.inTheClear.withLock { $0 }
        #expect(before.allSatisfy { $0.hasPrefix("EHLO") || $0 == "STARTTLS" }, "\(before)")
        #expect(before.isEmpty == (security == .tls))
        try await sink.stop()
    }

    @Test(
        "gets nothing, not even a login, when nobody vouches for its certificate",
        arguments: [SMTPServer.Security.tls, .starttls]
    )
    func untrusted(security: SMTPServer.Security) async throws {
        let sink = try await TLSMailSink(startsWithTLS: security == .tls)
        let error = try await send(to: sink, security, authorities: nil)
        #expect(error?.message.lowercased().contains("certificate") == true, "\(String(describing: error))")
        #expect(sink.talk.lines.withLock { $0 }.isEmpty)
        try await sink.stop()
    }
}

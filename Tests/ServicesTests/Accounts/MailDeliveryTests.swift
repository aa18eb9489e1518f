import Accounts
import BSON
import Errors
import Foundation
import Mail
import Postgres
import SQL
import Synchronization
import TestSupport
import Testing

@testable import Services

extension AccountSuites {
    @Suite("Delivering mails")
    struct MailDeliveryTests {
        /// Notes what it is given, and fails as long as it is told to.
        final class Recorder: MailCarrier {
            let mails = Mutex<[MailMessage]>([])
            let failure = Mutex<String?>(nil)

            func carry(_ mail: MailMessage) async throws(ServiceError) {
                if let failure = failure.withLock({ $0 }) {
                    throw ServiceError(.internalServerError, "\(failure)")
                }
                mails.withLock { $0.append(mail) }
            }
        }

        static func settings(_ appID: String) -> AccountSettings {
            AccountSettings(
                appID: appID,
                clientAppID: AccountFixture.clientAppID,
                providers: [
                    "local-userpass": ProviderConfiguration(
                        kind: .emailPassword,
                        settings: .emailPassword(
                            EmailPasswordSettings(
                                emailConfirmationURL: "https://a/c",
                                resetPasswordURL: "https://a/r"
                            )
                        )
                    )
                ]
            )
        }

        private func delivery(_ accounts: AccountFixture, _ carriers: [any MailCarrier]) throws
            -> MailDelivery
        {
            let settings = Self.settings(accounts.appID)
            return MailDelivery(
                database: accounts.service.database,
                carriers: carriers,
                sender: try #require(MailSender("Shop <noreply@shop.example>")),
                ids: ObjectIDGenerator(processUnique: UInt64.random(in: 0..<1 << 40), counter: 0),
                apps: { $0 == settings.appID ? settings : nil },
                now: { Int64(Date().timeIntervalSince1970 * 1000) }
            )
        }

        private func register(_ accounts: AccountFixture, _ count: Int) async throws {
            for index in 0..<count {
                try await accounts.service.register(
                    email: "user\(index)@example.com",
                    password: "secret",
                    Self.settings(accounts.appID)
                )
            }
        }

        @Test("it sends each mail once, with any number of gateways at it", .postgres)
        func once() async throws {
            try await withAccounts { accounts in
                try await register(accounts, 20)
                let recorder = Recorder()
                let deliveries = try (0..<4).map { _ in try delivery(accounts, [recorder]) }
                let tried = await withTaskGroup(of: Int.self) { group in
                    for delivery in deliveries { group.addTask { await delivery.deliverAll() } }
                    return await group.reduce(0, +)
                }
                #expect(tried == 20)
                let recipients = recorder.mails.withLock { $0.map(\.recipient) }
                #expect(recipients.count == 20)
                #expect(Set(recipients).count == 20)
                let states = try await accounts.administer(
                    "SELECT string_agg(DISTINCT state, ',') FROM tidegate.outbox"
                )
                #expect(states == "sent")
            }
        }

        @Test("it tries again with growing pauses, says why in SQL, and gives up after a day", .postgres)
        func retries() async throws {
            try await withAccounts { accounts in
                try await register(accounts, 1)
                let recorder = Recorder()
                recorder.failure.withLock { $0 = "550 no such mailbox" }
                let delivery = try delivery(accounts, [recorder])
                func row() async throws -> String? {
                    try await accounts.administer(
                        """
                        SELECT concat_ws('|', state, attempts, message, round(extract(epoch FROM next_at - now())))
                        FROM tidegate.list_outbox('todo-abcde')
                        """
                    )
                }
                #expect(await delivery.deliverAll() == 1)
                let first = try #require(try await row())
                #expect(first.hasPrefix("waiting|1|550 no such mailbox|"))
                // Not before its time.
                #expect(await delivery.deliverAll() == 0)
                var pauses: [Int] = []
                for _ in 0..<12 {
                    _ = try await accounts.database.run("UPDATE tidegate.outbox SET next_at = now()")
                    #expect(await delivery.deliverAll() == 1)
                    let pause = try #require(try await row()).split(separator: "|").last.flatMap { Int($0) }
                    pauses.append(try #require(pause))
                }
                #expect(pauses == pauses.sorted())
                #expect(pauses.last.map { $0 <= 3600 } == true)
                _ = try await accounts.database.run(
                    "UPDATE tidegate.outbox SET next_at = now(), created_at = now() - interval '25 hours'"
                )
                #expect(await delivery.deliverAll() == 1)
                #expect(try await row()?.hasPrefix("failed|14|550 no such mailbox") == true)
                // An administrator has it tried again, now that the mailbox is there.
                recorder.failure.withLock { $0 = nil }
                let id = try #require(
                    try await accounts.administer("SELECT mail FROM tidegate.list_outbox('todo-abcde')")
                )
                try await accounts.administer(
                    "SELECT tidegate.retry_mail('todo-abcde', \(bind: .int(Int64(id) ?? 0)))"
                )
                #expect(await delivery.deliverAll() == 1)
                #expect(try await row()?.hasPrefix("sent|15") == true)
                // The token of every attempt is good for its reader, and for one use in all.
                let body = try #require(recorder.mails.withLock { $0.first?.body })
                let token = String(body.firstMatch(of: /token=([0-9a-f]{64})/)?.1 ?? "")
                let tokenID = String(body.firstMatch(of: /tokenId=([0-9a-f]{24})/)?.1 ?? "")
                let settings = Self.settings(accounts.appID)
                try await accounts.service.confirm(token: token, tokenID: tokenID, settings)
                let open = try await accounts.administer(
                    "SELECT count(*) FROM tidegate.user_tokens WHERE used_at IS NULL"
                )
                #expect(open == "0")
            }
        }

        @Test("a gateway that dies with a mail leaves it to the next", .postgres)
        func claims() async throws {
            try await withAccounts { accounts in
                try await register(accounts, 1)
                _ = try await accounts.database.run(RegistrationStatements.claimMail)
                let recorder = Recorder()
                let delivery = try delivery(accounts, [recorder])
                #expect(await delivery.deliverAll() == 0)
                _ = try await accounts.database.run(
                    "UPDATE tidegate.outbox SET claimed_until = now() - interval '1 second'"
                )
                #expect(await delivery.deliverAll() == 1)
                #expect(recorder.mails.withLock { $0.count } == 1)
            }
        }

        @Test("it hands mails in by SMTP, with a login, and passes on why the server would not", .postgres)
        func smtp() async throws {
            try await withAccounts { accounts in
                try await register(accounts, 1)
                let sink = try MailSink()
                let server = SMTPServer(
                    host: "127.0.0.1",
                    port: Int(sink.port),
                    security: .off,
                    username: "shop",
                    password: "hush"
                )
                sink.refuse("550 no such mailbox here")
                let delivery = try delivery(accounts, [server])
                #expect(await delivery.deliverAll() == 1)
                let message = try await accounts.administer("SELECT message FROM tidegate.outbox")
                #expect(message?.contains("550 no such mailbox here") == true, "\(message ?? "")")
                #expect(message?.contains("hush") == false)
                sink.refuse(nil)
                _ = try await accounts.database.run("UPDATE tidegate.outbox SET next_at = now()")
                #expect(await delivery.deliverAll() == 1)
                let mail = try #require(sink.mails.first)
                #expect(mail.sender.contains("<noreply@shop.example>"))
                #expect(mail.recipient.contains("<user0@example.com>"))
                #expect(mail.login == "\u{0}shop\u{0}hush")
                #expect(mail.lines.first == #"From: "Shop" <noreply@shop.example>"#)
                #expect(mail.lines.contains { $0.hasPrefix("https://a/c?token=") })
                // Where TLS is wanted and not offered, nothing is sent.
                let strict = SMTPServer(
                    host: "127.0.0.1",
                    port: Int(sink.port),
                    security: .starttls,
                    username: "shop",
                    password: "hush"
                )
                let failure = await accounts.error {
                    try await strict.carry(
                        MailMessage(
                            sender: try #require(MailSender("a@b.c")),
                            recipient: "d@e.f",
                            subject: "s",
                            body: "b",
                            id: "1",
                            date: 0
                        )
                    )
                }
                #expect(failure != nil)
                #expect(sink.mails.count == 1)
            }
        }
    }
}

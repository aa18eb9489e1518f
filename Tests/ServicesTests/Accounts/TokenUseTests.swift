import Accounts
import BSON
import Errors
import Foundation
import Postgres
import SQL
import TestSupport
import Testing

@testable import Services

extension AccountSuites {
    @Suite("Tokens out of mails")
    struct TokenUseTests {
        private static let cheap = PasswordHash.Cost(logN: 4, r: 8, p: 1)

        /// A registered and confirmed account, and a token that its reset mail would carry.
        private func token(
            _ accounts: AccountFixture,
            _ settings: AccountSettings
        ) async throws -> (token: String, id: String) {
            let email = "ann-\(UUID().uuidString)@example.com"
            try await accounts.service.register(email: email, password: "secret", accounts.settings)
            try await accounts.service.sendReset(email: email, settings)
            let claimed = try #require(
                RegistrationStatements.readClaimed(
                    try await accounts.service.query(RegistrationStatements.claimMail)
                )
            )
            var random = SystemRandomNumberGenerator()
            let token = UserToken.make(random: &random)
            let id = accounts.service.newID().hex
            _ = try await accounts.service.query(
                RegistrationStatements.issueToken(
                    mail: claimed.id,
                    tokenID: id,
                    digest: try #require(UserToken.digest(token))
                )
            )
            return (token, id)
        }

        @Test("of fifty resets with one token at once one sets the password", .postgres)
        func parallel() async throws {
            try await withAccounts(limits: AccountLimits(passwordCost: Self.cheap)) { accounts in
                let settings = MailDeliveryTests.settings(accounts.appID)
                let (token, id) = try await token(accounts, settings)
                let outcomes = await withTaskGroup(of: (Int, ErrorCode?).self) { group in
                    for index in 0..<50 {
                        group.addTask {
                            let error = await accounts.error {
                                try await accounts.service.reset(
                                    token: token,
                                    tokenID: id,
                                    password: "password \(index)",
                                    settings
                                )
                            }
                            return (index, error?.code)
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                let winners = outcomes.filter { $0.1 == nil }.map(\.0)
                #expect(winners.count == 1)
                #expect(outcomes.filter { $0.1 == .userpassTokenInvalid }.count == 49)
                let email = try #require(
                    try await accounts.administer("SELECT username FROM tidegate.password_hashes")
                )
                let winner = try #require(winners.first)
                _ = try await accounts.service.logIn(
                    .emailPassword(username: email, password: "password \(winner)"),
                    accounts.settings
                )
            }
        }

        @Test("a token that is not good costs no password hash", .postgres)
        func work() async throws {
            try await withAccounts(limits: AccountLimits(passwordCost: Self.cheap)) { accounts in
                let settings = MailDeliveryTests.settings(accounts.appID)
                let (token, id) = try await token(accounts, settings)
                let turns = accounts.service.passwords.turns
                for (bad, badID) in [
                    (String(token.reversed()), id), (token, accounts.service.newID().hex), ("x", "y"),
                ] {
                    let error = await accounts.error {
                        try await accounts.service.reset(
                            token: bad,
                            tokenID: badID,
                            password: "another",
                            settings
                        )
                    }
                    #expect(error?.message == "invalid token data")
                }
                #expect(accounts.service.passwords.turns == turns)
            }
        }

        @Test("tries at tokens and names are counted by address, as failed logins are", .postgres)
        func guessing() async throws {
            let limits = AccountLimits(passwordCost: Self.cheap, failedLoginsPerAddress: 3)
            try await withAccounts(limits: limits) { accounts in
                let settings = MailDeliveryTests.settings(accounts.appID)
                let service = accounts.service
                try await service.register(email: "ann@example.com", password: "secret", accounts.settings)
                let tries: [(NetworkAddress?) async throws -> Void] = [
                    { try await service.confirm(token: "x", tokenID: "y", settings, from: $0) },
                    {
                        try await service.reset(
                            token: "x",
                            tokenID: "y",
                            password: "another",
                            settings,
                            from: $0
                        )
                    },
                    { try await service.sendReset(email: "nobody@example.com", settings, from: $0) },
                    {
                        try await service.register(
                            email: "ann@example.com",
                            password: "another",
                            accounts.settings,
                            from: $0
                        )
                    },
                ]
                for (index, attempt) in tries.enumerated() {
                    let address = NetworkAddress("192.0.2.\(index + 1)")
                    for _ in 0..<3 {
                        let error = await accounts.error { try await attempt(address) }
                        #expect(error != nil && error?.code != .tooManyRequests)
                    }
                    let error = await accounts.error { try await attempt(address) }
                    #expect(error?.code == .tooManyRequests)
                    #expect(error?.details["retryAfter"] != nil)
                    // Others are not kept out.
                    let stranger = NetworkAddress("198.51.100.\(index + 1)")
                    let other = await accounts.error { try await attempt(stranger) }
                    #expect(other?.code != .tooManyRequests)
                }
            }
        }

        @Test("mails are counted by address", .postgres)
        func mails() async throws {
            let limits = AccountLimits(passwordCost: Self.cheap, mailsPerAddress: 2)
            try await withAccounts(limits: limits) { accounts in
                let settings = MailDeliveryTests.settings(accounts.appID)
                let address = NetworkAddress("192.0.2.1")
                for index in 0..<2 {
                    try await accounts.service.register(
                        email: "user\(index)@example.com",
                        password: "secret",
                        settings,
                        from: address
                    )
                }
                for email in ["user2@example.com", "user0@example.com"] {
                    let error = await accounts.error {
                        if email == "user2@example.com" {
                            try await accounts.service.register(
                                email: email,
                                password: "secret",
                                settings,
                                from: address
                            )
                        } else {
                            try await accounts.service.sendConfirmation(
                                email: email,
                                settings,
                                from: address
                            )
                        }
                    }
                    #expect(error?.code == .tooManyRequests)
                    #expect(error?.details["limit"] == "mails-per-hour-per-address")
                }
                let count = try await accounts.administer("SELECT count(*) FROM tidegate.outbox")
                #expect(count == "2")
            }
        }
    }
}

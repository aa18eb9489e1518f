import Accounts
import BSON
import Errors
import Foundation
import Postgres
import TestSupport
import Testing

@testable import Services

extension AccountSuites {
    @Suite("Failed logins, counted by two gateways together")
    struct SharedAttemptTests {
        private static let cheap = PasswordHash.Cost(logN: 4, r: 8, p: 1)

        /// Another gateway on the same database.
        private func second(_ accounts: AccountFixture, _ limits: AccountLimits) -> AccountService {
            let box = accounts.settingsBox
            return AccountService(
                database: accounts.service.database,
                apps: { id in box.value.appID == id ? box.value : nil },
                ids: ObjectIDGenerator(processUnique: UInt64.random(in: 0..<1 << 40), counter: 0),
                limits: limits,
                fetchKeys: { _ in throw ServiceError(.internalServerError, "no keys") },
                now: { Int64(Date().timeIntervalSince1970 * 1000) }
            )
        }

        @Test("what one gateway has answered, another does not answer again", .postgres)
        func together() async throws {
            let limits = AccountLimits(
                passwordCost: Self.cheap,
                failedLoginsPerAddress: 0,
                failedLoginsPerAccount: 1
            )
            try await withAccounts(limits: limits) { accounts in
                let gateways = [accounts.service, second(accounts, limits)]
                try await gateways[0].register(
                    email: "ann@example.com",
                    password: "secret",
                    accounts.settings
                )
                func guess(_ gateway: AccountService, _ name: String, from address: String) async
                    -> ServiceError?
                {
                    await accounts.error {
                        _ = try await gateway.logIn(
                            .emailPassword(username: name, password: "wrong"),
                            accounts.settings,
                            from: NetworkAddress(address)
                        )
                    }
                }
                for name in ["ann@example.com", "nobody@example.com"] {
                    #expect(await guess(gateways[0], name, from: "192.0.2.1")?.code == .invalidPassword)
                    // It has heard of nothing, and finds out when it counts.
                    let refused = await guess(gateways[1], name, from: "192.0.2.1")
                    #expect(refused?.code == .tooManyRequests)
                    #expect(refused?.details["limit"] == "failed-logins-per-minute-per-account")
                    #expect(refused?.details["retryAfter"] != nil)
                    // The count is by account and address.
                    #expect(await guess(gateways[1], name, from: "192.0.2.2")?.code == .invalidPassword)
                }
                // A success asks nobody.
                _ = try await gateways[1].logIn(
                    .emailPassword(username: "ann@example.com", password: "secret"),
                    accounts.settings,
                    from: NetworkAddress("192.0.2.3")
                )
            }
        }

        @Test("a gateway that hears of an empty bucket turns the next try away before it costs", .postgres)
        func heard() async throws {
            let limits = AccountLimits(
                passwordCost: Self.cheap,
                failedLoginsPerAddress: 1,
                failedLoginsPerAccount: 0
            )
            try await withAccounts(limits: limits) { accounts in
                try await accounts.following {
                    let other = second(accounts, limits)
                    let address = NetworkAddress("192.0.2.1")
                    _ = await accounts.error {
                        _ = try await other.logIn(.apiKey("nonsense"), accounts.settings, from: address)
                    }
                    let turns = accounts.service.passwords.turns
                    let heard = try await AccountFixture.eventually {
                        do {
                            _ = try accounts.service.throttle.begin(
                                .apiKey("another"),
                                appID: accounts.appID,
                                from: address
                            )
                            return false
                        } catch {
                            return true
                        }
                    }
                    #expect(heard)
                    let refused = await accounts.error {
                        _ = try await accounts.service.logIn(
                            .emailPassword(username: "ann@example.com", password: "secret"),
                            accounts.settings,
                            from: address
                        )
                    }
                    #expect(refused?.details["limit"] == "failed-logins-per-minute-per-address")
                    #expect(accounts.service.passwords.turns == turns)
                }
            }
        }

        @Test("many at once, on both, get no more answers than there may be", .postgres)
        func atOnce() async throws {
            let limits = AccountLimits(
                passwordCost: Self.cheap,
                failedLoginsPerAddress: 0,
                failedLoginsPerAccount: 3
            )
            try await withAccounts(limits: limits) { accounts in
                let gateways = [accounts.service, second(accounts, limits)]
                let settings = accounts.settings
                let codes = await withTaskGroup(of: ErrorCode?.self) { group in
                    for index in 0..<30 {
                        group.addTask {
                            do throws(ServiceError) {
                                _ = try await gateways[index % 2].logIn(
                                    .emailPassword(username: "ann@example.com", password: "wrong"),
                                    settings,
                                    from: NetworkAddress("192.0.2.1")
                                )
                                return nil
                            } catch {
                                return error.code
                            }
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                // A token comes back every twenty seconds, should this take so long; one that is taken for an answer
                // that came to nothing may not be back in time.
                #expect(codes.filter { $0 == .invalidPassword }.count >= 1)
                #expect(codes.filter { $0 == .invalidPassword }.count < 15)
                #expect(codes.allSatisfy { $0 == .invalidPassword || $0 == .tooManyRequests })
            }
        }
    }
}

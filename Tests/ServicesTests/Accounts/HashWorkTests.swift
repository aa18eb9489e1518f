import Accounts
import Errors
import Postgres
import SQL
import TestSupport
import Testing

@testable import Services

/// Work is counted, not timed: who has an account must not show in how much a login costs.
@Suite("Work of a login", .postgres)
struct HashWorkTests {
    @Test("a known name, an unknown one and a password set in SQL cost one turn of hashing each")
    func work() async throws {
        let database = TestDatabase.current.database
        let accounts = try await AccountFixture(database, gateway: database)
        try await accounts.service.register(email: "known@b.c", password: "right-password", accounts.settings)
        _ = try await accounts.administer(
            "SELECT tidegate.create_user('todo-abcde', 'sql@b.c', 'right-password')"
        )
        let queue = accounts.service.passwords
        for name in [
            "known@b.c", "sql@b.c", "nobody@b.c", "KNOWN@b.c", "x", String(repeating: "n", count: 200),
        ] {
            let before = queue.turns
            let refusal = await accounts.error {
                _ = try await accounts.service.logIn(
                    .emailPassword(username: name, password: "wrong-password"),
                    accounts.settings
                )
            }
            #expect(refusal?.code == .invalidPassword, "\(name)")
            #expect(queue.turns == before + 1, "\(name)")
        }
    }
}

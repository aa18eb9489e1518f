import Postgres
import SQL
import Services
import TestSupport
import Testing

/// Suites that need a PostgreSQL; each test has a database of its own.
@Suite("Accounts")
struct AccountSuites {}

/// Runs a test with the trait `.postgres` against an account service with an app of its own.
///
/// The service has the privileges of a gateway and no more; the fixture administers as the superuser.
func withAccounts(
    limits: AccountLimits? = nil,
    _ body: (AccountFixture) async throws -> Void
) async throws {
    let test = TestDatabase.current
    let gateway = Database(
        settings: .patient(test.connectionString + " options='-c role=tidegate_gateway'", maxConnections: 8)
    )
    do {
        let role = try await gateway.run("SELECT current_user")
        #expect(role.text(0, 0) == "tidegate_gateway")
        try await body(try await AccountFixture(test.database, gateway: gateway, limits: limits))
    } catch {
        await gateway.close()
        throw error
    }
    await gateway.close()
}

import Postgres
import Services
import TestSupport
import Testing

/// Suites that need a PostgreSQL; each test has a database of its own.
@Suite("Accounts")
struct AccountSuites {}

/// Runs a test with the trait `.postgres` against an account service with an app of its own.
func withAccounts(
    limits: AccountLimits? = nil,
    _ body: (AccountFixture) async throws -> Void
) async throws {
    try await body(try await AccountFixture(TestDatabase.current.database, limits: limits))
}

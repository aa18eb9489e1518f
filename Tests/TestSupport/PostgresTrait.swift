public import Postgres
public import Testing

/// A database for one suite or test, dropped with the cluster.
public struct TestDatabase: Sendable {
    /// A pool on it.
    public let database: Database
    /// How to reach it, for pools of other settings and for psql.
    public let connectionString: String

    @TaskLocal static var inScope: TestDatabase?

    /// The database of the suite or test that is running.
    public static var current: TestDatabase {
        guard let inScope else { preconditionFailure("add .postgres to the suite's or test's traits") }
        return inScope
    }
}

/// Gives a suite (all its tests together) or a test a fresh database: `@Suite("…", .postgres)`.
public struct PostgresTrait: SuiteTrait, TestTrait, TestScoping {
    let isMigrated: Bool

    /// Makes the database, lends it to the tests, and closes the pool.
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let connectionString = try await TestCluster.shared.makeDatabase(migrated: isMigrated)
        let database = Database(
            settings: .patient(connectionString, maxConnections: 8)
        )
        let scope = TestDatabase(database: database, connectionString: connectionString)
        do {
            try await TestDatabase.$inScope.withValue(scope) { try await function() }
        } catch {
            await database.close()
            throw error
        }
        await database.close()
    }
}

extension Trait where Self == PostgresTrait {
    /// A database made from the migrations.
    public static var postgres: Self { PostgresTrait(isMigrated: true) }
    /// A database without anything in it.
    public static var emptyPostgres: Self { PostgresTrait(isMigrated: false) }
}

import Errors
import Migrations
import Postgres
import SQL
import TestSupport
import Testing

@Suite("Migrator")
struct MigratorTests {
    private func file(_ number: Int, _ name: String, _ text: String) throws -> Migration {
        try Migration(fileName: "000\(number)_\(name)", bytes: Array(text.utf8))
    }

    @Test("applies each migration once, in order", .emptyPostgres)
    func appliesOnce() async throws {
        let migrator = Migrator(database: TestDatabase.current.database)
        let first = try file(1, "a", "CREATE TABLE public.a (n int); INSERT INTO public.a VALUES (1);")
        let second = try file(2, "b", "SET search_path = public; INSERT INTO a VALUES (2)")
        #expect(try await migrator.status([first, second]).due.map(\.number) == [1, 2])
        #expect(try await migrator.migrate([first]) == [first])
        #expect(try await migrator.migrate([first, second]) == [second])
        #expect(try await migrator.migrate([first, second]) == [])
        let rows = try await TestDatabase.current.database.run("SELECT count(*) FROM public.a")
        #expect(rows.int(0, 0) == 2)
        #expect(try await migrator.status([first, second]).applied.map(\.name) == ["a", "b"])
    }

    @Test("undoes a migration that fails and keeps those before it", .emptyPostgres)
    func undoesFailed() async throws {
        let migrator = Migrator(database: TestDatabase.current.database)
        let good = try file(1, "good", "CREATE TABLE public.good ()")
        let bad = try file(2, "bad", "CREATE TABLE public.bad (); SELECT nonsense;")
        let error = await #expect(throws: ServiceError.self) { try await migrator.migrate([good, bad]) }
        #expect(error?.details["migration"] == "2_bad")
        #expect(error?.details["reason"]?.contains("nonsense") == true)
        let tables = try await TestDatabase.current.database.run(
            "SELECT to_regclass('public.good') IS NOT NULL, to_regclass('public.bad') IS NULL"
        )
        #expect(tables.bool(0, 0) == true)
        #expect(tables.bool(0, 1) == true)
        #expect(try await migrator.status([good, bad]).due == [bad])
    }

    @Test("changes nothing when the database and the files disagree", .emptyPostgres)
    func refusesDrift() async throws {
        let migrator = Migrator(database: TestDatabase.current.database)
        try await migrator.migrate([try file(1, "a", "SELECT 1")])
        let edited = [try file(1, "a", "SELECT 2"), try file(2, "b", "CREATE TABLE public.b ()")]
        let error = await #expect(throws: ServiceError.self) { try await migrator.migrate(edited) }
        #expect(error?.code == .migrationDrift)
        let table = try await TestDatabase.current.database.run("SELECT to_regclass('public.b') IS NULL")
        #expect(table.bool(0, 0) == true)
    }

    @Test("may be run by several gateways at once", .emptyPostgres)
    func runsTogether() async throws {
        let database = TestDatabase.current.database
        let files = try (1...5).map {
            try file($0, "n", "CREATE TABLE public.t\($0) (); SELECT pg_sleep(0.02)")
        }
        let applied = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 { group.addTask { try await Migrator(database: database).migrate(files).count } }
            return try await group.reduce(0, +)
        }
        #expect(applied == 5)
    }

    @Test("applies tidegate's own migrations", .postgres)
    func appliesOwn() async throws {
        let plan = try await Migrator(database: TestDatabase.current.database).status()
        #expect(plan.due.isEmpty)
        #expect(try plan.applied.map(\.number) == Migration.embedded().map(\.number))
    }
}

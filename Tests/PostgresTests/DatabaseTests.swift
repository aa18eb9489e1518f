import Errors
import Observability
import SQL
import Synchronization
import TestSupport
import Testing

@testable import Postgres

@Suite("Database", .emptyPostgres)
struct DatabaseTests {
    private var database: Database { TestDatabase.current.database }

    private func pool(_ change: (inout PostgresSettings) -> Void = { _ in }, observer: Observer? = nil)
        -> Database
    {
        var settings = PostgresSettings.patient(TestDatabase.current.connectionString)
        change(&settings)
        return Database(settings: settings, observer: observer)
    }

    @Test(
        "sends every type so that it comes back",
        arguments: [
            ("SELECT \(bind: .text("a'b\\ü€🙂"))::text", "a'b\\ü€🙂"), ("SELECT \(bind: .text(""))::text", ""),
            ("SELECT \(bind: .bool(true))", "t"), ("SELECT \(bind: .bool(false))", "f"),
            ("SELECT \(bind: .int(.min))", "-9223372036854775808"), ("SELECT \(bind: .int4(-7))", "-7"),
            ("SELECT \(bind: .double(0.1))", "0.1"), ("SELECT \(bind: .double(.infinity))", "Infinity"),
            (
                "SELECT \(bind: .numeric("1234567890123456789012345678901234.50"))",
                "1234567890123456789012345678901234.50"
            ),
            (
                "SELECT \(bind: .textArray(["a", "b\"c", "", "NULL", "{,}"]))::text",
                #"{a,"b\"c","","NULL","{,}"}"#
            ),
            ("SELECT \(bind: .textArray([]))::text", "{}"),
            ("SELECT \(bind: .int4Array([1, -2]))::text", "{1,-2}"),
            ("SELECT \(bind: .intArray([.max]))::text", "{9223372036854775807}"),
            (
                "SELECT \(bind: .jsonb(Array(#"{"b": 1.50, "a": [null]}"#.utf8)))::text",
                #"{"a": [null], "b": 1.50}"#
            ),
            ("SELECT array_length(\(bind: .jsonbArray([Array("1".utf8), Array("{}".utf8)])), 1)", "2"),
            ("SELECT \(bind: .jsonpath("$.a ? (@ > 1)"))::text", #"$."a"?(@ > 1)"#),
            ("SELECT encode(\(bind: .bytes([0, 255, 39])), 'hex')", "00ff27"),
            ("SELECT \(bind: .timestamp(milliseconds: 0))::text", "1970-01-01 00:00:00+00"),
            ("SELECT \(bind: .timestamp(milliseconds: -1))::text", "1969-12-31 23:59:59.999+00"),
            (
                "SELECT \(bind: .timestamp(milliseconds: 1_700_098_765_431))::text",
                "2023-11-16 01:39:25.431+00"
            ),
        ] as [(SQLFragment, String)]
    )
    func sendsTypes(statement: SQLFragment, expected: String) async throws {
        #expect(try await database.run(statement).text(0, 0) == expected)
    }

    @Test("sends null")
    func sendsNull() async throws {
        let rows = try await database.run("SELECT \(bind: .null)::text, \(bind: .null)::jsonb IS NULL")
        #expect(rows.text(0, 0) == nil)
        #expect(rows.bool(0, 1) == true)
    }

    @Test("counts the rows that changed")
    func countsRows() async throws {
        _ = try await database.run("CREATE TABLE public.counted (n int)")
        #expect(try await database.run("INSERT INTO public.counted VALUES (1), (2), (3)").affectedRows == 3)
        #expect(try await database.run("DELETE FROM public.counted WHERE n > 1").affectedRows == 2)
        #expect(try await database.run("SELECT * FROM public.counted").columns == ["n"])
    }

    @Test(
        "refuses text and dates that cannot be stored, with a clear code",
        arguments: [
            "SELECT \(bind: .text("a\u{0}b"))::text", "SELECT \(bind: .jsonb(Array("\"\\u0000\"".utf8)))",
            "SELECT \(bind: .jsonb([0x22, 0xff, 0x22]))", "SELECT \(bind: .jsonb(Array("{".utf8)))",
            "SELECT \(bind: .timestamp(milliseconds: .max))",
            "SELECT \(bind: .timestamp(milliseconds: .min))",
            "SELECT \(bind: .numeric("x"))", "SELECT \(bind: .numeric("1\u{0}2"))",
        ] as [SQLFragment]
    )
    func refusesBadValues(statement: SQLFragment) async throws {
        let error = await #expect(throws: ServiceError.self) { try await database.run(statement) }
        #expect(error?.code == .invalidParameter)
        #expect(try await database.run("SELECT 1").int(0, 0) == 1)
    }

    @Test("keeps the constraint's name for those who know the statement")
    func keepsConstraint() async throws {
        _ = try await database.run("CREATE TABLE public.keyed (n int CONSTRAINT only_once PRIMARY KEY)")
        _ = try await database.run("INSERT INTO public.keyed VALUES (1)")
        let error = await #expect(throws: ServiceError.self) {
            try await database.run("INSERT INTO public.keyed VALUES (1)")
        }
        #expect(error?.serverCode == .duplicateKey)
        #expect(error?.postgresFailure?.constraint == "only_once")
        #expect(error?.postgresFailure?.table == "keyed")
    }

    @Test("tells the operator of codes that nobody knows, not of those by which our functions answer")
    func tellsOfUnknownCodes() async throws {
        let told = Mutex<[String]>([])
        let database = pool(
            observer: Observer {
                if case .unmappedSQLState(let state, _) = $0 { told.withLock { $0.append(state) } }
            }
        )
        for state in ["TG002", "38001", "TG001"] {
            _ = try await database.run(
                """
                CREATE OR REPLACE FUNCTION public.answers(state text) RETURNS int LANGUAGE plpgsql AS
                'BEGIN RAISE EXCEPTION USING ERRCODE = state; END'
                """
            )
            let error = await #expect(throws: ServiceError.self) {
                try await database.run("SELECT public.answers(\(bind: .text(state)))")
            }
            #expect(error?.postgresFailure?.sqlState.code == state)
        }
        #expect(told.withLock { $0 } == ["38001"])
        await database.close()
    }

    @Test("stops a statement at the server when its deadline passes")
    func stopsAtDeadline() async throws {
        let error = await #expect(throws: ServiceError.self) {
            try await database.run("SELECT pg_sleep(633)", within: .milliseconds(100))
        }
        #expect(error?.code == .executionTimeLimitExceeded)
        let left = try await database.run(
            "SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(633)' AND state = 'active'"
        )
        #expect(left.int(0, 0) == 0)
    }

    @Test("stops a statement at the server when its task is cancelled")
    func stopsOnCancellation() async throws {
        let database = database
        let task = Task { try await database.run("SELECT pg_sleep(631)") }
        try await eventually {
            try await database.run(
                "SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(631)' AND state = 'active'"
            ).int(0, 0) == 1
        }
        task.cancel()
        let error = await #expect(throws: ServiceError.self) { try await task.value }
        #expect(error?.code == .executionTimeLimitExceeded)
    }

    @Test("does not let a cancel hit the statement that comes next")
    func cancelsNothingElse() async throws {
        let database = pool { $0.maxConnections = 1 }
        for _ in 0..<40 {
            let delay = Int.random(in: 0...6)
            _ = try? await database.run("SELECT pg_sleep(0.003)", within: .milliseconds(delay))
            #expect(try await database.run("SELECT count(*) FROM generate_series(1, 2000)").int(0, 0) == 2000)
        }
        await database.close()
    }

    @Test("lets short statements pass a slow one")
    func letsPass() async throws {
        let database = database
        let slow = Task { try await database.run("SELECT pg_sleep(600)") }
        for _ in 0..<20 { _ = try await database.run("SELECT 1") }
        slow.cancel()
        await #expect(throws: ServiceError.self, "it had not ended by itself") { try await slow.value }
    }

    @Test("gives up waiting for a connection after its time, and says that it is busy")
    func givesUpWaiting() async throws {
        let database = pool {
            $0.maxConnections = 1
            $0.acquireTimeout = .milliseconds(100)
        }
        // The timeout covers the opening of a connection, too, which may take longer on a busy machine.
        try await eventually { (try? await database.run("SELECT 1")) != nil }
        // Longer than any pause of a busy machine, so that the lease is seen; cancelled below.
        let slow = Task { try await database.run("SELECT pg_sleep(600)") }
        try await eventually { database.health.leased == 1 }
        let error = await #expect(throws: ServiceError.self) { try await database.run("SELECT 1") }
        #expect(error?.code == .maintenanceInProgress)
        slow.cancel()
        _ = try? await slow.value
        #expect(try await database.run("SELECT 1").int(0, 0) == 1)
        await database.close()
    }

    @Test("answers many callers over few connections, each its own")
    func answersMany() async throws {
        let database = database
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<500 {
                group.addTask {
                    let plan: PlanMode = number % 2 == 0 ? .custom : .generic
                    let rows = try await database.run("SELECT \(bind: .int(Int64(number)))", plan: plan)
                    return rows.int(0, 0) == number
                }
            }
            for try await isOwn in group { #expect(isOwn) }
        }
    }

    @Test("carries values and rows of megabytes")
    func carriesLarge() async throws {
        let big = String(repeating: "0123456789abcdef", count: 1 << 18)
        let rows = try await database.run(
            "SELECT \(bind: .text(big))::text FROM generate_series(1, 3)",
            within: .seconds(60)
        )
        #expect(rows.rowCount == 3)
        #expect(rows.text(2, 0)?.utf8.count == big.utf8.count)
    }

    @Test("prepares a statement again when its table has changed")
    func preparesAgain() async throws {
        let database = pool { $0.maxConnections = 1 }
        _ = try await database.run("CREATE TABLE public.changing (a int)")
        #expect(try await database.run("SELECT * FROM public.changing").columns == ["a"])
        _ = try await database.run("ALTER TABLE public.changing ADD COLUMN b int")
        #expect(try await database.run("SELECT * FROM public.changing").columns == ["a", "b"])
        await database.close()
    }

    @Test("prepares a statement again when the session has lost it, without running anything twice")
    func survivesDeallocation() async throws {
        let database = pool { $0.maxConnections = 1 }
        _ = try await database.run("CREATE TABLE public.once (a int)")
        _ = try await database.run("INSERT INTO public.once VALUES (1)")
        _ = try await database.run("DEALLOCATE ALL")
        _ = try await database.run("INSERT INTO public.once VALUES (1)")
        #expect(try await database.run("SELECT count(*) FROM public.once").int(0, 0) == 2)
        await database.close()
    }

    @Test("keeps no more prepared statements than it may")
    func boundsStatements() async throws {
        let database = pool {
            $0.maxConnections = 1
            $0.maxPreparedStatements = 5
        }
        for number in 0..<30 {
            let name = SQLIdentifier("c\(number)")
            _ = try await database.run("SELECT 1 AS \(name)")
        }
        let count = try await database.run("SELECT count(*) FROM pg_prepared_statements").int(0, 0)
        #expect(count == 5)
        await database.close()
    }

    @Test("runs each statement under the plan mode asked for, failures between them or not")
    func switchesPlanMode() async throws {
        let database = pool { $0.maxConnections = 1 }
        for round in 0..<6 {
            let plan: PlanMode = round % 2 == 0 ? .generic : .custom
            let mode = try await database.run("SELECT current_setting('plan_cache_mode')", plan: plan)
            #expect(mode.text(0, 0) == (plan == .generic ? "force_generic_plan" : "force_custom_plan"))
            _ = try? await database.run("SELECT 1/0", plan: plan == .generic ? .custom : .generic)
        }
        await database.close()
    }

    @Test("runs commands that refuse to share a transaction")
    func runsAlone() async throws {
        let database = pool { $0.maxConnections = 1 }
        _ = try await database.run("CREATE TABLE public.alone (a int)", plan: .generic)
        _ = try await database.run("CREATE INDEX CONCURRENTLY alone_a ON public.alone (a)", plan: .custom)
        await database.close()
    }

    @Test("closes a connection that a caller left inside a transaction")
    func closesUnclean() async throws {
        let database = pool { $0.maxConnections = 1 }
        _ = try await database.run("BEGIN")
        let state = try await database.run("SELECT pg_current_xact_id_if_assigned() IS NULL")
        #expect(state.bool(0, 0) == true)
        let count = try await database.run(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in %'"
        )
        #expect(count.int(0, 0) == 0)
        await database.close()
    }

    @Test("refuses COPY with its own connection only")
    func refusesCopy() async throws {
        let database = pool { $0.maxConnections = 1 }
        await #expect(throws: ServiceError.self) {
            try await database.run("COPY (SELECT 1) TO STDOUT", within: .seconds(5))
        }
        #expect(try await database.run("SELECT 1").int(0, 0) == 1)
        await database.close()
    }

    @Test("fails only the statement whose connection broke, and connects again")
    func connectsAgain() async throws {
        let lost = Mutex(0)
        let database = pool(
            { $0.maxConnections = 3 },
            observer: Observer { if case .connectionLost = $0 { lost.withLock { $0 += 1 } } }
        )
        let victim = Task { try await database.run("SELECT pg_sleep(620), 'victim'") }
        try await eventually {
            try await database.run(
                """
                SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                WHERE query = 'SELECT pg_sleep(620), ''victim''' AND state = 'active'
                """
            ).int(0, 0) == 1
        }
        let error = await #expect(throws: ServiceError.self) { try await victim.value }
        #expect(error?.code == .maintenanceInProgress)
        #expect(try await database.run("SELECT 1").int(0, 0) == 1)
        try await eventually { lost.withLock { $0 } == 1 }
        await database.close()
    }

    @Test("says why a server cannot be used")
    func saysWhy() async throws {
        let nowhere = Database(
            settings: PostgresSettings(connectionString: "host=/nonexistent dbname=x")
        )
        let error = await #expect(throws: ServiceError.self) { try await nowhere.check() }
        #expect(error?.code == .maintenanceInProgress)
        #expect(error?.details["reason"]?.contains("/nonexistent") == true)
        try await database.check()
        await nowhere.close()
    }

    @Test("refuses a database that is not UTF-8")
    func refusesEncoding() async throws {
        _ = try await database.run(
            "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"
        )
        let settings = PostgresSettings.patient(
            try await TestCluster.shared.cluster().connectionString(database: "latin")
        )
        let latin = Database(settings: settings)
        let error = await #expect(throws: ServiceError.self) { try await latin.check() }
        #expect(error?.code == .invalidSetting)
        #expect(error?.message.contains("SQL_ASCII") == true || error?.message.contains("LATIN1") == true)
        await latin.close()
    }

    @Test("finishes what runs before it closes, and takes in nothing after")
    func closesGracefully() async throws {
        let database = pool { $0.maxConnections = 2 }
        let holder = pool { $0.maxConnections = 1 }
        _ = try await holder.run("SELECT pg_advisory_lock(77)")
        let running = Task { try await database.run("SELECT pg_advisory_lock(77)") }
        try await eventually { database.health.leased == 1 }
        let closing = Task { await database.close() }
        _ = try await holder.run("SELECT pg_advisory_unlock(77)")
        await closing.value
        await holder.close()
        #expect(try await running.value.rowCount == 1)
        let error = await #expect(throws: ServiceError.self) { try await database.run("SELECT 1") }
        #expect(error?.code == .maintenanceInProgress)
    }

    @Test("runs scripts of many statements")
    func runsScripts() async throws {
        try await database.script(
            "CREATE TABLE public.scripted (a int); INSERT INTO public.scripted VALUES (1), (2);"
        )
        #expect(try await database.run("SELECT count(*) FROM public.scripted").int(0, 0) == 2)
        let error = await #expect(throws: ServiceError.self) {
            try await database.script("INSERT INTO public.scripted VALUES (3); SELECT nonsense")
        }
        #expect(error?.postgresFailure?.sqlState == SQLState("42703"))
        #expect(try await database.run("SELECT count(*) FROM public.scripted").int(0, 0) == 2)
    }
}

import Errors
import Observability
import Postgres
import SQL
import TestSupport
import Testing

@testable import Services

/// `tidegate.logs` in days, and what an operator asks of it.
@Suite("Days of the request log", .postgres, .serialized)
struct LogDaysTests {
    private let database = TestDatabase.current.database

    private func value(_ statement: SQLFragment) async throws -> String? {
        try await database.run(statement).text(0, 0)
    }

    private func insert(_ request: String, ago: String = "0", status: Int64 = 200) async throws {
        _ = try await database.run(
            """
            INSERT INTO tidegate.logs (at, type, method, route, status, duration_ms, database_ms, statements, request_id)
            SELECT now() - \(bind: .text(ago))::interval, 'API', 'GET', 'none', \(bind: .int(status)), 1, 0, 0, \(bind: .text(request))
            """
        )
    }

    private func days() async throws -> Int? {
        try await value(
            "SELECT count(*) FROM pg_inherits WHERE inhparent = 'tidegate.logs'::regclass"
        ).flatMap { Int($0) }
    }

    @Test("has the days around today from the start")
    func firstDays() async throws {
        try await insert("today")
        #expect(
            try await value("SELECT tableoid::regclass::text FROM tidegate.logs WHERE request_id = 'today'")?
                .hasPrefix("tidegate.logs_2") == true
        )
    }

    @Test("drops days that are over, and keeps those that are not")
    func trim() async throws {
        let before = try #require(try await days())
        for ago in [20, 15, 3] as [Int32] {
            _ = try await database.run(
                "SELECT tidegate.prepare_log_day((now() AT TIME ZONE 'UTC')::date - \(bind: .int4(ago)))"
            )
            try await insert("ago \(ago)", ago: "\(ago) days")
        }
        try await insert("in the rest", ago: "40 days")
        #expect(try await days() == before + 3)
        #expect(try await value("SELECT tidegate.trim_logs('10 days')") == "2")
        #expect(try await days() == before + 1)
        #expect(
            try await value(
                "SELECT string_agg(request_id, ',') FROM tidegate.logs WHERE at < now() - interval '1 day'"
            ) == "ago 3"
        )
        #expect(try await value("SELECT tidegate.trim_logs('10 days')") == "0")
    }

    @Test("moves rows of a day without a partition into it")
    func rest() async throws {
        let name = try #require(
            try await value("SELECT to_char(now() AT TIME ZONE 'UTC', '\"logs_\"YYYY_MM_DD')")
        )
        _ = try await database.run("DROP TABLE \(SQLIdentifier(schema: "tidegate", name))")
        try await insert("early")
        #expect(try await value("SELECT count(*) FROM tidegate.logs_rest WHERE request_id = 'early'") == "1")
        #expect(try await value("SELECT tidegate.sweep_logs('10 days')") == "0")
        #expect(
            try await value("SELECT tableoid::regclass::text FROM tidegate.logs WHERE request_id = 'early'")
                == "tidegate.\(name)"
        )
        #expect(try await value("SELECT count(*) FROM tidegate.logs_rest") == "0")
    }

    @Test("lets one gateway at a time sweep, and survives errors")
    func sweepers() async throws {
        try await database.transaction { transaction in
            _ = try await transaction.run(
                "SELECT pg_advisory_xact_lock(hashtextextended('tidegate.logs', 0))"
            )
            #expect(try await value("SELECT tidegate.sweep_logs('10 days')") == nil)
        }
        _ = try await database.run(
            "SELECT tidegate.prepare_log_day((now() AT TIME ZONE 'UTC')::date - 400)"
        )
        let before = try #require(try await days())
        let fixture = RequestLogFixture()
        let tasks = (0..<3).map { _ in Task { await fixture.log.sweep(on: database) } }
        try await eventually { try await days() == before - 1 }
        let lost = Task { await fixture.log.sweep(on: .nowhere) }
        for task in tasks + [lost] {
            task.cancel()
            await task.value
        }
    }

    @Test(
        "refuses bad arguments by the name of the field",
        arguments: [
            ("SELECT tidegate.trim_logs(NULL)", "keep"), ("SELECT tidegate.trim_logs('-1 day')", "keep"),
            ("SELECT tidegate.find_request('zz')", "request_id"),
            ("SELECT tidegate.recent_denials('nobody')", "app"),
            ("SELECT tidegate.recent_denials(NULL, '-1 day')", "since"),
            ("SELECT tidegate.slow_requests(NULL, '-1 day')", "at_least"),
            ("SELECT tidegate.list_logs(\"limit\" => 0)", "limit"),
            ("SELECT tidegate.errors_by_code('nobody')", "app"),
            ("SELECT tidegate.failing_addresses(NULL, NULL)", "since"),
        ] as [(SQLFragment, String)]
    )
    func badArguments(statement: SQLFragment, field: String) async throws {
        let error = await #expect(throws: ServiceError.self) { try await database.run(statement) }
        #expect(error?.postgresFailure?.message.hasPrefix(field + " ") == true)
        #expect(error?.postgresFailure?.sqlState == SQLState("22023"))
    }

    @Test(
        "can be read by those who may, and written by the gateway alone",
        arguments: ["tidegate_gateway", "tidegate_admin", "tidegate_readonly"]
    )
    func privileges(role: String) async throws {
        let mayWrite = role == "tidegate_gateway"
        try await database.transaction { transaction in
            _ = try await transaction.run("SET LOCAL ROLE \(SQLIdentifier(role))")
            _ = try await transaction.run("SELECT * FROM tidegate.logs LIMIT 1")
            _ = try await transaction.run("SELECT * FROM tidegate.errors_by_code()")
        }
        for (statement, isAllowed) in [
            ("INSERT INTO tidegate.logs SELECT * FROM tidegate.logs LIMIT 0", mayWrite),
            ("DELETE FROM tidegate.logs", false), ("UPDATE tidegate.logs SET role = ''", false),
            ("SELECT tidegate.sweep_logs('1000 days')", role != "tidegate_readonly"),
            ("SELECT tidegate.prepare_log_day('2020-01-01')", false),
        ] as [(SQLFragment, Bool)] {
            let error = await refusal(of: statement, as: role)
            #expect((error == nil) == isAllowed, "\(statement) \(String(describing: error))")
        }
    }

    private func refusal(of statement: SQLFragment, as role: String) async -> String? {
        do {
            try await database.transaction { transaction in
                _ = try await transaction.run("SET LOCAL ROLE \(SQLIdentifier(role))")
                _ = try await transaction.run(statement)
            }
            return nil
        } catch {
            return (error as? ServiceError)?.postgresFailure?.message ?? "\(error)"
        }
    }
}

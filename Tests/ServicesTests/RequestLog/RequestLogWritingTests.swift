import Observability
import Postgres
import SQL
import Synchronization
import TestSupport
import Testing

@testable import Services

extension Database {
    /// A pool that can reach nothing.
    static var nowhere: Database {
        Database(settings: PostgresSettings(connectionString: "host=/nowhere"))
    }
}

/// Rows on their way into `tidegate.logs`.
@Suite("Writing the request log", .postgres, .serialized)
struct RequestLogWritingTests {
    private let database = TestDatabase.current.database

    /// Every row whose operation is this, oldest first, columns with `|` between.
    private func rows(_ columns: SQLFragment, _ operation: String) async throws -> [String] {
        let result = try await database.run(
            "SELECT concat_ws('|', \(columns)) FROM tidegate.logs WHERE operation = \(bind: .text(operation)) ORDER BY request_id"
        )
        return (0..<result.rowCount).map { result.text($0, 0) ?? "" }
    }

    @Test("writes every column")
    func columns() async throws {
        let fixture = RequestLogFixture()
        fixture.log.take(
            fixture.record(1, status: 400) { facts in
                facts.userID = "65f0c0ffee0000000000aaaa"
                facts.operation = "columns"
                facts.namespace = "todo.Item"
                facts.errorCode = "NoMatchingRuleFound"
                facts.role = "owner"
                facts.reason = "denied by write permission"
                facts.statements = 2
                facts.address = "192.0.2.7"
            }
        )
        fixture.log.take(
            fixture.record(2, status: 200, method: "GE\u{1F}T", route: "/api/client/v2.0/auth/session") {
                facts in
                facts.operation = "columns"
                facts.mayWrite = true
            }
        )
        await fixture.log.flush(to: database)
        #expect(
            try await rows(
                """
                type, app, user_id, method, route, namespace, status, code, role, reason, statements,
                request_id, address, database_ms, at <= now() AND at > now() - interval '1 hour'
                """,
                "columns"
            ) == [
                "ENDPOINT|todo-abcde|65f0c0ffee0000000000aaaa|POST|/app/:appID/endpoint/data/:version/action/:action|todo.Item|400|NoMatchingRuleFound|owner|denied by write permission|2|\(fixture.prefix)00000001|192.0.2.7|0.000|t",
                "AUTH|todo-abcde|OTHER|/api/client/v2.0/auth/session|200|0|\(fixture.prefix)00000002|0.000|t",
            ]
        )
        #expect(fixture.lost == [:])
    }

    @Test("stores what PostgreSQL cannot hold as U+FFFD, and cuts what is long")
    func hostileText() async throws {
        let fixture = RequestLogFixture()
        let long = String(repeating: "ä", count: 100_000)
        for (number, text) in ["a\0b", "\u{FEFF}'; DROP TABLE x; --\\{\"", long].enumerated() {
            fixture.log.take(
                fixture.record(number) { facts in
                    facts.operation = "hostile"
                    facts.namespace = text
                }
            )
        }
        await fixture.log.flush(to: database)
        let stored = try await rows("namespace", "hostile")
        #expect(stored.count == 3)
        #expect(stored[0] == "a\u{FFFD}b")
        #expect(stored[1] == "\u{FEFF}'; DROP TABLE x; --\\{\"")
        #expect(stored[2].utf8.count < 410)
        #expect(stored[2].hasSuffix("ää…"))
    }

    @Test("loses none but the row that the database refuses", arguments: [0, 4, 9])
    func badRow(bad: Int) async throws {
        let operation = "bad \(bad)"
        _ = try await database.run(
            "ALTER TABLE tidegate.logs ADD CONSTRAINT test CHECK (role IS DISTINCT FROM 'bad') NOT VALID"
        )
        let fixture = RequestLogFixture()
        for number in 0..<10 {
            fixture.log.take(
                fixture.record(number) { facts in
                    facts.operation = operation
                    facts.role = number == bad ? "bad" : "good"
                }
            )
        }
        await fixture.log.flush(to: database)
        #expect(try await rows("role", operation) == Array(repeating: "good", count: 9))
        #expect(fixture.lost == [.refused: 1])
        _ = try await database.run("ALTER TABLE tidegate.logs DROP CONSTRAINT test")
    }

    @Test("keeps rows while they cannot be written, and writes each once")
    func away() async throws {
        let fixture = RequestLogFixture()
        let task = Task { await fixture.log.run(on: database) }
        _ = try await database.run("ALTER TABLE tidegate.logs RENAME TO gone")
        for number in 0..<1200 { fixture.log.take(fixture.record(number) { $0.operation = "away" }) }
        // The first batch has been tried, and put back.
        try await eventually { fixture.log.state.withLock { $0.repeatable > 0 } }
        // As if the answer to the first batch had been lost.
        _ = try await database.run("ALTER TABLE tidegate.gone RENAME TO logs")
        try await eventually { try await rows("status", "away").count == 1200 }
        task.cancel()
        await task.value
        #expect(try await rows("request_id", "away").count == 1200)
        #expect(fixture.lost == [:])
    }

    @Test("writes no row again that an unheard statement had written")
    func repetition() async throws {
        let fixture = RequestLogFixture()
        let records = (0..<3).map { fixture.record($0) { $0.operation = "repeated" } }
        for record in records.prefix(2) { fixture.log.take(record) }
        await fixture.log.flush(to: database)
        fixture.log.state.withLock { state in
            _ = state.waiting.putBack(Array(records))
            state.repeatable = 3
        }
        await fixture.log.flush(to: database)
        #expect(try await rows("right(request_id, 1)", "repeated") == ["0", "1", "2"])
    }

    @Test("writes no row again whatever the statements' sizes")
    func repetitionInPieces() async throws {
        let fixture = RequestLogFixture()
        let count = RequestLog.batch * 4
        let records = (0..<count).map { fixture.record($0) { $0.operation = "in pieces" } }
        for record in records { fixture.log.take(record) }
        await fixture.log.flush(to: database)
        let news = fixture.record(count) { $0.operation = "in pieces" }
        fixture.log.state.withLock { state in
            _ = state.waiting.putBack(records)
            state.repeatable = count
        }
        fixture.log.take(news)
        let task = Task { await fixture.log.run(on: database) }
        try await eventually { fixture.log.waiting == 0 && fixture.log.lag() == .zero }
        task.cancel()
        await task.value
        #expect(try await rows("request_id", "in pieces") == (records + [news]).map(\.requestID))
        #expect(fixture.log.state.withLock { $0.repeatable } == 0)
    }
}

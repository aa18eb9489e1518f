import Postgres
import SQL
import TestSupport
import Testing

@Suite("Notifications", .emptyPostgres)
struct NotificationTests {
    @Test("hears what is sent, and hears of every break")
    func hears() async throws {
        let database = TestDatabase.current.database
        var heard = database.notifications(["one", "Two \"x\""]).makeAsyncIterator()
        #expect(await heard.next() == .reconnected)
        _ = try await database.run("SELECT pg_notify('one', 'a'), pg_notify('other', 'b')")
        _ = try await database.run("SELECT pg_notify('Two \"x\"', 'ü')")
        #expect(await heard.next() == .received(channel: "one", payload: "a"))
        #expect(await heard.next() == .received(channel: "Two \"x\"", payload: "ü"))
        _ = try await database.run(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE application_name = 'tidegate listener' AND datname = current_database()
            """
        )
        #expect(await heard.next() == .reconnected)
        _ = try await database.run("SELECT pg_notify('one', 'c')")
        #expect(await heard.next() == .received(channel: "one", payload: "c"))
    }

    @Test("ends its connection with its stream")
    func ends() async throws {
        let database = TestDatabase.current.database
        let task = Task {
            for await _ in database.notifications(["ending"]) {}
        }
        // By name: the text of this very query stays visible on the pool's other connections.
        let listeners: SQLFragment = """
            SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND application_name = 'tidegate listener'
            """
        try await eventually { try await database.run(listeners).int(0, 0) == 1 }
        task.cancel()
        try await eventually { try await database.run(listeners).int(0, 0) == 0 }
    }
}

import Errors
import Postgres
import SQL
import TestSupport
import Testing

@Suite("Transactions", .emptyPostgres)
struct TransactionTests {
    private struct Refusal: Error {}

    private var database: Database { TestDatabase.current.database }

    private func count(_ table: String) async throws -> Int? {
        try await database.run("SELECT count(*) FROM \(SQLIdentifier(schema: "public", table))").int(0, 0)
    }

    @Test("keeps all or nothing")
    func keepsAllOrNothing() async throws {
        _ = try await database.run("CREATE TABLE public.whole (n int PRIMARY KEY)")
        let value = try await database.transaction { transaction in
            _ = try await transaction.run("INSERT INTO public.whole VALUES (1)")
            return try await transaction.run("INSERT INTO public.whole VALUES (2)").affectedRows
        }
        #expect(value == 1)
        #expect(try await count("whole") == 2)
        await #expect(throws: Refusal.self) {
            try await database.transaction { transaction in
                _ = try await transaction.run("DELETE FROM public.whole")
                throw Refusal()
            }
        }
        #expect(try await count("whole") == 2)
    }

    @Test("fails when a body hides that a statement failed")
    func failsWhenSpoilt() async throws {
        _ = try await database.run("CREATE TABLE public.spoilt (n int)")
        let error = await #expect(throws: ServiceError.self) {
            try await database.transaction { transaction in
                _ = try await transaction.run("INSERT INTO public.spoilt VALUES (1)")
                _ = try? await transaction.run("SELECT 1/0")
            }
        }
        #expect(error?.code == .internalServerError)
        #expect(try await count("spoilt") == 0)
    }

    @Test("runs in the isolation asked for")
    func isolates() async throws {
        let level = try await database.transaction(isolation: .serializable) { transaction in
            try await transaction.run("SHOW transaction_isolation").text(0, 0)
        }
        #expect(level == "serializable")
    }

    @Test("tells that a conflict is worth another attempt")
    func tellsConflict() async throws {
        _ = try await database.run("CREATE TABLE public.contested (n int)")
        _ = try await database.run("INSERT INTO public.contested VALUES (0)")
        let database = database
        let error = await #expect(throws: ServiceError.self) {
            try await database.transaction(isolation: .repeatableRead) { transaction in
                _ = try await transaction.run("SELECT n FROM public.contested")
                _ = try await database.run("UPDATE public.contested SET n = n + 1")
                _ = try await transaction.run("UPDATE public.contested SET n = n + 1")
            }
        }
        #expect(error?.postgresFailure?.isRetryable == true)
        #expect(error?.serverCode == .writeConflict)
    }

    @Test("undoes when its task is cancelled, and gives the connection back")
    func undoesOnCancellation() async throws {
        let database = Database(
            settings: .patient(TestDatabase.current.connectionString, maxConnections: 1)
        )
        _ = try await database.run("CREATE TABLE public.cancelled (n int)")
        let task = Task {
            try await database.transaction { transaction in
                _ = try await transaction.run("INSERT INTO public.cancelled VALUES (1)")
                _ = try await transaction.run("SELECT pg_sleep(600)")
            }
        }
        try await Task.sleep(for: .milliseconds(200))
        task.cancel()
        await #expect(throws: ServiceError.self) { try await task.value }
        #expect(try await database.run("SELECT count(*) FROM public.cancelled").int(0, 0) == 0)
        await database.close()
    }

    @Test("refuses a second statement at the same time, and use after its end")
    func refusesMisuse() async throws {
        let escaped = try await database.transaction { transaction in
            _ = try await transaction.run("SELECT 1")
            return transaction
        }
        await #expect(throws: ServiceError.self) { try await escaped.run("SELECT 1") }
        let holder = Database(
            settings: .patient(TestDatabase.current.connectionString, maxConnections: 1)
        )
        _ = try await holder.run("SELECT pg_advisory_lock(78)")
        try await database.transaction { transaction in
            async let slow = transaction.run("SELECT pg_advisory_lock(78)")
            try await eventually {
                try await holder.run("SELECT count(*) FROM pg_locks WHERE NOT granted AND objid = 78").int(
                    0,
                    0
                ) == 1
            }
            let error = await #expect(throws: ServiceError.self) { try await transaction.run("SELECT 1") }
            #expect(error?.code == .internalServerError)
            _ = try await holder.run("SELECT pg_advisory_unlock(78)")
            _ = try await slow
        }
        await holder.close()
    }

    @Test("ends with an error when its session breaks between two statements")
    func survivesLossBetweenStatements() async throws {
        let pool = Database(
            settings: .patient(TestDatabase.current.connectionString, maxConnections: 1)
        )
        let database = database
        let error = await #expect(throws: ServiceError.self) {
            try await pool.transaction { transaction in
                let session = try await transaction.run("SELECT pg_backend_pid()").int(0, 0) ?? 0
                _ = try await database.run("SELECT pg_terminate_backend(\(bind: .int4(Int32(session))))")
                try await eventually { pool.health.open == 0 }
                _ = try await transaction.run("SELECT 1")
            }
        }
        #expect(error?.code == .maintenanceInProgress)
        #expect(try await pool.run("SELECT 1").int(0, 0) == 1)
        await pool.close()
    }

    @Test("costs nothing when its body runs nothing")
    func costsNothing() async throws {
        let value = try await database.transaction { _ in 7 }
        #expect(value == 7)
    }
}

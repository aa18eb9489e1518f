import Accounts
import Errors
import MQL
import Postgres
import SQL
import TestSupport

@testable import Services

/// A relation that was there before, as the collection `todo.Mapped`, beside `todo.Own` with the same documents.
struct MappedFixture {
    static let columns = """
        id integer PRIMARY KEY, name text, qty integer, big bigint, weight double precision, at timestamptz(3),
        exact timestamptz, ref uuid, done boolean, tags text[], extra jsonb, price numeric(10,2), "ownerId" text
        """
    let fixture: DataFixture

    init(_ columns: String = Self.columns, as collection: String = "Mapped", mapping: String = "{}")
        async throws
    {
        fixture = try await DataFixture()
        _ = try await fixture.database.run("SELECT tidegate.create_app('maps')")
        try await fixture.database.script(
            "CREATE TABLE public.things (\(columns)); GRANT ALL ON public.things TO tidegate_owner"
        )
        try await map(collection, mapping)
    }

    func map(_ collection: String, _ mapping: String, relation: String = "public.things") async throws {
        _ = try await fixture.database.run(
            """
            SELECT tidegate.map_table('maps', 'todo', \(bind: .text(collection)), \(bind: .text(relation)), \
            \(bind: .jsonb(Array(mapping.utf8))))
            """
        )
    }

    /// What the server says against a mapping.
    func refusal(_ mapping: String, relation: String) async throws -> String? {
        do {
            try await map("Other", mapping, relation: relation)
            return nil
        } catch let error as ServiceError {
            return error.postgresFailure.map { "\($0.sqlState.code) \($0.message)" }
        }
    }

    /// The answer as text, or MongoDB's number of its refusal.
    func answer(
        _ action: String,
        _ collection: String,
        _ members: String,
        as caller: Principal = .system
    ) async throws -> String {
        do throws(ServiceError) {
            switch try await fixture.perform(action, collection, members, as: caller) {
            case .updated(let result): return "\(result.matched) \(result.modified)"
            case .deleted(let count), .counted(let count): return "\(count)"
            case .inserted, .insertedMany: return "inserted"
            case .values(let values): return "\(values)"
            case .bulkWritten(let result):
                return "\(result.matched) \(result.modified) \(result.errors.map(\.index))"
            case .document, .documents:
                return try await fixture.documents(action, collection, members, as: caller)
            }
        } catch {
            return error.serverCode.map { "error \($0.number)" } ?? "\(error.code) \(error.message)"
        }
    }
}

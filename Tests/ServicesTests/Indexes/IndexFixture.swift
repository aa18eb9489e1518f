import Accounts
import Errors
import Postgres
import SQL
import TestSupport

@testable import Services

/// The data service and an administrator who makes indexes on its collections.
struct IndexFixture {
    let fixture: DataFixture
    let maintenance: IndexMaintenance

    init() async throws {
        fixture = try await DataFixture()
        let row = try await fixture.database.run("SELECT current_database(), tidegate.create_app('indexes')")
        let name = row.text(0, 0) ?? ""
        maintenance = IndexMaintenance(
            database: fixture.database,
            settings: .patient(
                try await TestCluster.shared.cluster().connectionString(database: name),
                maxConnections: 1
            )
        )
    }

    /// Makes an index on `todo.Open`, and has the gateway hear of it.
    @discardableResult
    func create(_ keys: String, _ options: String = "{}", beyond limit: String? = nil) async throws -> String
    {
        let name = try await fixture.database.transaction { transaction in
            if let limit {
                _ = try await transaction.run(
                    "SELECT set_config('tidegate.promote_up_to', \(bind: .text(limit)), true)"
                )
            }
            return try await transaction.run(
                """
                SELECT tidegate.create_index('indexes', 'todo', 'Open', \(bind: .text(keys)), \
                \(bind: .jsonb(Array(options.utf8))))
                """
            ).text(0, 0) ?? ""
        }
        fixture.catalog.forgetAll()
        return name
    }

    /// What the server says against an index.
    func refusal(_ keys: String, _ options: String = "{}") async throws -> String? {
        do {
            try await create(keys, options)
            return nil
        } catch let error as ServiceError {
            return error.postgresFailure.map { "\($0.sqlState.code) \($0.message)" }
        }
    }

    /// `state message` of an index.
    func state(_ name: String) async throws -> String {
        let rows = try await fixture.database.run(
            """
            SELECT concat_ws(' ', state, message) FROM tidegate.list_indexes('indexes', 'todo', 'Open') \
            WHERE name = \(bind: .text(name))
            """
        )
        return rows.rowCount > 0 ? rows.text(0, 0) ?? "" : "none"
    }

    /// The `_id`s of a find, in its order.
    func ids(_ members: String) async throws -> String {
        let text = try await fixture.documents(
            "find",
            "Open",
            #"{"projection":{"_id":1}\#(members.isEmpty ? "" : ",")\#(members)}"#
        )
        return text.replacing(#"{"_id":"#, with: "").replacing("}", with: "")
    }
}

import Accounts
import AppDefinition
import BSON
import MQL
import Postgres
import Rules
import SQL
import Services
import TestSupport
import Testing

@Suite("Apps in force", .postgres, .serialized)
struct AppRegistryTests {
    private let database = TestDatabase.current.database
    private let items = Namespace(dataSource: "mongodb-atlas", database: "d", collection: "items")

    /// Two registries on one database, as two gateways have.
    private func withGateways(_ body: (AppRegistry, AppRegistry) async throws -> Void) async throws {
        let first = AppRegistry(database: database)
        let second = AppRegistry(database: database)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await first.run() }
            group.addTask { await second.run() }
            try await first.load()
            try await second.load()
            // Listening has begun when a change is heard.
            _ = try await database.run("SELECT tidegate.create_app('ping', 'ping')")
            try await eventually {
                first.app(clientAppID: "ping") != nil && second.app(clientAppID: "ping") != nil
            }
            try await body(first, second)
            _ = try await database.run("SELECT tidegate.drop_app('ping')")
            try await eventually {
                first.app(clientAppID: "ping") == nil && second.app(clientAppID: "ping") == nil
            }
            group.cancelAll()
        }
    }

    private func role(_ app: AppSnapshot?) -> String? {
        app?.rules(for: items)?.roles.first?.name
    }

    @Test("it follows a change by SQL in every gateway")
    func followsChanges() async throws {
        try await withGateways { first, second in
            _ = try await database.run("SELECT tidegate.create_app('todo', 'todo-abcde')")
            try await database.script(
                #"SELECT tidegate.set_rules('todo', 'mongodb-atlas', 'd', 'items', '{"roles": [{"name": "one", "apply_when": {}}]}')"#
            )
            try await eventually { role(first.app(clientAppID: "todo-abcde")) == "one" }
            try await eventually { role(second.app(clientAppID: "todo-abcde")) == "one" }
            let old = try #require(first.app(clientAppID: "todo-abcde"))
            try await database.script(
                #"SELECT tidegate.set_rules('todo', 'mongodb-atlas', 'd', 'items', '{"roles": [{"name": "two", "apply_when": {}}]}')"#
            )
            try await eventually { role(first.app(clientAppID: "todo-abcde")) == "two" }
            try await eventually { role(second.app(clientAppID: "todo-abcde")) == "two" }
            #expect(role(old) == "one", "a request under way keeps its snapshot")
            _ = try await database.run("SELECT tidegate.drop_app('todo')")
            try await eventually { first.app(clientAppID: "todo-abcde") == nil }
        }
    }

    @Test("it keeps the old snapshot when the new one does not check, and says why")
    func keepsOldSnapshot() async throws {
        try await withGateways { first, second in
            _ = try await database.run("SELECT tidegate.create_app('firm', 'firm-abcde')")
            try await database.script(
                #"SELECT tidegate.set_rules('firm', 'mongodb-atlas', 'd', 'items', '{"roles": [{"name": "good", "apply_when": {}}]}')"#
            )
            // Both, since either may be the one whose version the error names.
            try await eventually {
                role(first.app(clientAppID: "firm-abcde")) == "good"
                    && role(second.app(clientAppID: "firm-abcde")) == "good"
            }
            let version = try #require(first.app(clientAppID: "firm-abcde")).version
            // SQL checks the form; the expression is the gateway's to refuse.
            try await database.script(
                #"SELECT tidegate.set_rules('firm', 'mongodb-atlas', 'd', 'items', '{"roles": [{"name": "bad", "apply_when": {"a": {"$regex": "x"}}}]}')"#
            )
            try await eventually {
                try await database.run("SELECT * FROM tidegate.list_config_errors('firm')").rowCount > 0
            }
            let errors = try await database.run(
                "SELECT in_force, file, path, message FROM tidegate.list_config_errors('firm')"
            )
            #expect(errors.int(0, 0) == Int(version))
            #expect(errors.text(0, 1) == "data_sources/mongodb-atlas/d/items/rules.json")
            #expect(errors.text(0, 2)?.hasPrefix("$.roles[0].apply_when") == true)
            #expect(role(first.app(clientAppID: "firm-abcde")) == "good")
            try await database.script(
                #"SELECT tidegate.set_rules('firm', 'mongodb-atlas', 'd', 'items', '{"roles": [{"name": "mended", "apply_when": {}}]}')"#
            )
            try await eventually { role(first.app(clientAppID: "firm-abcde")) == "mended" }
        }
    }

    @Test("it gives default rules to collections without their own, and secrets to values")
    func snapshot() async throws {
        _ = try await database.run("SELECT tidegate.create_app('snap', 'snap-abcde')")
        try await database.script(
            """
            SELECT tidegate.set_default_rules('snap', 'mongodb-atlas', '{"roles": [{"name": "all", "apply_when": {}}]}');
            SELECT tidegate.set_rules('snap', 'mongodb-atlas', 'd', 'items', '{"roles": [{"name": "own", "apply_when": {}}]}');
            SELECT tidegate.set_secret('snap', 'key', 's3cret');
            SELECT tidegate.set_value_from_secret('snap', 'k', 'key');
            SELECT tidegate.set_value('snap', 'v', '[1]');
            SELECT tidegate.set_environment_values('snap', 'qa', '{"x": 1}');
            SELECT tidegate.set_environment('snap', 'qa');
            SELECT tidegate.set_provider('snap', 'anon-user', '{"disabled": false}');
            SELECT tidegate.set_data_api('snap', '{"disabled": false, "can_evaluate": {"%%request.httpMethod": "POST"}}')
            """
        )
        let registry = AppRegistry(database: database)
        try await registry.load()
        let app = try #require(registry.app(clientAppID: "snap-abcde"))
        let other = Namespace(dataSource: "mongodb-atlas", database: "d", collection: "other")
        #expect(role(app) == "own")
        #expect(app.rules(for: other)?.roles.map(\.name) == ["all"])
        #expect(app.rules(for: Namespace(dataSource: "none", database: "d", collection: "other")) == nil)
        #expect(app.values == ["k": "s3cret", "v": [1]])
        #expect(app.environmentTag == "qa")
        #expect(app.environmentValues == ["x": 1])
        #expect(app.accounts.enabledProvider(.anonymous) != nil)
        #expect(app.accounts.enabledProvider(.apiKey) == nil)
    }
}

import Errors
import Postgres
import SQL
import TestSupport
import Testing

/// Suites about the functions, views and roles of the database itself.
@Suite("Administration in the database")
struct AdministrationSuites {}

/// A database with an app that has one of everything, and statements as one of its roles.
struct AdministrationFixture: Sendable {
    let database: Database

    private struct RollBack: Error {}

    init() async throws {
        database = TestDatabase.current.database
        for statement in Self.preparation {
            _ = try await database.run(SQLFragment(stringLiteral: statement))
        }
    }

    /// Runs a statement in a role of the database and takes it back; what the server said against it.
    func refusal(of statement: String, as role: String = "tidegate_admin") async throws -> PostgresFailure? {
        do {
            try await database.transaction { transaction in
                _ = try await transaction.run(SQLFragment(stringLiteral: "SET LOCAL ROLE \(role)"))
                _ = try await transaction.run(SQLFragment(stringLiteral: statement))
                throw RollBack()
            }
            return nil
        } catch is RollBack {
            return nil
        } catch let error as ServiceError {
            guard let failure = error.postgresFailure else { throw error }
            return failure
        }
    }

    /// The rows of a statement, cells joined by `|`.
    func rows(_ statement: String) async throws -> [String] {
        let result = try await database.run(SQLFragment(stringLiteral: statement))
        return (0..<result.rowCount).map { row in
            result.columns.indices.map { result.text(row, $0) ?? "" }.joined(separator: "|")
        }
    }

    private static let preparation = [
        "SELECT tidegate.create_app('shop', 'shop-abcde')",
        "SELECT tidegate.add_data_source('shop', 'other')",
        """
        SELECT tidegate.set_schema('shop', 'mongodb-atlas', 'store', 'items',
            '{"properties": {"sku": {"bsonType": "string"}, "price": {"bsonType": "int"}}}')
        """,
        "SELECT tidegate.create_collection('store', 'empty')",
        "SELECT tidegate.create_index('shop', 'store', 'items', '{\"price\": 1}')",
        "CREATE TABLE public.legacy (id integer PRIMARY KEY, name text)",
        "GRANT SELECT ON public.legacy TO tidegate_owner, tidegate_admin",
        "SELECT tidegate.map_table('shop', 'store', 'legacy', 'public.legacy')",
        "SELECT tidegate.set_value('shop', 'v', '1')",
        """
        SELECT tidegate.set_sync('shop', '{"type": "partition", "state": "enabled", "service_name": "mongodb-atlas",
            "partition": {"key": "owner", "type": "string", "permissions": {"read": true, "write": true}}}')
        """,
        """
        WITH app AS (INSERT INTO tidegate.sync_apps (app, salt) SELECT id, 1 FROM tidegate.apps RETURNING app)
        INSERT INTO tidegate.sync_files (app, ident, salt, user_id) SELECT app, 2, 1, '65f0c0ffee00000000000001' FROM app
        """,
        "INSERT INTO tidegate.sync_schemas (app, version, schemas) SELECT id, n, '[]' FROM tidegate.apps, generate_series(0, 1) n",
        "SELECT tidegate.set_secret('shop', 's', 'a secret')",
        "SELECT tidegate.set_environment_values('shop', 'qa', '{}')",
        "SELECT tidegate.set_function('shop', 'f', 'exports = () => 1')",
        "SELECT tidegate.set_function('shop', 'g', 'exports = () => 1')",
        "SELECT tidegate.run_function('shop', 'g')",
        "SELECT tidegate.set_endpoint('shop', '/g', 'GET', '{\"function_name\": \"g\"}')",
        """
        SELECT tidegate.set_trigger('shop', 't',
            '{"type": "SCHEDULED", "config": {"schedule": "0 0 * * 1"}, "function_name": "g"}')
        """,
        "SELECT tidegate.set_provider('shop', 'api-key', '{}')",
        "SELECT tidegate.set_custom_user_data('shop', '{\"enabled\": false}')",
        "SELECT tidegate.create_user('shop', 'ann@example.com', 'correct horse')",
        "SELECT tidegate.create_user('shop', 'bob@example.com', 'battery staple')",
        "SELECT tidegate.create_api_key('shop', 'nightly')",
        "UPDATE tidegate.api_keys SET id = '65f0c0ffee00000000000002'",
        """
        INSERT INTO tidegate.password_hashes (app, username, hash, identity_id)
        VALUES (tidegate.app_id('shop'), 'new@example.com', '$x', 'i')
        """,
        """
        INSERT INTO tidegate.outbox (app, username, purpose)
        VALUES (tidegate.app_id('shop'), 'new@example.com', 'confirm')
        """,
        "SELECT tidegate.set_mail_template('shop', 'confirm', '%link%')",
        """
        INSERT INTO tidegate.identities (app, provider_type, id, provider_id, user_id)
        SELECT app, 'custom-token', 'ann-elsewhere', '000000000000000000000000', id
        FROM tidegate.users WHERE data ->> 'email' = 'ann@example.com'
        """,
        """
        INSERT INTO tidegate.sessions (id, app, user_id, provider_type, identity_id, device_id, expires_at)
        SELECT '65f0c0ffee00000000000003', app, id, 'local-userpass', 'i', '000000000000000000000000',
            now() + interval '1 day' FROM tidegate.users WHERE data ->> 'email' = 'ann@example.com'
        """,
    ]
}

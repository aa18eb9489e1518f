import Postgres
import SQL
import TestSupport
import Testing

extension AdministrationSuites {
    @Suite("Roles of the database")
    struct DatabaseRoleTests {
        private static let forbiddenToGateway = [
            "SELECT hash FROM tidegate.password_hashes", "SELECT * FROM tidegate.password_hashes",
            "SELECT * FROM tidegate.api_keys", "SELECT key_hash FROM tidegate.api_keys",
            "SELECT * FROM tidegate.secrets", "SELECT value FROM tidegate.secrets",
            "SELECT * FROM tidegate.signing_keys", "UPDATE tidegate.password_hashes SET user_id = 'x'",
            "INSERT INTO tidegate.password_hashes (app, username, hash, user_id, identity_id) SELECT app, 'me', '$', id, 'i' FROM tidegate.users",
            "UPDATE tidegate.users SET disabled = false", "UPDATE tidegate.users SET kind = 'server'",
            "INSERT INTO tidegate.users (id, app, kind) SELECT 'x', id, 'server' FROM tidegate.apps",
            "UPDATE tidegate.identities SET user_id = 'x'", "UPDATE tidegate.sessions SET user_id = 'x'",
            "UPDATE tidegate.collection_rules SET rules = NULL", "DELETE FROM tidegate.apps",
            "UPDATE tidegate.collections SET promoted = '[]'", "DELETE FROM tidegate.changes",
            "SELECT tidegate.set_rules('shop', 'mongodb-atlas', 'store', 'items', NULL::text)",
            "SELECT tidegate.promote_field('store', 'items', 'x', 'string')",
            "SELECT tidegate.create_schema('mine')", "SELECT tidegate.finish_index(1, NULL)",
            "SELECT tidegate.create_index('shop', 'store', 'items', '{\"sku\": 1}')",
            "SELECT tidegate.map_table('shop', 'store', 'fresh', 'public.legacy')",
            "UPDATE tidegate.indexes SET definitions = '{}'", "SELECT * FROM tidegate.user_tokens",
            "SELECT * FROM tidegate.outbox", "UPDATE tidegate.outbox SET state = 'sent'",
            "SELECT tidegate.import_user('shop', '{}')", "SELECT tidegate.import_hash('x')",
            "SELECT tidegate.confirm_registration('shop', 'new@example.com')",
            "SELECT tidegate.set_listener('store', 'items', 'me', true)",
            "SELECT tidegate.random_secret()", "SELECT * FROM tidegate.list_users('shop')",
            "CREATE OR REPLACE FUNCTION tidegate.refuse(field text, reason text) RETURNS void LANGUAGE sql AS 'SELECT'",
            "CREATE FUNCTION tidegate.mine() RETURNS void LANGUAGE sql AS 'SELECT'",
            "ALTER FUNCTION tidegate.app_id(text) SECURITY INVOKER", "DROP FUNCTION tidegate.new_id()",
            "CREATE TABLE tidegate.mine ()", "CREATE TABLE store.mine ()",
            "CREATE TABLE tidegate_views.mine ()",
            "DROP TABLE store.items", "ALTER TABLE store.items ADD COLUMN x text", "TRUNCATE store.items",
            "CREATE SCHEMA mine", "ALTER ROLE tidegate_gateway SUPERUSER", "CREATE ROLE mine",
            "GRANT tidegate_admin TO tidegate_gateway", "SELECT * FROM pg_authid",
            "SELECT pg_read_file('/etc/passwd')", "COPY store.items TO PROGRAM 'true'",
        ]

        private static let forbiddenToReaders = [
            "SELECT hash FROM tidegate.password_hashes", "SELECT key_hash FROM tidegate.api_keys",
            "SELECT value FROM tidegate.secrets", "SELECT secret FROM tidegate.signing_keys",
            "SELECT * FROM tidegate.user_tokens", "SELECT * FROM tidegate.claim_mail()",
            "SELECT tidegate.use_user_token('a', 'b', '', 'reset', '$x')",
            "SELECT tidegate.link_identity('a', 'b', 'c', 'd', '{}')",
            "SELECT * FROM tidegate.read_password((SELECT id FROM tidegate.apps), 'ann@example.com')",
            "SELECT * FROM tidegate.read_signing_keys((SELECT id FROM tidegate.apps))",
            "SELECT * FROM tidegate.use_api_key((SELECT id FROM tidegate.apps), '\\x00')",
            "CREATE TABLE tidegate.mine ()", "DROP TABLE store.items",
            "ALTER ROLE tidegate_readonly SUPERUSER",
            "CREATE OR REPLACE FUNCTION tidegate.refuse(field text, reason text) RETURNS void LANGUAGE sql AS 'SELECT'",
        ]

        private func expectRefused(
            _ statements: [String],
            as role: String,
            _ fixture: AdministrationFixture
        ) async throws {
            for statement in statements {
                let failure = try await fixture.refusal(of: statement, as: role)
                #expect(
                    failure?.sqlState.code == "42501",
                    "\(role): \(statement): \(failure?.message ?? "allowed")"
                )
            }
        }

        @Test("keep the process from hashes, keys, secrets, configuration and definitions", .postgres)
        func gateway() async throws {
            let fixture = try await AdministrationFixture()
            try await expectRefused(Self.forbiddenToGateway, as: "tidegate_gateway", fixture)
        }

        @Test(
            "keep administrators from hashes and keys, and readers from secrets and every change, too",
            .postgres
        )
        func people() async throws {
            let fixture = try await AdministrationFixture()
            try await expectRefused(Self.forbiddenToReaders, as: "tidegate_admin", fixture)
            try await expectRefused(Self.forbiddenToReaders, as: "tidegate_readonly", fixture)
            try await expectRefused(
                [
                    "SELECT * FROM tidegate.read_secrets('shop')",
                    "INSERT INTO store.items (doc) VALUES ('{}')",
                    "DELETE FROM store.items", "DELETE FROM tidegate.apps",
                    "UPDATE tidegate.users SET disabled = true",
                    "SELECT tidegate.create_app('mine')",
                    "SELECT tidegate.disable_user('shop', 'ann@example.com')",
                ],
                as: "tidegate_readonly",
                fixture
            )
        }

        @Test("show readers configuration, users, documents and views", .postgres)
        func readers() async throws {
            let fixture = try await AdministrationFixture()
            for statement in [
                "SELECT * FROM store.items", "SELECT * FROM tidegate_views.\"store.items\"",
                "SELECT * FROM tidegate.list_users('shop')", "SELECT * FROM tidegate.list_sessions('shop')",
                "SELECT name, changed_at FROM tidegate.secrets", "SELECT * FROM tidegate.collection_rules",
                "SELECT * FROM tidegate.migrations", "SELECT * FROM tidegate.help",
                "SELECT * FROM store.items WHERE _id = tidegate.typed_key('5')",
            ] {
                let failure = try await fixture.refusal(of: statement, as: "tidegate_readonly")
                #expect(failure == nil, "\(statement)")
            }
        }

        @Test("show the process one account or app in a transaction, whatever the statement", .postgres)
        func oneAtATime() async throws {
            let fixture = try await AdministrationFixture()
            let one = "tidegate.read_password((SELECT id FROM tidegate.apps), 'ann@example.com')"
            #expect(try await fixture.refusal(of: "SELECT * FROM \(one)", as: "tidegate_gateway") == nil)
            try await expectRefused(
                [
                    "SELECT p.* FROM tidegate.password_hashes h, tidegate.read_password(h.app, h.username) p",
                    "SELECT * FROM \(one) a, \(one) b",
                    "SELECT query_to_xml('SELECT * FROM \(one.replacing("'", with: "''"))', true, true, '') FROM generate_series(1, 2)",
                    "SELECT k.* FROM generate_series(1, 2) n, tidegate.read_signing_keys('x' || n) k",
                    "SELECT s.* FROM generate_series(1, 2) n, tidegate.read_secrets(left('shop', 4 + n)) s",
                ],
                as: "tidegate_gateway",
                fixture
            )
        }

        @Test("leave nothing to everybody", .postgres)
        func everybody() async throws {
            let fixture = try await AdministrationFixture()
            #expect(
                try await fixture.rows(
                    """
                    SELECT 'function ' || p.oid::regprocedure FROM pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
                    WHERE p.pronamespace = 'tidegate'::regnamespace AND a.grantee = 0
                    UNION ALL SELECT 'relation ' || c.oid::regclass FROM pg_class c, aclexplode(c.relacl) a
                    WHERE c.relnamespace::regnamespace::text IN ('tidegate', 'tidegate_views', 'store') AND a.grantee = 0
                    UNION ALL SELECT 'schema ' || n.nspname FROM pg_namespace n, aclexplode(n.nspacl) a
                    WHERE n.nspname IN ('tidegate', 'tidegate_views', 'store') AND a.grantee = 0
                    """
                ) == []
            )
        }

        @Test("cannot lead a function of the owner to types and tables of their own", .postgres)
        func searchPath() async throws {
            let fixture = try await AdministrationFixture()
            #expect(
                try await fixture.rows(
                    """
                    SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'tidegate'::regnamespace
                    AND p.prosecdef AND NOT coalesce('search_path=pg_catalog, pg_temp' = ANY (p.proconfig), false)
                    """
                ) == []
            )
            // What runs as its owner belongs to the owner, who is nobody's login.
            #expect(
                try await fixture.rows(
                    """
                    SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'tidegate'::regnamespace
                    AND p.prosecdef AND p.proowner <> 'tidegate_owner'::regrole AND p.proname <> 'create_schema'
                    """
                ) == []
            )
        }
    }
}

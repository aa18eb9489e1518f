import AppDefinition
import BSON
import Errors
import MQL
import Postgres
import Rules
import SQL
import Services
import TestSupport
import Testing

/// An app with something of every kind.
private let shop: [String: String] = [
    "realm_config.json": #"{"config_version": 20210101, "name": "shop", "location": "IE"}"#,
    "environments/no-environment.json": #"{"values": {"a": 1}}"#,
    "values/v.json": #"{"name": "v", "value": {"deep": [1, 2.5]}, "from_secret": false}"#,
    "data_sources/mongodb-atlas/config.json": #"{"name": "mongodb-atlas", "type": "mongodb-atlas"}"#,
    "data_sources/mongodb-atlas/default_rule.json":
        #"{"roles": [{"name": "none", "apply_when": {}, "read": false, "write": false}]}"#,
    "data_sources/mongodb-atlas/store/items/rules.json": """
    {"database": "store", "collection": "items",
     "roles": [{"name": "owner", "apply_when": {}, "document_filters": {"read": {"owner": "%%user.id"}, "write": {"owner": "%%user.id"}},
                "read": true, "write": true}]}
    """,
    "data_sources/mongodb-atlas/store/items/schema.json": """
    {"title": "item", "bsonType": "object", "properties": {"zeta": {"bsonType": "int"}, "alpha": {"bsonType": "date"}}}
    """,
    "functions/config.json": #"[{"name": "f", "private": true}]"#,
    "functions/f.js": "exports = () => 'ü';\n",
    "http_endpoints/config.json": #"[{"route": "/a", "http_method": "GET", "function_name": "f"}]"#,
    "http_endpoints/data_api_config.json": #"{"disabled": false, "versions": ["v1"]}"#,
    "auth/providers.json": #"{"anon-user": {"name": "anon-user", "type": "anon-user", "disabled": false}}"#,
    "auth/custom_user_data.json": #"{"enabled": false}"#,
    "sync/config.json": #"{"type": "flexible", "state": "disabled"}"#,
    "triggers/t.json":
        #"{"name": "t", "type": "SCHEDULED", "config": {"schedule": "0 0 * * 1"}, "function_name": "f"}"#,
    "hosting/files/x.bin": "\u{1}\u{2}",
]

private func read(_ texts: [String: String]) throws -> (ConfigurationTree, AppConfiguration) {
    let tree = try #require(
        ConfigurationTreeReader.read(FileTree(files: texts.mapValues { Array($0.utf8) })).tree
    )
    let parsed = AppConfigurationParser.parse(tree)
    return (tree, try #require(parsed.app, "\(parsed.findings.errors)"))
}

private func changing(_ files: [String: String?]) -> [String: String] {
    var changed = shop
    for (path, text) in files { changed[path] = text }
    return changed
}

@Suite("Apps in the database", .postgres)
struct AppStoreTests {
    private let database = TestDatabase.current.database
    private var store: AppStore { AppStore(database: database) }

    /// Imports under a name of the test's own, since the suite shares a database.
    private func importing(_ name: String, _ texts: [String: String] = shop) async throws
        -> AppStore.ImportResult
    {
        var texts = texts
        texts["realm_config.json"] = texts["realm_config.json"]?.replacing("shop", with: name)
        let (tree, app) = try read(texts)
        return try await store.import(tree, app)
    }

    @Test("it gives back what was imported")
    func roundTrip() async throws {
        _ = try await importing("round")
        let exported = try await store.export("round")
        let original = try #require(
            ConfigurationTreeReader.read(FileTree(files: shop.mapValues { Array($0.utf8) })).tree
        )
        var again = try #require(ConfigurationTreeReader.read(exported).tree)
        again.name = "shop"
        #expect(again == original)
        #expect(exported.paths == shop.keys.sorted())
    }

    @Test(
        "it keeps what mails say: set by SQL or by a file, given back, and left alone by a tree without them"
    )
    func mails() async throws {
        let file = "auth/mail_templates.json"
        let texts = changing([file: #"{"confirm": {"subject": "Hello", "body": "Go to %link%"}}"#])
        #expect(try await importing("mails", texts).changed)
        #expect(try await !importing("mails", texts).changed)
        _ = try await database.run(
            "SELECT tidegate.set_mail_template('mails', 'reset', 'Take %token% and %tokenId%')"
        )
        let exported = try await store.export("mails")
        let node = ConfigurationTreeReader.read(exported).tree?.mailTemplates
        #expect(
            node?.document == [
                "confirm": ["subject": "Hello", "body": "Go to %link%"],
                "reset": ["body": "Take %token% and %tokenId%"],
            ]
        )
        #expect(try await !importing("mails").changed)
        #expect(try await store.export("mails")[file] == exported[file])
        // A file speaks of all of them.
        #expect(try await importing("mails", changing([file: "{}"])).changed)
        #expect(try await store.export("mails")[file] == nil)
    }

    @Test("it changes nothing when the same app is imported twice")
    func idempotent() async throws {
        let first = try await importing("twice")
        let second = try await importing("twice")
        #expect(first.isNew && first.changed)
        #expect(!second.isNew && !second.changed)
        #expect(first.version == second.version)
        #expect(first.clientAppID == second.clientAppID)
    }

    @Test("it takes away what the new tree does not have, but for values")
    func removes() async throws {
        let first = try await importing("less")
        let smaller = changing([
            "data_sources/mongodb-atlas/store/items/schema.json": nil, "functions/config.json": "[]",
            "functions/f.js": nil, "http_endpoints/config.json": "[]", "triggers/t.json": nil,
            "values/v.json": nil, "hosting/files/x.bin": nil,
        ])
        let second = try await importing("less", smaller)
        #expect(second.changed && second.version > first.version)
        let paths = try await store.export("less").paths
        #expect(
            !paths.contains {
                $0.hasPrefix("hosting") || $0.hasPrefix("triggers") || $0.hasSuffix("schema.json")
            }
        )
        #expect(!paths.contains("functions/f.js"))
        #expect(paths.contains("values/v.json"))
    }

    @Test("it makes the collections with columns for rules and schema")
    func makesCollections() async throws {
        _ = try await importing("tables")
        let columns = try await database.run(
            "SELECT attname FROM pg_attribute WHERE attrelid = 'store.items'::regclass AND attnum > 0 ORDER BY 1"
        )
        let names = Set((0..<columns.rowCount).compactMap { columns.text($0, 0) })
        #expect(names.isSuperset(of: ["_id", "doc", "shape", "owner", "zeta", "alpha"]))
    }

    @Test("it refuses an app id that another app has")
    func refusesTakenID() async throws {
        let (tree, app) = try read(
            changing([
                "realm_config.json": #"{"config_version": 20210101, "name": "one", "app_id": "taken-id"}"#
            ])
        )
        #expect(try await store.import(tree, app).clientAppID == "taken-id")
        let (other, otherApp) = try read(
            changing([
                "realm_config.json": #"{"config_version": 20210101, "name": "two", "app_id": "taken-id"}"#
            ])
        )
        await #expect(throws: ServiceError.self) { try await store.import(other, otherApp) }
        let result = try await store.import(other, otherApp, options: .init(clientAppID: "free-id"))
        #expect(result.clientAppID == "free-id")
    }

    @Test("it says which secrets are missing")
    func missingSecrets() async throws {
        let texts = changing(["values/s.json": #"{"name": "s", "value": "key", "from_secret": true}"#])
        #expect(try await importing("secrets", texts).missingSecrets == ["key"])
        _ = try await database.run("SELECT tidegate.set_secret('secrets', 'key', 'x')")
        #expect(try await importing("secrets", texts).missingSecrets == [])
    }

    @Test("it never exports a secret")
    func exportsNoSecret() async throws {
        _ = try await importing("quiet", changing(["secrets.json": #"{"key": "do not tell"}"#]))
        for (_, content) in try await store.export("quiet").files {
            #expect(!String(decoding: content, as: UTF8.self).contains("do not tell"))
        }
    }

    @Test("it does not know apps that are not there")
    func unknownApp() async throws {
        let error = await #expect(throws: ServiceError.self) { try await store.export("nobody") }
        #expect(error?.code == .appNotFound)
    }

    // MARK: Administration by SQL

    /// An act of administration that must be refused: the statement and the start of the message.
    static let refusals: [(String, String)] = [
        ("SELECT tidegate.create_app('no blanks')", "name may hold"),
        ("SELECT tidegate.set_rules('nobody', 'm', 'd', 'c', '{}')", "app 'nobody' does not exist"),
        ("SELECT tidegate.set_rules('sql', 'm', 'd', 'c', '{}')", "source 'm' does not exist"),
        ("SELECT tidegate.set_rules('sql', 'mongodb-atlas', 'd b', 'c', '{}')", "database must not contain"),
        ("SELECT tidegate.set_rules('sql', 'mongodb-atlas', 'd', '', '{}')", "collection must not be empty"),
        ("SELECT tidegate.set_rules('sql', 'mongodb-atlas', 'd', 'c', '{')", "rules is not valid JSON"),
        ("SELECT tidegate.set_rules('sql', 'mongodb-atlas', 'd', 'c', '[]')", "rules must be an object"),
        ("SELECT tidegate.set_rules('sql', 'mongodb-atlas', 'd', 'c', '{}')", "rules.roles is required"),
        (
            #"SELECT tidegate.set_rules('sql', 'mongodb-atlas', 'd', 'c', '{"roles": [{"name": "r"}]}')"#,
            "rules.roles[0].apply_when is required"
        ),
        (
            #"SELECT tidegate.set_rules('sql', 'mongodb-atlas', 'd', 'c', '{"roles": [{"name": "r", "apply_when": {}, "document_filter": {}}]}')"#,
            "rules.roles[0].document_filter is not a known key"
        ),
        (
            #"SELECT tidegate.set_rules('sql', 'mongodb-atlas', 'd', 'c', '{"roles": [{"name": "r", "apply_when": {}, "fields": {"a": {"fields": {"b": {"raed": true}}}}}]}')"#,
            "rules.roles[0].fields.a.fields.b.raed is not a known key"
        ),
        (
            #"SELECT tidegate.set_default_rules('sql', 'mongodb-atlas', '{"roles": [{"name": "r", "apply_when": {}}, {"name": "r", "apply_when": {}}]}')"#,
            "rules.roles[1].name 'r' is used twice"
        ),
        (#"SELECT tidegate.set_data_api('sql', '{"disabled": "no"}')"#, "config.disabled must be boolean"),
        (#"SELECT tidegate.set_data_api('sql', '{"on": true}')"#, "config.on is not a known key"),
        (#"SELECT tidegate.set_provider('sql', 'magic', '{}')"#, "name 'magic' is not a provider"),
        ("SELECT tidegate.set_value('sql', 'v', 'bare')", "value is not valid JSON"),
        ("SELECT tidegate.set_secret('sql', '', 'x')", "name must not be empty"),
        (
            "SELECT tidegate.set_schema('sql', 'mongodb-atlas', 'd', 'c', '{\"required\": \"a\"}')",
            "schema.required must be array"
        ),
        (
            #"SELECT tidegate.set_sync('sql', '{"type": "partition"}')"#,
            "config.partition must name key and type"
        ),
        (
            #"SELECT tidegate.set_sync('sql', '{"type": "partition", "partition": {"key": "\u0000"}}')"#,
            "config must not hold the character U+0000"
        ),
        (
            #"SELECT tidegate.set_sync('sql', '{"partition": ' || repeat('[', 20000) || repeat(']', 20000) || '}')"#,
            "config is nested too deeply"
        ),
    ]

    /// Settings of partitions that cannot be in force.
    private static let partitionRefusals: [(String, String)] = [
        (#""x""#, "partition must be an object"),
        (#"{"type": "string"}"#, "partition.key is required"),
        (#"{"key": 5}"#, "partition.key must be string"),
        (#"{"key": "_id"}"#, "partition.key must be a field of documents"),
        (#"{"key": "a.b"}"#, "partition.key must be a field of documents"),
        (#"{"key": "$a"}"#, "partition.key must be a field of documents"),
        (#"{"key": "a", "type": "date"}"#, "partition.type must be string, objectId, long or uuid"),
        (#"{"key": "a", "type": null}"#, "partition.type must be string"),
        (#"{"key": "a", "required": "yes"}"#, "partition.required must be boolean"),
        (#"{"key": "a", "owner": 1}"#, "partition.owner is not a known key"),
        (#"{"key": "a", "permissions": []}"#, "partition.permissions must be object"),
        (#"{"key": "a", "permissions": {"red": true}}"#, "partition.permissions.red is not a known key"),
        (#"{"key": "a", "permissions": {"read": "yes"}}"#, "partition.permissions.read must be boolean"),
    ].map { partition, message in
        (
            #"SELECT tidegate.set_sync('sql', '{"type": "partition", "state": "enabled", "partition": \#(partition)}')"#,
            "config." + message
        )
    }

    @Test("it refuses bad administration, naming the field")
    func refusesBadAdministration() async throws {
        _ = try await database.run("SELECT tidegate.create_app('sql')")
        for (statement, message) in Self.refusals + Self.partitionRefusals {
            let error = await #expect(throws: ServiceError.self, "\(statement)") {
                try await database.script(statement)
            }
            #expect(error?.postgresFailure?.sqlState.code == "22023", "\(statement)")
            #expect(
                error?.postgresFailure?.message.hasPrefix(message) == true,
                "\(statement): \(error?.postgresFailure?.message ?? "")"
            )
        }
    }

    @Test("it takes rules as json, jsonb and text", arguments: ["json", "jsonb", "text"])
    func takesEveryType(type: String) async throws {
        let app = "types-\(type)"
        _ = try await database.run("SELECT tidegate.create_app(\(bind: .text(app)))")
        try await database.script(
            #"SELECT tidegate.set_rules('\#(app)', 'mongodb-atlas', 'd', 'c', '{"roles": [{"name": "r", "apply_when": {}}]}'::\#(type))"#
        )
        let stored = try #require(try await store.loadAll().first { $0.tree.name == app })
        #expect(
            AppConfigurationParser.parse(stored.tree).app?.dataSources.first?.collections.first?.rules?.roles
                .map(\.name) == ["r"]
        )
    }

    @Test("it documents every function")
    func documentsFunctions() async throws {
        let bare = try await database.run(
            """
            SELECT oid::regprocedure::text FROM pg_proc
            WHERE pronamespace = 'tidegate'::regnamespace AND obj_description(oid, 'pg_proc') IS NULL
            """
        )
        #expect((0..<bare.rowCount).compactMap { bare.text($0, 0) } == [])
    }

    @Test("it shows the readonly role no secret")
    func readonlyRole() async throws {
        try await database.script("GRANT tidegate_readonly TO CURRENT_USER")
        await #expect(throws: ServiceError.self) {
            try await database.script(
                "BEGIN; SET LOCAL ROLE tidegate_readonly; SELECT value FROM tidegate.secrets; COMMIT"
            )
        }
        try await database.script("ROLLBACK")
        try await database.script(
            "BEGIN; SET LOCAL ROLE tidegate_readonly; SELECT * FROM tidegate.list_apps(); COMMIT"
        )
    }
}

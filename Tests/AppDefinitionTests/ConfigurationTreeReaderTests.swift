import Accounts
import AppDefinition
import BSON
import Rules
import Schemas
import TestSupport
import Testing

@Suite("Layouts of exports")
struct ConfigurationTreeReaderTests {
    /// The older layout: one file per item, settings in the root file.
    static let version1: [String: String] = [
        "config.json": """
        {"config_version": 20200603, "app_id": "shop-abcde", "name": "shop",
         "security": {"allowed_request_origins": ["http://localhost:8080"]},
         "hosting": {"enabled": true},
         "custom_user_data_config": {"enabled": true, "mongo_service_name": "atlas", "database_name": "d",
                                     "collection_name": "people", "user_id_field": "uid"},
         "sync": {"development_mode_enabled": true}}
        """,
        "auth_providers/anon-user.json":
            #"{"id": "5f", "name": "anon-user", "type": "anon-user", "disabled": false}"#,
        "functions/hello/config.json": #"{"id": "5f", "name": "hello", "private": false,}"#,
        "functions/hello/source.js": "exports = () => 'hello';\n",
        "services/atlas/config.json": """
        {"id": "5f", "name": "atlas", "type": "mongodb-atlas",
         "config": {"clusterName": "c", "flexible_sync": {"state": "enabled", "database_name": "d"}}, "version": 1}
        """,
        "services/atlas/rules/d.WrongName.json": """
        {"id": "5f", "database": "d", "collection": "items",
         "roles": [{"name": "default", "apply_when": {}, "insert": true, "delete": true, "additional_fields": {}}],
         "schema": {"title": "Item", "properties": {"_id": {"bsonType": "objectId"}}}, "relationships": {}}
        """,
        "services/http/config.json": #"{"name": "http", "type": "http", "config": {}}"#,
        "services/http/incoming_webhooks/find/config.json": """
        {"name": "find", "run_as_authed_user": false, "run_as_user_id": "", "can_evaluate": {},
         "options": {"httpMethod": "GET", "validationMethod": "NO_VALIDATION"}, "respond_result": true}
        """,
        "services/http/incoming_webhooks/find/source.js": "exports = () => 1;",
        "triggers/yell.json":
            #"{"name": "yell", "type": "SCHEDULED", "config": {"schedule": "0 0 * * 1"}, "function_name": "hello"}"#,
        "values/V.json": #"{"name": "V", "value": "eggcorn", "from_secret": false}"#,
    ]

    @Test("reads version 1 into the newer form")
    func readsVersion1() throws {
        let (app, tree, findings) = examine(files(Self.version1))
        #expect(findings.errors.isEmpty)
        let shop = try #require(app)
        #expect(shop.clientAppID == "shop-abcde")
        #expect(shop.allowedRequestOrigins == ["http://localhost:8080"])
        #expect(shop.customUserData?.collectionName == "people")
        #expect(shop.providers["anon-user"] != nil)
        #expect(shop.functions.map(\.name) == ["hello", "webhooks/http/find"])
        #expect(shop.endpoints.map(\.route) == ["/http/find"])
        #expect(shop.triggers.map(\.functionName) == ["hello"])
        let items = try #require(shop.dataSources.first?.collections.first)
        #expect((items.database, items.collection) == ("d", "items"))
        #expect(items.rules?.roles.map(\.name) == ["default"])
        #expect(items.schema?.title == "Item")
        #expect(shop.sync?.isEnabled == true)
        #expect(shop.sync?.developmentMode == true)
        #expect(shop.sync?.dataSource == "atlas")
        #expect(tree?.otherFiles.keys.sorted() == ["hosting/config.json", "services/http/config.json"])
    }

    @Test(
        "finds the root file",
        arguments: [
            ("root_config.json", #"{"name": "shop"}"#, 20_230_101),
            ("root_config.json", #"{"config_version": 20210101, "name": "shop"}"#, 20_230_101),
            ("realm_config.json", #"{"name": "shop"}"#, 20_210_101),
            ("config.json", #"{"config_version": 20200603, "name": "shop"}"#, 20_210_101),
            ("stitch.json", #"{"config_version": 20180301, "name": "shop"}"#, 20_210_101),
        ]
    )
    func findsRootFile(name: String, content: String, layout: Int) throws {
        for folder in ["", "backend/", "export/", "export/backend/"] {
            let tree = try #require(ConfigurationTreeReader.read(files([folder + name: content])).tree)
            #expect(tree.name == "shop")
            #expect(tree.version == layout)
        }
    }

    @Test(
        "takes a config.json for the root file only with a version",
        arguments: [
            [:], ["config.json": #"{"name": "shop"}"#],
            ["config.json": #"{"config_version": 0, "name": "shop"}"#],
            ["functions/config.json": "[]"],
        ]
    )
    func needsVersion(tree: [String: String]) {
        let (read, findings) = ConfigurationTreeReader.read(files(tree))
        #expect(read == nil)
        #expect(findings.hasErrors)
    }

    @Test("reads endpoints of both folders and refuses the same one twice")
    func readsBothEndpointFolders() throws {
        let endpoint = #"{"route": "/a", "http_method": "GET", "function_name": "f"}"#
        let other = #"{"route": "/a", "http_method": "POST", "function_name": "f"}"#
        let base = root + ["functions/f.js": "exports = () => 1"]
        let mixed = examine(
            files(
                base + [
                    "http_endpoints/config.json": "[\(endpoint)]",
                    "https_endpoints/config.json": "[\(other)]",
                ]
            )
        )
        #expect(mixed.app?.endpoints.count == 2)
        let twice = examine(
            files(
                base + [
                    "http_endpoints/config.json": "[\(endpoint)]",
                    "https_endpoints/config.json": "[\(endpoint)]",
                ]
            )
        )
        #expect(twice.findings.errors.map(\.file) == ["https_endpoints/config.json"])
    }

    @Test("takes trailing commas, a byte-order mark and tabs, and says where")
    func takesDialect() throws {
        let text =
            "\u{FEFF}{\n\t\"config_version\": 20210101,\n\t\"name\": \"a,}b\",\n\t\"x\": [1, 2, ],\n}\n"
        let (tree, findings) = ConfigurationTreeReader.read(files(["realm_config.json": text]))
        #expect(tree?.name == "a,}b")
        let commas = try #require(findings.list.first { $0.message.contains("trailing comma") })
        #expect(commas.outcome == .warning)
        #expect(commas.message.contains("line 4, 4"))
    }

    @Test(
        "is no more lenient than that",
        arguments: ["{,}", "[,]", #"{"a": 1,,}"#, "{a: 1}", "{'a': 1}", "// x\n{}", #"{"a": 1,"#]
    )
    func isNoMoreLenient(text: String) {
        var findings = Findings()
        #expect(JSONDialect.read(Array(text.utf8), file: "a.json", into: &findings) == nil)
        #expect(findings.hasErrors)
    }

    @Test("says in which line JSON breaks")
    func saysLine() {
        var findings = Findings()
        _ = JSONDialect.read(Array("{\n\"a\": 1,\n\"b\": nope\n}".utf8), file: "a.json", into: &findings)
        #expect(findings.errors.first?.message.contains("line 3") == true)
    }

    @Test("turns old sync permissions into roles")
    func migratesPermissions() throws {
        let sync = """
            {"type": "flexible", "state": "enabled", "service_name": "m", "database_name": "todo",
             "queryable_fields_names": ["owner_id"],
             "permissions": {"defaultRoles": [{"name": "owner", "applyWhen": {}, "read": {"owner_id": "%%user.id"}, "write": false}],
                             "rules": {"Dog": [{"name": "dogs", "applyWhen": {}, "read": true, "write": true}]}}}
            """
        let source = ["data_sources/m/config.json": #"{"name": "m", "type": "mongodb-atlas"}"#]
        let (app, tree, findings) = examine(files(root + source + ["sync/config.json": sync]))
        #expect(findings.errors.isEmpty)
        let role = tree?.sources["m"]?.defaultRule?.document["roles"]?.array?.first?.document
        #expect(
            role == [
                "name": "owner", "apply_when": [:],
                "document_filters": ["read": ["owner_id": "%%user.id"], "write": false],
                "read": true, "write": true, "insert": true, "delete": true, "search": true,
            ]
        )
        #expect(app?.dataSources.first?.collections.map(\.collection) == ["Dog"])
        #expect(app?.dataSources.first?.collections.first?.rules?.roles.map(\.name) == ["dogs"])
        #expect(tree?.sync?.document["permissions"] == nil)
        let newer =
            source + [
                "data_sources/m/default_rule.json": #"{"roles": [{"name": "new", "apply_when": {}}]}"#,
                "sync/config.json": sync,
            ]
        let kept = examine(files(root + newer))
        #expect(kept.app?.dataSources.first?.defaultRules?.roles.map(\.name) == ["new"])
        #expect(
            kept.findings.list.contains { $0.outcome == .warning && $0.path == "$.permissions.defaultRoles" }
        )
    }

    @Test("lets the path name the collection, and decodes what no folder can be called")
    func pathNamesCollection() throws {
        let rules = #""roles": [{"name": "r", "apply_when": {}}]"#
        let tree = ConfigurationTreeReader.read(
            files(
                root + [
                    "data_sources/m/d/a%2Fb/rules.json":
                        #"{"database": "d", "collection": "a/b", \#(rules)}"#,
                    "data_sources/m/d/c%20d/rules.json": "{\(rules)}",
                    "data_sources/m/d/e/rules.json": #"{"database": "d", "collection": "other", \#(rules)}"#,
                ]
            )
        )
        let names = tree.tree?.sources["m"]?.collections.keys.map(\.collection).sorted()
        #expect(names == ["a/b", "c%20d", "e"])
        #expect(tree.findings.list.filter { $0.outcome == .warning }.count == 1)
    }

    @Test("names secrets that were given beside their users")
    func readsStructuredSecrets() throws {
        let tree = try #require(
            ConfigurationTreeReader.read(
                files(
                    root + [
                        "auth/providers.json":
                            #"{"oauth2-google": {"name": "oauth2-google", "type": "oauth2-google", "config": {"clientId": "c"}}}"#,
                        "secrets.json":
                            #"{"auth_providers": {"oauth2-google": {"clientSecret": "x"}}, "flat": "y"}"#,
                    ]
                )
            ).tree
        )
        #expect(tree.secrets == ["oauth2-google_clientSecret": "x", "flat": "y"])
        let config = tree.providers["oauth2-google"]?.document["secret_config"]?.document
        #expect(config?["clientSecret"] == "oauth2-google_clientSecret")
        #expect(ConfigurationTreeWriter.write(tree).paths.contains("secrets.json") == false)
    }

    @Test("ignores packages and hidden files")
    func ignoresNoise() throws {
        let tree = try #require(
            ConfigurationTreeReader.read(
                files(
                    root + [
                        "functions/node_modules/a/index.js": "x", ".git/config": "x", ".DS_Store": "x",
                        "functions/a.js": "exports = () => 1",
                    ]
                )
            ).tree
        )
        #expect(tree.functions.keys.sorted() == ["a"])
        #expect(tree.otherFiles.isEmpty)
    }

    @Test(
        "refuses a source that the database cannot keep",
        arguments: [[0xFF, 0xFE], [0x61, 0x00]] as [[UInt8]]
    )
    func refusesSource(bytes: [UInt8]) {
        var tree = files(root)
        tree["functions/f.js"] = bytes
        #expect(ConfigurationTreeReader.read(tree).findings.errors.map(\.file) == ["functions/f.js"])
    }

    @Test("reads an app that was saved as one object")
    func readsSavedObject() throws {
        let saved = """
            {"name": "shop", "provider_region": "aws-eu-west-1", "environment": "qa",
             "auth_providers": [{"name": "anon-user", "type": "anon-user", "disabled": false}],
             "custom_user_data": null, "data_api_config": {"disabled": false, "versions": ["v1"]},
             "data_sources": [{"name": "m", "type": "mongodb-atlas", "config": {}, "version": 1,
                "default_rule": {"roles": [{"name": "all", "apply_when": {}}]},
                "rules": [{"database": "d", "collection": "c", "roles": [{"name": "own", "apply_when": {}}]}]}],
             "schemas": [{"metadata": {"data_source": "m", "database": "d", "collection": "c"},
                          "schema": {"title": "C"}, "relationships": {}}],
             "functions": [{"name": "a/f", "private": true, "source": "exports = () => 1"}],
             "endpoints": [{"route": "/a", "http_method": "GET", "function_name": "a/f"}],
             "https_endpoints": [{"name": "http", "type": "http"}],
             "environments": {"values": {"none": {}, "qa": {"x": 1}}},
             "values": [{"name": "v", "value": 1, "private": false}], "triggers": [], "sync": {"state": ""}}
            """
        let (app, tree, findings) = examine(files(["saved.json": saved]))
        #expect(findings.errors.isEmpty)
        let shop = try #require(app)
        #expect(shop.environmentValues == ["x": 1])
        #expect(shop.providers["anon-user"] != nil)
        #expect(shop.dataAPI?.isDisabled == false)
        #expect(shop.dataSources.first?.defaultRules?.roles.map(\.name) == ["all"])
        #expect(shop.dataSources.first?.collections.first?.rules?.roles.map(\.name) == ["own"])
        #expect(shop.dataSources.first?.collections.first?.schema?.title == "C")
        #expect(shop.functions.map(\.source) == ["exports = () => 1"])
        #expect(shop.endpoints.count == 1)
        #expect(shop.values.map(\.name) == ["v"])
        #expect(tree?.otherFiles.keys.sorted() == ["services/http/config.json"])
    }

    @Test("bears nested objects without end")
    func bearsDepth() {
        let deep = String(repeating: #"{"a":"#, count: 5000) + "1" + String(repeating: "}", count: 5000)
        #expect(ConfigurationTreeReader.read(files(root + ["sync/config.json": deep])).findings.hasErrors)
    }
}

@Suite("Export of a configuration")
struct ConfigurationTreeWriterTests {
    @Test(
        "gives back what was read, in every layout",
        arguments: [
            ConfigurationTreeReaderTests.version1,
            root + [
                "environments/no-environment.json": #"{"values": {}}"#,
                "functions/a/b.js": "exports = () => 1",
                "data_sources/m/config.json": #"{"name": "m", "type": "mongodb-atlas"}"#,
                "data_sources/m/d/c/schema.json":
                    #"{"title": "C", "required": ["b", "a"], "properties": {"b": {}, "a": {"enum": [1, 2.5, {"$oid": "507f1f77bcf86cd799439011"}, null]}}}"#,
                "hosting/files/x.bin": "\u{1}\u{2}",
                "values/a.json": #"{"name": "a", "value": {"$date": "2020-01-01T00:00:00Z"}}"#,
            ],
            [
                "root_config.json":
                    #"{"name": "shop", "provider_region": "aws-eu-west-1", "environment": "qa"}"#
            ],
        ]
    )
    func givesBack(texts: [String: String]) throws {
        let first = try #require(ConfigurationTreeReader.read(files(texts)).tree)
        let exported = ConfigurationTreeWriter.write(first)
        let (second, findings) = ConfigurationTreeReader.read(exported)
        #expect(findings.list.isEmpty)
        #expect(second == first)
        #expect(ConfigurationTreeWriter.write(try #require(second)) == exported)
    }

    @Test(
        "writes the files of a published app, each saying the same",
        .enabled(if: Corpus.has("apps"), "\(Corpus.absence)"),
        arguments: ["electron-todo-list", "node-telemetry"]
    )
    func writesSameFiles(name: String) throws {
        let original = try published(name)
        let exported = ConfigurationTreeWriter.write(
            try #require(ConfigurationTreeReader.read(original).tree)
        )
        #expect(exported.paths == original.paths)
        for path in original.paths {
            let before = try ExtendedJSON.readValue(try #require(original[path]))
            let after = try ExtendedJSON.readValue(try #require(exported[path]))
            // The root file's members and providers come in an order of their own.
            #expect(BSONKey(sorted(before)) == BSONKey(sorted(after)), "\(path)")
        }
    }

    private func sorted(_ value: BSONValue) -> BSONValue {
        switch value {
        case .document(let document):
            .document(
                BSONDocument(
                    document.fields.sorted { $0.key < $1.key }.map {
                        .init(key: $0.key, value: sorted($0.value))
                    }
                )
            )
        case .array(let elements): .array(elements.map(sorted))
        default: value
        }
    }
}

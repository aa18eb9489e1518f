import Accounts
import AppDefinition
import BSON
import MQL
import Rules
import Schemas
import TestSupport
import Testing

@Suite("App configuration")
struct AppConfigurationParserTests {
    @Test(
        "takes a published app without an error",
        .enabled(if: Corpus.has("apps"), "\(Corpus.absence)"),
        arguments: ["electron-todo-list", "node-telemetry"]
    )
    func takesPublishedApp(name: String) throws {
        let (app, _, findings) = examine(try published(name))
        #expect(findings.errors.isEmpty)
        let source = try #require(app?.dataSources.first)
        let collection = try #require(source.collections.first)
        #expect(collection.rules?.roles.count == 1)
        #expect(collection.schema?.title == collection.collection)
        #expect(app?.sync?.isEnabled == true)
        #expect(app?.providers["anon-user"]?.disabled == false)
        #expect(app?.providers["api-key"]?.disabled == true)
    }

    @Test("holds names and sizes of values, secrets and mails to their limits, by file and path")
    func limits() {
        let long = String(repeating: "x", count: 65)
        let (app, _, findings) = examine(
            files(
                root + [
                    "values/a.json": #"{"name": "a.b", "value": 1}"#,
                    "values/b.json": #"{"name": "\#(long)", "value": 1}"#,
                    "values/good-1_B.json": #"{"name": "good-1_B", "value": 1}"#,
                    "secrets.json":
                        #"{"\#(long)": "x", "empty": "", "huge": "\#(String(repeating: "x", count: 16_385))", "rsa": "\#(String(repeating: "x", count: 16_384))"}"#,
                    "auth/mail_templates.json": """
                    {"confirm": {"subject": "a\\nb", "body": "no place to go"}, "reset": {"body": 1},
                     "other": {"body": "%link%"}}
                    """,
                ]
            )
        )
        #expect(app == nil)
        let faults = findings.errors.map { "\($0.file) \($0.path)" }
        #expect(
            faults.sorted() == [
                "auth/mail_templates.json $.confirm.body", "auth/mail_templates.json $.confirm.subject",
                "auth/mail_templates.json $.other", "auth/mail_templates.json $.reset.body",
                "secrets.json $.empty", "secrets.json $.huge", "secrets.json $.\(long)",
                "values/a.json $.name", "values/b.json $.name",
            ]
        )
    }

    @Test("reads every part of an app")
    func readsEveryPart() throws {
        let (app, _, findings) = examine(
            files([
                "root_config.json": """
                {"app_id": "shop-abcde", "name": "shop", "environment": "qa", "location": "IE",
                 "allowed_request_origins": ["https://shop.example:8443"]}
                """,
                ".mdb/meta.json": #"{"config_version": 20230101}"#,
                "environments/qa.json": #"{"values": {"base": "https://qa.example", "limit": 3}}"#,
                "values/greeting.json": #"{"name": "greeting", "value": ["a", 1], "from_secret": false}"#,
                "values/key.json": #"{"name": "key", "value": "apiKey", "from_secret": true}"#,
                "secrets.json": #"{"apiKey": "s3cret", "signing": "0123456789"}"#,
                "functions/config.json":
                    #"[{"name": "endpoint/hello", "private": true, "run_as_system": true}]"#,
                "functions/endpoint/hello.js": "exports = () => 1;",
                "https_endpoints/config.json": """
                [{"route": "/hello", "http_method": "GET", "function_name": "endpoint/hello",
                  "validation_method": "SECRET_AS_QUERY_PARAM", "secret_name": "apiKey", "respond_result": true}]
                """,
                "https_endpoints/data_api_config.json": """
                {"disabled": false, "versions": ["v1"], "return_type": "EJSON", "create_user_on_auth": true,
                 "validation_method": "", "run_as_user_id": "", "can_evaluate": {"%%request.httpMethod": "POST"}}
                """,
                "auth/providers.json": """
                {"custom-token": {"name": "custom-token", "type": "custom-token", "disabled": false,
                 "config": {"signingAlgorithm": "HS256"}, "secret_config": {"signingKeys": ["signing"]}}}
                """,
                "auth/custom_user_data.json": """
                {"enabled": true, "mongo_service_name": "mongodb-atlas", "database_name": "shop",
                 "collection_name": "people", "user_id_field": "uid"}
                """,
                "data_sources/mongodb-atlas/config.json":
                    #"{"name": "mongodb-atlas", "type": "mongodb-atlas"}"#,
                "data_sources/mongodb-atlas/shop/items/relationships.json": """
                {"tags.[].owner": {"ref": "#/relationship/mongodb-atlas/shop/people", "foreign_key": "_id", "is_list": true}}
                """,
            ])
        )
        #expect(findings.errors.isEmpty)
        let shop = try #require(app)
        #expect(shop.clientAppID == "shop-abcde")
        #expect(shop.environmentTag == "qa")
        #expect(shop.environmentValues["base"] == "https://qa.example")
        #expect(shop.allowedRequestOrigins == ["https://shop.example:8443"])
        #expect(shop.location == "IE")
        #expect(shop.values.first { $0.name == "greeting" }?.content == .plain(["a", 1]))
        #expect(shop.values.first { $0.name == "key" }?.content == .secret(name: "apiKey"))
        #expect(shop.functions.map(\.name) == ["endpoint/hello"])
        #expect(shop.functions.first?.runsAsSystem == true)
        #expect(shop.endpoints.first?.validation == .secretAsQueryParameter(secretName: "apiKey"))
        #expect(shop.dataAPI?.returnType == .extendedJSON)
        #expect(shop.dataAPI?.identity == .caller)
        #expect(shop.dataAPI?.validation == RequestValidation.none)
        #expect(shop.dataAPI?.canEvaluate != .constant(true))
        #expect(shop.dataAPI?.serves(version: "v1") == true)
        #expect(shop.dataAPI?.serves(version: "beta") == false)
        #expect(shop.providers["custom-token"] != nil)
        #expect(shop.customUserData?.userIDField == "uid")
        #expect(shop.referencedSecrets.map(\.name).sorted() == ["apiKey", "signing"])
        #expect(shop.dataSources.first?.collections.first?.relationships.first?.collection == "people")
        // Both secrets came with the tree; the only warnings are of what is not served or not described.
        #expect(!findings.list.contains { $0.message.contains("is not part of the export") })
    }

    @Test("asks for secrets that are referred to and not there")
    func asksForSecrets() throws {
        let (_, tree, findings) = examine(
            files(root + ["values/key.json": #"{"name": "key", "value": "apiKey", "from_secret": true}"#])
        )
        #expect(!findings.hasErrors)
        #expect(findings.list.contains { $0.outcome == .warning && $0.message.contains("'apiKey'") })
        let again = AppConfigurationParser.parse(try #require(tree), knownSecrets: ["apiKey"]).findings
        #expect(!again.list.contains { $0.message.contains("'apiKey'") })
    }

    @Test("resolves templates in strings with the environment in force")
    func resolvesTemplates() throws {
        let tree =
            root + [
                "realm_config.json":
                    #"{"config_version": 20210101, "name": "shop", "environment": "testing"}"#,
                "environments/testing.json": #"{"values": {"db": "test", "port": 5}}"#,
                "auth/custom_user_data.json": """
                {"enabled": true, "mongo_service_name": "m", "database_name": "%(%%environment.values.db)-%(%%environment.values.port)",
                 "collection_name": "%%environment.values.db", "user_id_field": "u"}
                """,
                "data_sources/m/config.json": #"{"name": "m", "type": "mongodb-atlas"}"#,
            ]
        let app = try #require(examine(files(tree)).app)
        #expect(app.customUserData?.databaseName == "test-5")
        #expect(app.customUserData?.collectionName == "%%environment.values.db")
        let broken = tree + ["environments/testing.json": #"{"values": {"port": 5}}"#]
        let errors = examine(files(broken)).findings.errors
        #expect(errors.map(\.path) == ["$.database_name"])
    }

    /// A fault: what is wrong, the file and its content, where the error must be reported.
    struct Fault: CustomTestStringConvertible, Sendable {
        let what: String
        let file: String
        let content: String
        let path: String
        var testDescription: String { what }
    }

    static let faults: [Fault] = [
        Fault(
            what: "an unknown key in a role",
            file: "data_sources/m/d/c/rules.json",
            content: #"{"roles": [{"name": "r", "apply_when": {}, "document_filter": {}}]}"#,
            path: "$.roles[0].document_filter"
        ),
        Fault(
            what: "a function that is not there, in a rule",
            file: "data_sources/m/d/c/rules.json",
            content: #"{"roles": [{"name": "r", "apply_when": {"%%true": {"%function": {"name": "f"}}}}]}"#,
            path: ""
        ),
        Fault(
            what: "a role without apply_when",
            file: "data_sources/m/default_rule.json",
            content: #"{"roles": [{"name": "r"}]}"#,
            path: "$.roles[0]"
        ),
        Fault(
            what: "a schema of two types",
            file: "data_sources/m/d/c/schema.json",
            content: #"{"bsonType": "object", "type": "object"}"#,
            path: "$"
        ),
        Fault(
            what: "a function that is not there, in a schema",
            file: "data_sources/m/d/c/schema.json",
            content:
                #"{"properties": {"a": {"bsonType": "string", "validate": {"%%true": {"%function": {"name": "f"}}}}}}"#,
            path: ""
        ),
        Fault(
            what: "an endpoint of a function that is not there",
            file: "http_endpoints/config.json",
            content: #"[{"route": "/a", "http_method": "GET", "function_name": "nope"}]"#,
            path: "$[0].function_name"
        ),
        Fault(
            what: "validation without a secret",
            file: "http_endpoints/data_api_config.json",
            content: #"{"disabled": false, "validation_method": "VERIFY_PAYLOAD"}"#,
            path: "$.secret_name"
        ),
        Fault(
            what: "an unknown validation",
            file: "http_endpoints/data_api_config.json",
            content: #"{"disabled": false, "validation_method": "MAYBE"}"#,
            path: "$.validation_method"
        ),
        Fault(
            what: "a condition that speaks of a document",
            file: "http_endpoints/data_api_config.json",
            content: #"{"can_evaluate": {"owner": "%%user.id"}}"#,
            path: "$.can_evaluate.owner"
        ),
        Fault(
            what: "a flag that is a text",
            file: "http_endpoints/data_api_config.json",
            content: #"{"disabled": "no"}"#,
            path: "$.disabled"
        ),
        Fault(
            what: "a value without content",
            file: "values/a.json",
            content: #"{"name": "a"}"#,
            path: "$.value"
        ),
        Fault(
            what: "a provider that does not exist",
            file: "auth/providers.json",
            content: #"{"magic": {"name": "magic", "type": "magic"}}"#,
            path: "$.magic.type"
        ),
        Fault(
            what: "a listed function without source",
            file: "functions/config.json",
            content: #"[{"name": "f"}]"#,
            path: "$[0]"
        ),
        Fault(
            what: "a relationship that leads nowhere",
            file: "data_sources/m/d/c/relationships.json",
            content: #"{"a": {"ref": "people"}}"#,
            path: "$.a.ref"
        ),
        Fault(
            what: "an array where an object belongs",
            file: "data_sources/m/default_rule.json",
            content: "[]",
            path: ""
        ),
        Fault(what: "text that is no JSON", file: "sync/config.json", content: #"{"type": }"#, path: ""),
        Fault(what: "an empty file", file: "sync/config.json", content: " \n", path: ""),
        Fault(
            what: "an unknown environment",
            file: "realm_config.json",
            content: #"{"config_version": 20210101, "name": "shop", "environment": "prod"}"#,
            path: "$.environment"
        ),
        Fault(
            what: "an unknown version",
            file: "realm_config.json",
            content: #"{"config_version": 20990101, "name": "shop"}"#,
            path: "$.config_version"
        ),
        Fault(
            what: "a name with a blank",
            file: "realm_config.json",
            content: #"{"config_version": 20210101, "name": "my shop"}"#,
            path: "$.name"
        ),
    ]

    @Test("refuses, naming file and path", arguments: faults)
    func refuses(fault: Fault) {
        let source = ["data_sources/m/config.json": #"{"name": "m", "type": "mongodb-atlas"}"#]
        let (app, _, findings) = examine(files(root + source + [fault.file: fault.content]))
        #expect(app == nil)
        #expect(findings.errors.map { "\($0.file) \($0.path)" } == ["\(fault.file) \(fault.path)"])
    }

    @Test("reports all faults together")
    func reportsAllFaults() {
        let findings = examine(
            files(
                root + ["values/a.json": "{", "values/b.json": #"{"name": "b"}"#, "sync/config.json": "[]"]
            )
        ).findings
        #expect(Set(findings.errors.map(\.file)) == ["values/a.json", "values/b.json", "sync/config.json"])
    }

    @Test("names what is kept and not served")
    func namesWhatIsNotServed() {
        let findings = examine(
            files(
                root + [
                    "functions/config.json": #"[{"name": "f"}]"#, "functions/f.js": "exports = () => 1",
                    "functions/package.json": "{}", "hosting/files/index.html": "<p>",
                    "graphql/config.json": "{}", "log_forwarders/a.json": "{}", "README.md": "# shop",
                    "services/mail/config.json": #"{"name": "mail", "type": "aws"}"#,
                    "triggers/t.json":
                        #"{"name": "t", "type": "DATABASE", "function_name": "f", "config": {"service_name": "m"}}"#,
                    "data_sources/m/config.json": #"{"name": "m", "type": "mongodb-atlas"}"#,
                ]
            )
        ).findings
        #expect(!findings.hasErrors)
        let kept = findings.list.filter { $0.outcome == .notImported }.map(\.file)
        #expect(kept == ["README.md", "functions", "graphql", "hosting", "log_forwarders", "services"])
        let warned = findings.list.filter { $0.outcome == .warning }.map(\.message)
        #expect(warned.contains { $0.contains("all collections of a database are not served") })
    }

    @Test("lets rules without a role give way to the default rule")
    func rulesWithoutRole() throws {
        let app = try #require(
            examine(
                files(
                    root + [
                        "data_sources/m/config.json": #"{"name": "m", "type": "mongodb-atlas"}"#,
                        "data_sources/m/default_rule.json":
                            #"{"roles": [{"name": "all", "apply_when": {}, "read": true}]}"#,
                        "data_sources/m/d/c/rules.json":
                            #"{"database": "d", "collection": "c", "roles": []}"#,
                    ]
                )
            ).app
        )
        #expect(app.dataSources.first?.collections.first?.rules == nil)
        #expect(app.dataSources.first?.defaultRules?.roles.map(\.name) == ["all"])
    }
}

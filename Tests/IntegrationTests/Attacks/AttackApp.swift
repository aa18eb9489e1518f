import Crypto
import Foundation
import TestSupport
import Testing

/// A second app on the shared server, with collections that hide something, and what attackers send.
enum AttackApp {
    static let clientAppID = "attacks-abcde"
    /// Stands in every value that callers may not see.
    static let marker = "HIDDEN-5f3a"

    private static let files: [String: String] = [
        "realm_config.json": #"{"app_id": "attacks-abcde", "config_version": 20210101, "name": "attacks"}"#,
        "auth/providers.json": """
        {"anon-user": {"name": "anon-user", "type": "anon-user", "disabled": false},
         "api-key": {"name": "api-key", "type": "api-key", "disabled": false},
         "local-userpass": {"name": "local-userpass", "type": "local-userpass", "disabled": false,
                            "config": {"autoConfirm": true}},
         "custom-token": {"name": "custom-token", "type": "custom-token", "disabled": false,
                          "config": {"audience": ["attacks"], "signingAlgorithm": "RS256", "useJWKURI": false},
                          "secret_config": {"signingKeys": ["public_key"]}}}
        """,
        "data_sources/mongodb-atlas/config.json":
            #"{"name": "mongodb-atlas", "type": "mongodb-atlas", "config": {}, "version": 1}"#,
        // Every namespace without rules of its own is open: what the others have must not leak through it.
        "data_sources/mongodb-atlas/default_rule.json":
            #"{"roles": [{"name": "open", "apply_when": {}, "read": true, "write": true}]}"#,
        "http_endpoints/data_api_config.json":
            #"{"disabled": false, "versions": ["v1"], "return_type": "JSON", "create_user_on_auth": true}"#,
        rules("Notes"): role(
            #""document_filters": {"read": {"owner": "%%user.id"}, "write": {"owner": "%%user.id"}}, "read": true, "write": true"#
        ),
        // Composed and decomposed: two fields, two collections.
        rules("caf\u{e9}"): role(
            #""document_filters": {"read": false, "write": false}, "read": false, "write": false"#
        ),
        rules("Staff"): role(
            """
            "fields": {"_id": {"read": true}, "name": {"read": true, "write": true}, "team": {"read": true},
              "salary": {}, "caf\u{e9}": {"read": true},
              "contact": {"fields": {"city": {"read": true, "write": true}, "phone": {}}},
              "items": {"fields": {"sku": {"read": true, "write": true}, "n": {"read": true, "write": true}, "cost": {}}}},
            "additional_fields": {}
            """
        ),
        rules("Mixed"): """
        {"roles": [
          {"name": "self", "apply_when": {"owner": "%%user.id"}, "read": true, "write": true},
          {"name": "other", "apply_when": {}, "insert": false, "delete": false,
           "fields": {"_id": {"read": true}, "name": {"read": true, "write": true}}, "additional_fields": {}}]}
        """,
        // A comparison between fields, which SQL cannot decide: documents are judged one by one.
        rules("Inexact"): """
        {"roles": [{"name": "same", "apply_when": {"%%root.owner": "%%root.reader"}, "read": true, "write": true}]}
        """,
        rules("Masked"): """
        {"roles": [{"name": "all", "apply_when": {}, "read": true, "write": true}],
         "filters": [{"name": "mask", "apply_when": true, "query": {}, "projection": {"pin": 0}}]}
        """,
    ]

    private static func rules(_ collection: String) -> String {
        "data_sources/mongodb-atlas/vault/\(collection)/rules.json"
    }

    private static func role(_ permissions: String) -> String {
        #"{"roles": [{"name": "only", "apply_when": {}, \#(permissions)}]}"#
    }

    private static let task = Task {
        let server = try await SharedServer.caller().server
        let caller = APICaller(server: server, app: clientAppID)
        let directory = server.directory.appendingPathComponent("attack-app")
        for (path, text) in files {
            let file = directory.appendingPathComponent(path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(text.utf8).write(to: file)
        }
        let result = try Shell.run(
            RunningServer.binary,
            ["import", directory.path, "--database-url", server.database]
        )
        guard result.status == 0 else { throw ImportFailed(text: result.output + result.errors) }
        try await eventually {
            try await caller.send("GET", "/api/client/v2.0/app/\(clientAppID)/location").status == 200
        }
        return caller
    }

    private struct ImportFailed: Error {
        let text: String
    }

    static func caller() async throws -> APICaller { try await task.value }

    /// A new anonymous user of the attacked app.
    static func user() async throws -> (APICaller, APICaller.User) {
        let caller = try await caller()
        return (caller, try await caller.newUser())
    }

    /// Runs SQL as the administrator.
    @discardableResult
    static func sql(_ text: String) async throws -> String {
        try Shell.psql(try await caller().server.database, text)
    }

    /// Puts documents into a collection of `vault` behind the gateway's back.
    static func put(_ collection: String, _ documents: String...) async throws {
        try await put(collection, documents)
    }

    static func put(_ collection: String, _ documents: [String]) async throws {
        let table = "vault.\"\(collection)\""
        let rows = documents.map { "('\($0.replacingOccurrences(of: "'", with: "''"))')" }
        try await sql(
            """
            select tidegate.ensure_collection('vault', '\(collection)');
            insert into \(table) (doc) values \(rows.joined(separator: ","));
            """
        )
    }

    /// The text of a JSON string.
    static func json(_ text: String) throws -> String {
        String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
    }

    /// A fingerprint of everything in the server's own tables that requests of users must not change.
    ///
    /// Other suites run beside, and set things as administrators: two secrets, how hidden fields are asked for, and with
    /// either the app's version.
    static func serverTables() async throws -> String {
        try await sql(
            """
            select md5(string_agg(format('%s', t), '|' order by t)) from (
              select ((to_jsonb(a) - 'version') #- '{config,allow_hidden_field_queries}')::text as t
                from tidegate.apps a where client_app_id = '\(clientAppID)'
              union all select row_to_json(r)::text from tidegate.collection_rules r
                where r.app in (select id from tidegate.apps where client_app_id = '\(clientAppID)')
              union all select row_to_json(s)::text from tidegate.secrets s
                where s.app in (select id from tidegate.apps where client_app_id = '\(clientAppID)')
                  and s.name not in ('bait', 'public_key')
              union all select proname || pg_get_functiondef(oid) from pg_proc
                where pronamespace = 'tidegate'::regnamespace and prokind = 'f') x
            """
        )
    }
}

extension APICaller {
    /// One action on a collection of `vault`.
    func attack(
        _ action: String,
        _ collection: String,
        _ members: String = "",
        as caller: [String: String]
    ) async throws -> Answer {
        try await act(action, collection, members, as: caller, database: "vault")
    }
}

/// Names that break out of quoting, paths and limits wherever a name becomes text.
enum HostileNames {
    static let all: [String] = [
        "a'b", "a''b", "a\"b", "a\"\"b", "a\\b", "a\\'b", "a--b", "a/*b*/", "a;b", "a{b}", "a,b", "a[0]",
        "a@>b",
        "a?b", "a||b", "a%sb", "a$1", "a $$ b", "a:b", "a::text", "caf\u{e9}", "cafe\u{301}", "日本", "😀",
        "a\u{202e}b",
        "a\tb", "a\nb", "'; drop table vault.\"Staff\"; --", "\" ; select pg_sleep(100); --",
        "doc' or '1'='1", "\\u0027 or 1=1", "x') or (true", "}'; --", "__proto__", "constructor", "null",
        "true", "*",
        String(repeating: "n", count: 400),
    ]
}

/// Tokens that somebody forges.
enum ForgedToken {
    static func encode(_ data: Data) -> String {
        data.base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }

    /// A token signed with an HMAC key.
    static func hmac(header: String, payload: String, key: Data) -> String {
        let signed = "\(encode(Data(header.utf8))).\(encode(Data(payload.utf8)))"
        let code = HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: SymmetricKey(data: key))
        return "\(signed).\(encode(Data(code)))"
    }

    /// A token with any text as its signature.
    static func unsigned(header: String, payload: String, signature: String = "") -> String {
        "\(encode(Data(header.utf8))).\(encode(Data(payload.utf8))).\(signature)"
    }
}

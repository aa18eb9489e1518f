import Crypto
import Foundation
import TestSupport
import Testing

/// One server for the suites that go through `client-api.md` row by row: an app with every provider, and beside it
/// apps that do one thing otherwise.
enum WholeApp {
    static let app = "whole-abcde"
    static let jwtKey = "2k66QfKeTRk3MdZ5vpDYgZCu2k66QfKeTRk3MdZ5vpDYgZCu"
    static let issuerKey = P256.Signing.PrivateKey()

    private static let issuer = Task {
        let numbers = issuerKey.publicKey.rawRepresentation
        let set =
            #"{"keys":[{"kty":"EC","kid":"k1","use":"sig","crv":"P-256","x":"\#(ForgedToken.encode(numbers.prefix(32)))","y":"\#(ForgedToken.encode(numbers.suffix(32)))"}]}"#
        return try LineServer.json { set }
    }

    private static let task = Task {
        let port = try await issuer.value.port
        let server = try await RunningServer.start(
            app: files(issuerPort: port),
            name: "client-api",
            // The suites ask for more mails and fail more often than one person would.
            arguments: [
                "--mails-per-hour-per-address", "0", "--failed-logins-per-minute-per-address", "0",
                "--failed-logins-per-minute-per-account", "0", "--function-timeout", "45",
            ]
        )
        try Shell.psql(
            server.database,
            // Anonymous logins come last: whoever gets one finds the rest.
            script: """
                select tidegate.set_secret('whole', 'jwt_key', '\(jwtKey)');
                select tidegate.create_app('auto', 'auto-abcde');
                select tidegate.set_provider('auto', 'api-key', '{}');
                select tidegate.set_provider('auto', 'local-userpass', '{"config": {"autoConfirm": true,
                    "runResetFunction": true, "resetFunctionName": "reset"}}');
                select tidegate.set_function('auto', 'reset', 'exports = ({username, password, token, tokenId,
                    currentPasswordValid}, answer, ...rest) => { if (answer === "throw") throw new Error("no");
                    if (answer === "look" && !(username && password && token && tokenId && currentPasswordValid
                    === true && rest[0] === 7)) return {status: "fail"};
                    return {status: answer === "look" ? "success" : answer}; }');
                select tidegate.set_provider('auto', 'anon-user', '{}');
                select tidegate.create_app('asked', 'asked-abcde');
                select tidegate.set_function('asked', 'confirm', 'exports = ({username, token, tokenId}) => {
                    if (/throw/.test(username)) throw new Error("no");
                    return {status: !(token && tokenId) ? "fail" : /later/.test(username) ? "pending"
                    : /never/.test(username) ? "fail" : "success"}; }');
                select tidegate.set_provider('asked', 'local-userpass', '{"config": {"autoConfirm": false,
                    "runConfirmationFunction": true, "confirmationFunctionName": "confirm"}}');
                select tidegate.set_provider('asked', 'anon-user', '{}');
                """
        )
        for name in ["auto-abcde", "asked-abcde", app] {
            let api = APICaller(server: server, app: name)
            try await eventually { (try? await api.newUser()) != nil }
        }
        return server
    }

    static func caller(_ app: String = app) async throws -> APICaller {
        APICaller(server: try await task.value, app: app)
    }

    static func psql(_ statement: String) async throws -> String {
        try Shell.psql(try await task.value.database, statement)
    }

    /// The token and its id out of the last mail to an address, once there are so many.
    static func token(to email: String, mails count: Int = 1) async throws -> (token: String, id: String) {
        let folder = try await task.value.directory.appendingPathComponent("data/mail")
        var mail = ""
        try await eventually {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
            let mails = names.filter { $0.hasSuffix(".eml") }.sorted().compactMap {
                try? String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8)
            }.filter { $0.contains("To: <\(email)>") }
            mail = mails.last ?? ""
            return mails.count >= count
        }
        let token = mail.firstMatch(of: /token=([0-9a-f]{64})/)?.1 ?? ""
        let id = mail.firstMatch(of: /tokenId=([0-9a-f]{24})/)?.1 ?? ""
        return (String(token), String(id))
    }

    /// A token of the app's own issuer.
    static func jwt(
        _ subject: String,
        _ more: String = "",
        audience: String = #""whole-abcde""#,
        expires: Int = 2_145_916_800
    ) -> String {
        ForgedToken.hmac(
            header: #"{"alg":"HS256","typ":"JWT"}"#,
            payload: #"{"aud":\#(audience),"sub":"\#(subject)","exp":\#(expires)\#(more)}"#,
            key: Data(jwtKey.utf8)
        )
    }

    /// A token of the Google, Apple and Facebook of this machine.
    static func idToken(_ subject: String, audience: String = "client-1") throws -> String {
        let claims =
            #"{"iss":"https://issuer.example","aud":"\#(audience)","sub":"\#(subject)","exp":2145916800}"#
        let text =
            ForgedToken.encode(Data(#"{"alg":"ES256","kid":"k1"}"#.utf8)) + "."
            + ForgedToken.encode(Data(claims.utf8))
        return text + "."
            + ForgedToken.encode(try issuerKey.signature(for: Data(text.utf8)).rawRepresentation)
    }

    private static func files(issuerPort: UInt16) -> [String: String] {
        let openTo =
            #"{"roles": [{"name": "all", "apply_when": {}, "document_filters": {"read": true, "write": true}, "read": true, "write": true}]}"#
        func oauth(_ name: String) -> String {
            #""\#(name)": {"name": "\#(name)", "type": "\#(name)", "disabled": false, "config": {"clientId": "client-1", "openId": true, "issuer": "https://issuer.example", "jwkURI": "http://127.0.0.1:\#(issuerPort)/keys"}}"#
        }
        return [
            "realm_config.json":
                #"{"app_id": "whole-abcde", "config_version": 20210101, "name": "whole"}"#,
            "auth/providers.json": """
            {"anon-user": {"name": "anon-user", "type": "anon-user", "disabled": false},
             "api-key": {"name": "api-key", "type": "api-key", "disabled": false},
             "local-userpass": {"name": "local-userpass", "type": "local-userpass", "disabled": false,
                "config": {"autoConfirm": false, "emailConfirmationUrl": "https://app.example/confirm",
                           "resetPasswordUrl": "https://app.example/reset"}},
             "custom-token": {"name": "custom-token", "type": "custom-token", "disabled": false,
                "config": {"audience": [], "signingAlgorithm": "HS256", "useJWKURI": false},
                "metadata_fields": [{"required": false, "name": "mySecretField", "field_name": "secret"},
                                    {"required": false, "name": "org.team"},
                                    {"required": false, "name": "full\\\\.name", "field_name": "name"}],
                "secret_config": {"signingKeys": ["jwt_key"]}},
             "custom-function": {"name": "custom-function", "type": "custom-function", "disabled": false,
                "config": {"authFunctionName": "logIn"}},
             \(oauth("oauth2-google")), \(oauth("oauth2-apple")), \(oauth("oauth2-facebook"))}
            """,
            "auth/custom_user_data.json":
                #"{"enabled": true, "mongo_service_name": "mongodb-atlas", "database_name": "todo", "collection_name": "People", "user_id_field": "uid"}"#,
            "data_sources/mongodb-atlas/config.json":
                #"{"name": "mongodb-atlas", "type": "mongodb-atlas", "config": {}, "version": 1}"#,
            "data_sources/mongodb-atlas/todo/Open/rules.json": openTo,
            "data_sources/mongodb-atlas/todo/Odd/rules.json": openTo,
            "data_sources/mongodb-atlas/todo/Brief/rules.json": openTo,
            "data_sources/mongodb-atlas/todo/Moved/rules.json": openTo,
            "data_sources/mongodb-atlas/todo/People/rules.json": openTo,
            "data_sources/mongodb-atlas/todo/Checked/rules.json": openTo,
            "data_sources/mongodb-atlas/todo/Checked/schema.json":
                #"{"title": "Checked", "bsonType": "object", "required": ["_id", "name"], "properties": {"_id": {"bsonType": "objectId"}, "name": {"bsonType": "string"}}}"#,
            "functions/config.json":
                #"[{"name": "hidden", "private": true}, {"name": "closed", "can_evaluate": {"%%user.id": "nobody"}}, {"name": "logIn", "private": true, "run_as_system": true}]"#,
            "functions/sum.js": "exports = (...numbers) => numbers.reduce((a, b) => a + b, 0);",
            "functions/same.js": "exports = (value) => value;",
            "functions/hidden.js": "exports = () => 1;",
            "functions/closed.js": "exports = () => 1;",
            "functions/nothing.js": "exports = () => {};",
            "functions/null.js": "exports = () => null;",
            "functions/throws.js":
                "exports = (what) => { if (what) throw what; return unknown; };",
            "functions/loop.js": "exports = () => { for (;;) {} };",
            "functions/service.js":
                "exports = () => context.services.get('smurf').db('todo');",
            "functions/numbers.js": "exports = () => [1, 4294967296, 0.5, -2147483648, 9007199254740991];",
            "functions/logIn.js": """
            exports = (payload) => {
              if (payload.options || payload.provider) throw new Error('more than the payload came');
              if (payload.fail) throw new Error('you shall not pass');
              if (payload.nobody) return null;
              if (payload.typed && !(payload.n === 1 && payload.d instanceof Date)) throw new Error('types are gone');
              return payload.name ? { id: payload.id, name: payload.name } : payload.id;
            };
            """,
        ]
    }
}

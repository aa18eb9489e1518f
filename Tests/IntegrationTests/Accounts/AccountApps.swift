import Foundation
import TestSupport
import Testing

/// A server for the suites about accounts: one app that confirms by mail, and one that does not.
enum AccountServer {
    static let app = "mails-abcde"
    static let automatic = "automatic-abcde"

    private static let providers = """
        {"anon-user": {"name": "anon-user", "type": "anon-user", "disabled": false},
         "api-key": {"name": "api-key", "type": "api-key", "disabled": false},
         "local-userpass": {"name": "local-userpass", "type": "local-userpass", "disabled": false,
            "config": {"autoConfirm": false, "emailConfirmationUrl": "https://app.example/confirm",
                       "resetPasswordUrl": "https://app.example/reset?lang=en",
                       "confirmEmailSubject": "Welcome to mails"}},
         "custom-token": {"name": "custom-token", "type": "custom-token", "disabled": false,
            "config": {"audience": [], "signingAlgorithm": "HS256", "useJWKURI": false},
            "metadata_fields": [{"required": false, "name": "full\\\\.name", "field_name": "name"},
                                {"required": false, "name": "org.team", "field_name": "team"}],
            "secret_config": {"signingKeys": ["jwt_key"]}}}
        """

    private static let task = Task {
        let server = try await RunningServer.start(
            app: [
                "realm_config.json":
                    #"{"app_id": "mails-abcde", "config_version": 20210101, "name": "mails"}"#,
                "auth/providers.json": providers,
                "auth/custom_user_data.json":
                    #"{"enabled": true, "mongo_service_name": "mongodb-atlas", "database_name": "todo", "collection_name": "People", "user_id_field": "uid"}"#,
                "data_sources/mongodb-atlas/config.json":
                    #"{"name": "mongodb-atlas", "type": "mongodb-atlas", "config": {}, "version": 1}"#,
                "http_endpoints/data_api_config.json":
                    #"{"disabled": false, "versions": ["v1"], "return_type": "JSON"}"#,
                "data_sources/mongodb-atlas/todo/Item/rules.json":
                    #"{"roles": [{"name": "all", "apply_when": {}, "document_filters": {"read": true, "write": true}, "read": true, "write": true}]}"#,
            ],
            name: "accounts",
            // The suites ask for more mails and fail more often than one person would.
            arguments: [
                "--mails-per-hour-per-address", "0", "--failed-logins-per-minute-per-address", "0",
                "--failed-logins-per-minute-per-account", "0",
            ]
        )
        try Shell.psql(
            server.database,
            script: """
                select tidegate.set_secret('mails-abcde', 'jwt_key', '7A4VvateM9s86tbkfisoLoChjGBjuJnZ');
                select tidegate.create_collection('todo', 'People');
                select tidegate.create_app('automatic', 'automatic-abcde');
                select tidegate.set_function('automatic', 'resetIt', 'exports = () => ({status: "fail"})');
                select tidegate.set_provider('automatic', 'local-userpass', '{"config": {"autoConfirm": true,
                    "runResetFunction": true, "resetFunctionName": "resetIt"}}');
                select tidegate.set_provider('automatic', 'anon-user', '{}');
                """
        )
        let automatic = APICaller(server: server, app: Self.automatic)
        try await eventually { (try? await automatic.newUser()) != nil }
        return server
    }

    static func caller(_ app: String = app) async throws -> APICaller {
        APICaller(server: try await task.value, app: app)
    }

    /// Everything that was mailed to an address, oldest first.
    static func mails(to email: String) async throws -> [String] {
        let folder = try await task.value.directory.appendingPathComponent("data/mail")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix(".eml") }.sorted().compactMap {
            try? String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8)
        }.filter { $0.contains("To: <\(email)>") }
    }

    /// The token and its id out of the last mail to an address, once there are so many.
    static func token(to email: String, mails count: Int = 1) async throws -> (token: String, id: String) {
        var mail = ""
        try await eventually {
            let mails = try await mails(to: email)
            mail = mails.last ?? ""
            return mails.count >= count
        }
        let token = mail.firstMatch(of: /token=([0-9a-f]{64})/)?.1 ?? ""
        let id = mail.firstMatch(of: /tokenId=([0-9a-f]{24})/)?.1 ?? ""
        return (String(token), String(id))
    }
}

extension APICaller {
    /// A request of the client API with a JSON body, as SDKs send it.
    func post(_ path: String, _ body: String, as headers: [String: String] = [:]) async throws -> Answer {
        var headers = headers
        headers["Content-Type"] = "application/json;charset=utf-8"
        return try await send("POST", path, headers: headers, body: Data(body.utf8))
    }

    /// One of the paths of email and password.
    func userpass(_ path: String, _ body: String, as headers: [String: String] = [:]) async throws -> Answer {
        try await provider("local-userpass", path, body, as: headers)
    }

    /// One of the paths of a provider, from behind its name.
    func provider(
        _ provider: String,
        _ path: String,
        _ body: String,
        as headers: [String: String] = [:]
    ) async throws -> Answer {
        try await post("/api/client/v2.0/app/\(app)/auth/providers/\(provider)/\(path)", body, as: headers)
    }

    /// The profile behind an access token.
    func profile(_ accessToken: String) async throws -> Answer {
        try await send(
            "GET",
            "/api/client/v2.0/auth/profile",
            headers: ["Authorization": "Bearer \(accessToken)"]
        )
    }

    /// A login's tokens and ids.
    func tokens(_ answer: Answer) throws -> User {
        guard answer.status == 200, let id = answer.object["user_id"] as? String,
            let access = answer.object["access_token"] as? String,
            let refresh = answer.object["refresh_token"] as? String
        else { throw UnexpectedAnswer(answer: answer) }
        return User(id: id, email: "", password: "", accessToken: access, refreshToken: refresh)
    }

    /// An address that nobody had.
    func newEmail(_ word: String = "user") -> String {
        "\(word)-\(UUID().uuidString.lowercased())@example.com"
    }

    /// Registers, reads the mail, confirms and logs in.
    func newConfirmedUser() async throws -> User {
        let email = newEmail()
        let registration = try await userpass(
            "register",
            #"{"email":"\#(email)","password":"correct horse"}"#
        )
        guard registration.status == 201 else { throw UnexpectedAnswer(answer: registration) }
        let (token, id) = try await AccountServer.token(to: email)
        let confirmation = try await userpass("confirm", #"{"token":"\#(token)","tokenId":"\#(id)"}"#)
        guard confirmation.status == 200 else { throw UnexpectedAnswer(answer: confirmation) }
        return try await logIn(email: email, password: "correct horse")
    }
}

/// An error as the client API tells it.
func expect(
    _ answer: APICaller.Answer,
    _ status: Int,
    _ code: String?,
    _ text: String,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(answer.status == status, "\(answer.text)", sourceLocation: sourceLocation)
    #expect(answer.errorCode == code, "\(answer.text)", sourceLocation: sourceLocation)
    #expect(answer.error == text, sourceLocation: sourceLocation)
    #expect(answer.header("Content-Type") == "application/json", sourceLocation: sourceLocation)
}

/// A success without body and content type.
func expectNothing(
    _ answer: APICaller.Answer,
    _ status: Int,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(answer.status == status, "\(answer.text)", sourceLocation: sourceLocation)
    #expect(answer.text == "", sourceLocation: sourceLocation)
    #expect(answer.header("Content-Type") == nil, sourceLocation: sourceLocation)
}

import Foundation
import TestSupport
import Testing

/// The process runs as a login that is a member of `tidegate_gateway` and of nothing else.
@Suite("A gateway with its own login", .serialized)
struct GatewayLoginTests {
    private static let login = "gateway_login"

    private func gateway() async throws -> APICaller {
        let first = try await SharedServer.caller()
        try Shell.psql(
            first.server.database,
            "drop role if exists \(Self.login); create role \(Self.login) login in role tidegate_gateway"
        )
        let server = try await RunningServer.start(besides: first.server, name: "login", as: Self.login)
        return APICaller(server: server, app: first.app)
    }

    @Test("logs users in, makes collections, and reads and writes documents")
    func serves() async throws {
        let first = try await gateway()
        defer { first.server.stop() }
        let database = try await SharedServer.caller().server.database
        let rules =
            #"{"roles":[{"name":"all","apply_when":{},"document_filters":{"read":true,"write":{"owner":"%%user.id"}},"read":true,"write":true}]}"#
        try Shell.psql(
            database,
            script: """
                select tidegate.create_app('login-data', 'login-data-abcde');
                select tidegate.set_provider('login-data', 'api-key', '{}');
                select tidegate.set_provider('login-data', 'local-userpass', '{"config": {"autoConfirm": true}}');
                select tidegate.set_default_rules('login-data', 'mongodb-atlas', '\(rules)');
                """
        )
        let api = APICaller(server: first.server, app: "login-data-abcde")
        let server = try SharedServer.apiKey(
            APICaller(server: try await SharedServer.caller().server, app: api.app)
        )
        try await eventually { try await api.act("find", "Open", as: server).status == 200 }
        let user = try await api.newPasswordUser()
        let again = try await api.logIn(email: user.email, password: user.password)
        #expect(again.id == user.id)
        let insertion = try await api.act(
            "insertOne",
            "Fresh\(UUID().uuidString.prefix(8))",
            #""document":{"n":1,"owner":"\#(user.id)"}"#,
            as: user.bearer,
            database: "login_data"
        )
        #expect(insertion.status == 201, "\(insertion.text)")
        for (action, members) in [
            (
                "insertMany",
                #""documents":[{"_id":1,"n":1,"owner":"\#(user.id)"},{"_id":2,"n":2.5,"owner":"\#(user.id)"}]"#
            ), ("find", #""filter":{"n":{"$gt":0}},"sort":{"n":-1}"#),
            ("updateOne", #""filter":{"_id":1},"update":{"$inc":{"n":1},"$set":{"m":1}}"#),
            ("updateMany", #""filter":{},"update":{"$push":{"list":1}}"#),
            (
                "aggregate",
                #""pipeline":[{"$match":{"n":{"$gt":0}}},{"$group":{"_id":null,"n":{"$sum":"$n"}}}]"#
            ),
            ("deleteMany", #""filter":{}"#),
        ] {
            let answer = try await api.act(action, "Open", members, as: user.bearer, database: "login_data")
            #expect(answer.status < 300, "\(action): \(answer.text)")
        }
        let refused = try await api.act(
            "find",
            "Open",
            as: ["email": user.email, "password": "not the password"]
        )
        #expect(refused.status == 401)
        let session = try await api.send(
            "POST",
            "/api/client/v2.0/auth/session",
            headers: ["Authorization": "Bearer \(user.refreshToken)"]
        )
        #expect(session.status == 201, "\(session.text)")
        let deletion = try await api.send("DELETE", "/api/client/v2.0/auth/delete", headers: user.bearer)
        #expect(deletion.status < 300, "\(deletion.text)")
        try Shell.psql(database, "select tidegate.drop_app('login-data')")
    }

    @Test("follows what an administrator changes, and says what it does not take")
    func follows() async throws {
        let api = try await gateway()
        defer { api.server.stop() }
        let database = try await SharedServer.caller().server.database
        try Shell.psql(database, "select tidegate.create_app('login-app', 'login-app-abcde')")
        try Shell.psql(database, "select tidegate.set_provider('login-app', 'anon-user', '{}')")
        let other = APICaller(server: api.server, app: "login-app-abcde")
        try await eventually { (try? await other.newUser()) != nil }
        try Shell.psql(
            database,
            """
            select tidegate.set_rules('login-app', 'mongodb-atlas', 'todo', 'Refused',
              '{"roles":[{"name":"a","apply_when":{"%%nonsense":1},"read":true}]}')
            """
        )
        try await eventually {
            try Shell.psql(database, "select count(*) from tidegate.list_config_errors('login-app')") != "0"
        }
        try Shell.psql(database, "select tidegate.drop_app('login-app')")
    }
}

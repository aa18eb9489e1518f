import Foundation
import TestSupport
import Testing

/// What a request leaves in `tidegate.logs`.
@Suite("Request log")
struct LogRowTests {
    private let columns =
        "type, app, coalesce(user_id, 'nobody'), method, route, operation, coalesce(namespace, '-'), status, coalesce(code, '-'), coalesce(role, '-'), coalesce(reason, '-'), address"
    private let data = "POST|/app/{appID}/endpoint/data/{version}/action/{action}"

    @Test("has one row for a write, with the request id of the answer's header")
    func write() async throws {
        let api = try await LoggingServer.caller()
        let user = try await api.newUser()
        let answer = try await api.act("insertOne", "Open", #""document":{"a":1}"#, as: user.bearer)
        let row = try await api.row(columns, of: answer)
        #expect(
            row
                == "ENDPOINT|tests-abcde|\(user.id)|\(data)|insertOne|todo.Open|201|-|only|-|127.0.0.1"
        )
        let times = try await api.row("duration_ms > database_ms and database_ms > 0", of: answer)
        #expect(times == "t")
        try await api.settle()
        #expect(try await api.row("status", of: answer) == "201", "once")
    }

    @Test("has role and precise reason of a denied write, found by the link of the answer")
    func deniedWrite() async throws {
        let api = try await LoggingServer.caller()
        let user = try await api.newUser()
        let answer = try await api.act("insertOne", "ReadOnly", #""document":{"a":1}"#, as: user.bearer)
        #expect(answer.status == 400)
        let link = try #require(answer.object["link"] as? String)
        let id = try #require(link.components(separatedBy: "co_id=").last)
        #expect(id == answer.header("X-Appservices-Request-Id"))
        let row = try await api.row(columns, of: answer)
        #expect(
            row
                == "ENDPOINT|tests-abcde|\(user.id)|\(data)|insertOne|todo.ReadOnly|400|NoMatchingRuleFound|only|denied by write filter|127.0.0.1"
        )
        let denials = try Shell.psql(
            api.server.database,
            "select reason from tidegate.recent_denials('\(api.app)') where request_id = '\(id)'"
        )
        #expect(denials == "denied by write filter")
    }

    @Test(
        "has the reason of a denial that SQL decided",
        arguments: [
            ("updateOne", #""filter":{"_id":"%"},"update":{"$set":{"a":2}}"#),
            ("updateMany", #""filter":{"_id":"%"},"update":{"$set":{"a":2}}"#),
            ("deleteOne", #""filter":{"_id":"%"}"#), ("deleteMany", #""filter":{"_id":"%"}"#),
        ]
    )
    func deniedBySQL(action: String, members: String) async throws {
        let api = try await LoggingServer.caller()
        let owner = try await api.newUser()
        let other = try await api.newUser()
        let id = UUID().uuidString
        let insert = try await api.act(
            "insertOne",
            "Feed",
            #""document":{"_id":"\#(id)","ownerId":"\#(owner.id)"}"#,
            as: owner.bearer
        )
        #expect(insert.status == 201)
        let answer = try await api.act(
            action,
            "Feed",
            members.replacingOccurrences(of: "%", with: id),
            as: other.bearer
        )
        #expect(answer.status == 400)
        #expect(try await api.row("role, reason", of: answer) == "only|denied by write filter")
    }

    @Test("has one row for a failed read, without the values of its filter")
    func failedRead() async throws {
        let api = try await LoggingServer.caller()
        let user = try await api.newUser()
        let unknown = try await api.act("find", "Nowhere", #""filter":{}"#, as: user.bearer)
        let row = try await api.row(columns, of: unknown)
        #expect(
            row
                == "ENDPOINT|tests-abcde|\(user.id)|\(data)|find|todo.Nowhere|403|NoMatchingRuleFound|-|no rule exists for namespace 'todo.Nowhere'|127.0.0.1"
        )
        let bad = try await api.act("find", "Open", #""filter":{"$whisper":"x"}"#, as: user.bearer)
        #expect(bad.error.contains("$whisper"))
        let reason = try await api.row("reason", of: bad)
        #expect(!reason.isEmpty && !reason.contains("whisper"), "\(reason)")
    }

    @Test("has one row for a failed login, with a reason and without credentials")
    func failedLogin() async throws {
        let api = try await LoggingServer.caller()
        let user = try await api.newPasswordUser()
        let path = "/api/client/v2.0/app/\(api.app)/auth/providers/local-userpass/login"
        for (email, reason) in [
            ("nobody@example.com", "unauthorized: unknown email"),
            (user.email, "unauthorized: wrong password"),
        ] {
            let answer = try await api.send(
                "POST",
                path,
                headers: ["Content-Type": "application/json"],
                body: Data(#"{"username":"\#(email)","password":"wrong-password"}"#.utf8)
            )
            #expect(answer.status == 401)
            let row = try await api.row(columns, of: answer)
            #expect(
                row
                    == "AUTH|tests-abcde|nobody|POST|/api/client/v2.0/app/{appID}/auth/providers/{provider}/login|login local-userpass|-|401|InvalidPassword|-|\(reason)|127.0.0.1"
            )
        }
        let key = try await api.act("find", "Open", as: ["apiKey": "nonsense"])
        #expect(try await api.row("status, code, user_id, reason", of: key).hasPrefix("401|InvalidSession|"))
    }

    @Test("has a row for a login, a logout and a refused refresh, with the user")
    func sessions() async throws {
        let api = try await LoggingServer.caller()
        let user = try await api.newPasswordUser()
        let session = "/api/client/v2.0/auth/session"
        let bearer = ["Authorization": "Bearer \(user.refreshToken)"]
        let logout = try await api.send("DELETE", session, headers: bearer)
        let loggedOut = try await api.row("type, app, user_id, operation, status", of: logout)
        #expect(
            loggedOut
                == "AUTH|tests-abcde|\(user.id)|logout|204"
        )
        let refresh = try await api.send("POST", session, headers: bearer)
        let refused = try await api.row("type, app, user_id, operation, status, reason", of: refresh)
        #expect(
            refused
                == "AUTH|tests-abcde|\(user.id)|refresh|401|invalid session: failed to find refresh token"
        )
        let logins = try Shell.psql(
            api.server.database,
            "select operation, status from tidegate.logs where user_id = '\(user.id)' and operation like 'login%'"
        )
        #expect(logins == "login local-userpass|200")
    }

    @Test("has no row for a read unless it is sampled, and none for writes when they are switched off")
    func sampling() async throws {
        let first = try await LoggingServer.caller()
        let server = try await RunningServer.start(
            besides: first.server,
            name: "logs-sampled",
            arguments: ["--log-sample", "1", "--log-writes", "false"]
        )
        let second = APICaller(server: server, app: first.app)
        let user = try await first.newUser()
        for (api, action) in [(first, "find"), (second, "findOne")] {
            for _ in 0..<5 { _ = try await api.act(action, "Open", as: user.bearer) }
            _ = try await api.act("insertOne", "Open", #""document":{}"#, as: user.bearer)
            try await api.settle()
        }
        // A read that took a second is logged in any case.
        let rows = try Shell.psql(
            first.server.database,
            """
            select operation, count(*) from tidegate.logs
            where user_id = '\(user.id)' and status < 400 and not (operation = 'find' and duration_ms >= 1000)
            group by 1 order by 1
            """
        )
        #expect(rows == "findOne|5\ninsertOne|1\nlogin anon-user|1")
        server.stop()
    }

    @Test("is printed by tidegate logs")
    func command() async throws {
        let api = try await LoggingServer.caller()
        let user = try await api.newUser()
        let write = try await api.act("insertOne", "Open", #""document":{}"#, as: user.bearer)
        let denied = try await api.act("insertOne", "ReadOnly", #""document":{}"#, as: user.bearer)
        _ = try await api.row("status", of: denied)
        func lines(_ arguments: [String]) throws -> [Substring] {
            let result = try Shell.run(
                RunningServer.binary,
                ["logs", "--database-url", api.server.database] + arguments
            )
            #expect(result.status == 0, "\(result.errors)")
            return result.output.split(separator: "\n")
        }
        let all = try lines(["--app", api.app, "--user", user.id])
        #expect(all.count == 3, "login, write, denial: \(all)")
        let failed = try lines(["--user", user.id, "--errors-only"])
        #expect(failed.count == 1)
        let text = String(failed.first ?? "")
        for part in ["400", "todo.ReadOnly", "role only", "NoMatchingRuleFound", "denied by write filter"] {
            #expect(text.contains(part), "\(text)")
        }
        let id = write.header("X-Appservices-Request-Id") ?? ""
        #expect(try lines(["--co-id", id]).first?.contains("insertOne") == true)
        let refused = try Shell.run(
            RunningServer.binary,
            ["logs", "--database-url", api.server.database, "--app", "nobody"]
        )
        #expect(refused.status != 0)
        #expect(refused.errors.contains("app 'nobody' does not exist"), "\(refused.errors)")
    }
}

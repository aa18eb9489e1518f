import Foundation
import TestSupport
import Testing

@Suite("Log lines and timings")
struct LogLineTests {
    @Test("are JSON with the request's id, and hold no secret")
    func lines() async throws {
        let shared = try await SharedServer.caller()
        let server = try await RunningServer.start(
            besides: shared.server,
            name: "json-log",
            arguments: ["--log-format", "json", "--log-level", "trace"]
        )
        defer { server.stop() }
        let api = APICaller(server: server, app: shared.app)
        let user = try await api.newPasswordUser()
        let key = try SharedServer.apiKey(shared)
        let mark = "mark-\(UUID().uuidString)"
        var ids: Set<String> = []
        for caller in [user.bearer, key, ["email": user.email, "password": user.password]] {
            let answer = try await api.act("find", "Open", #""filter":{"name":"\#(mark)"}"#, as: caller)
            #expect(answer.status == 200, "\(answer.text)")
            ids.insert(try #require(answer.header("x-appservices-request-id")))
        }
        let refused = try await api.send(
            "POST",
            "/app/\(api.app)/endpoint/data/v1/action/find?secret=\(mark)",
            headers: ["apiKey": mark, "Cookie": mark],
            body: Data("{}".utf8)
        )
        ids.insert(try #require(refused.header("x-appservices-request-id")))

        let file = server.directory.appendingPathComponent("server.log")
        var log = ""
        try await eventually {
            log = try String(contentsOf: file, encoding: .utf8)
            return ids.allSatisfy { log.contains($0) }
        }
        var found: Set<String> = []
        for line in log.split(separator: "\n") where !line.hasPrefix("HTTP ") && !line.hasPrefix("ADMIN ") {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            let members = try #require(object, "\(line)")
            #expect(members["level"] is String && members["message"] is String && members["time"] is String)
            if members["message"] as? String == "request finished" {
                found.insert(try #require(members["request_id"] as? String))
            }
        }
        #expect(found.isSuperset(of: ids))
        let secrets = [mark, user.password, user.accessToken, user.refreshToken, key["apiKey"] ?? mark]
        for secret in secrets { #expect(!log.contains(secret)) }
    }

    @Test("tell where an answer's time went in dev, and not in serve")
    func serverTiming() async throws {
        let (api, user) = try await SharedServer.user()
        var caller = user.bearer
        caller["Origin"] = "https://app.example"
        let answer = try await api.act("find", "Open", #""filter":{}"#, as: caller)
        let timing = try #require(answer.header("server-timing"))
        let parts = timing.split(separator: ", ").map(String.init)
        #expect(parts.allSatisfy { $0.wholeMatch(of: /[a-z]+;dur=\d+\.\d{3}/) != nil }, "\(timing)")
        #expect(parts.contains { $0.hasPrefix("database;") } && parts.last?.hasPrefix("total;") == true)
        #expect(answer.header("access-control-expose-headers")?.contains("Server-Timing") == true)

        let server = try await RunningServer.start(besides: api.server, name: "no-timing")
        defer { server.stop() }
        let quiet = try await APICaller(server: server, app: api.app)
            .act("find", "Open", #""filter":{}"#, as: user.bearer)
        #expect(quiet.status == 200)
        #expect(quiet.header("server-timing") == nil)
    }
}

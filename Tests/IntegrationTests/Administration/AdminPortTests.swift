import Foundation
import TestSupport
import Testing

@Suite("The admin port")
struct AdminPortTests {
    private func get(_ api: APICaller, _ path: String) async throws -> APICaller.Answer {
        try await APICaller(server: api.server, app: api.app, base: api.server.admin).send("GET", path)
    }

    private func samples(_ api: APICaller, _ family: String) async throws -> [ExpositionParser.Sample] {
        let answer = try await get(api, "/metrics")
        #expect(answer.header("content-type") == "text/plain; version=0.0.4; charset=utf-8")
        return try ExpositionParser(answer.text).families[family]?.samples ?? []
    }

    @Test("tells health and readiness, and serves nothing of the public")
    func health() async throws {
        let api = try await SharedServer.caller()
        #expect(try await get(api, "/health").text == #"{"status":"ok"}"#)
        #expect(try await get(api, "/ready").text == #"{"status":"ready"}"#)
        #expect(try await get(api, "/api/client/v2.0/app/\(api.app)/location").status == 404)
        for path in ["/metrics", "/status", "/status.json"] {
            #expect(try await api.send("GET", path).status == 404, "\(path) is not for the public")
        }
    }

    @Test("finds a gateway ready that runs under a role of its own, with no more than its rights")
    func readyAsGateway() async throws {
        let api = try await SharedServer.caller()
        try Shell.psql(
            api.server.database,
            "DROP ROLE IF EXISTS ready_gateway; CREATE ROLE ready_gateway LOGIN IN ROLE tidegate_gateway"
        )
        let server = try await RunningServer.start(besides: api.server, name: "ready", as: "ready_gateway")
        defer { server.stop() }
        let answer = try await APICaller(server: server, app: api.app).send("GET", "/ready")
        #expect(answer.status == 200, "\(answer.text)")
    }

    @Test("that is taken keeps a server from starting, which says so by the setting's name")
    func taken() async throws {
        let api = try await SharedServer.caller()
        let port = try #require(api.server.admin.split(separator: ":").last)
        let error = await #expect(throws: RunningServer.ServerDidNotStart.self) {
            try await RunningServer.start(
                besides: api.server,
                name: "taken",
                arguments: ["--admin-port", String(port)]
            )
        }
        #expect(error?.log.contains("admin-port: cannot listen on 127.0.0.1:\(port): ") == true)
    }

    @Test("counts requests and denials by their routes, never by what callers write")
    func requests() async throws {
        let (api, user) = try await SharedServer.user()
        let mark = "made-up-\(UUID().uuidString)"
        _ = try await api.act("find", "Open", #""filter":{"n":{"$gt":1}}"#, as: user.bearer)
        _ = try await api.act("insertOne", "ReadOnly", #""document":{"n":1}"#, as: user.bearer)
        _ = try await api.act("find", mark, #""filter":{}"#, as: user.bearer)
        _ = try await api.send("GET", "/\(mark)")
        _ = try await api.send("PROPFIND", "/\(mark)")

        let requests = try await samples(api, "tidegate_requests_total")
        func has(_ labels: [String: String]) -> Bool {
            requests.contains { sample in
                sample.value > 0 && labels.allSatisfy { sample.labels[$0.key] == $0.value }
            }
        }
        #expect(has(["method": "POST", "operation": "find", "status": "200"]))
        #expect(has(["method": "POST", "operation": "insertOne", "status": "400"]))
        #expect(has(["method": "GET", "route": "none", "status": "404"]))
        #expect(has(["method": "other", "route": "none", "status": "404"]))
        let denials = try await samples(api, "tidegate_denials_total")
        #expect(denials.contains { $0.labels["code"] == "NoMatchingRuleFound" && $0.value > 0 })
        let grades = try await samples(api, "tidegate_compiled_operations_total")
        #expect(grades.contains { $0.labels["grade"] == "exact" && $0.value > 0 })
        let stages = try await samples(api, "tidegate_request_stage_seconds")
        #expect(stages.contains { $0.labels["stage"] == "database" })
        #expect(try await !get(api, "/metrics").text.contains(mark))
    }

    @Test("shows the pool, the prepared statements and the process")
    func gauges() async throws {
        let (api, user) = try await SharedServer.user()
        for _ in 0..<3 { _ = try await api.act("find", "Open", #""filter":{}"#, as: user.bearer) }
        let families = try ExpositionParser(try await get(api, "/metrics").text).families
        func value(_ name: String) -> Double { families[name]?.samples.first?.value ?? 0 }
        #expect(families["tidegate_database_connections"]?.samples.count == 2)
        #expect(value("tidegate_database_acquisitions_total") > 3)
        #expect(value("tidegate_statement_cache_hits_total") > 0)
        #expect(value("tidegate_statement_cache_size") > 0)
        #expect(value("tidegate_notification_connects_total") > 0)
        // Other suites make apps of their own.
        #expect(value("tidegate_apps") >= 1)
        #expect(value("process_resident_memory_bytes") > 1_000_000)
        #expect(value("process_cpu_seconds_total") > 0)
        for family in families.values { #expect(family.help != nil) }
    }
}

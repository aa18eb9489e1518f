import Foundation
import TestSupport
import Testing

/// The pages in a real browser: a script that throws, or a policy that is in its way, shows on the console.
@Suite("In a browser")
struct PageTests {
    /// What an address asked for besides this server.
    private func strangers(_ visit: Browser.Visit, of server: String) -> Set<String> {
        visit.requested.filter { !$0.hasPrefix(server + "/") }
    }

    @Test("/docs shows every operation with a curl line, and asks nobody else", arguments: [390, 1300])
    func docs(width: Int) async throws {
        let api = try await SharedServer.caller()
        let visit = try Browser.visit(api.server.http + "/docs", width: width)
        #expect(visit.console == [])
        #expect(strangers(visit, of: api.server.http) == [])
        #expect(visit.requested.contains(api.server.http + "/openapi/data-api.json"))
        for file in ["data-api.yaml", "client-api.yaml"] {
            let text = try String(
                contentsOf: RunningServer.packageRoot.appendingPathComponent("openapi/\(file)"),
                encoding: .utf8
            )
            for line in text.split(separator: "\n") {
                if line.hasPrefix("      operationId: ") {
                    #expect(visit.dom.contains(#"id="\#(line.dropFirst(19))""#), "\(line)")
                }
                if line.hasPrefix("      summary: ") {
                    #expect(visit.dom.contains(">\(line.dropFirst(15))</span>"), "\(line)")
                }
            }
        }
        #expect(visit.dom.contains("curl '\(api.server.http)/app/myapp-abcde/endpoint/data/v1/action/find'"))
        #expect(visit.dom.contains("NoMatchingRuleFound"))
        #expect(!visit.dom.contains("undefined"))
        #expect(!visit.dom.contains("[object"))
    }

    /// On a gateway of its own: which denials and routes are among the ten shown is up to its own traffic alone.
    @Test("/status plots the traffic, and asks nobody else")
    func status() async throws {
        let (shared, user) = try await SharedServer.user()
        let server = try await RunningServer.start(besides: shared.server, name: "status")
        defer { server.stop() }
        let api = APICaller(server: server, app: shared.app)
        let admin = APICaller(server: server, app: shared.app, base: server.admin)
        // Points come with readings; the traffic goes on until there are some of it.
        try await eventually {
            _ = try await api.act("find", "Open", #""filter":{}"#, as: user.bearer)
            _ = try await api.act("insertOne", "ReadOnly", #""document":{}"#, as: user.bearer)
            let points = try await admin.send("GET", "/status.json").object["points"] as? [[String: Any]]
            let busy = points?.filter {
                ($0["p99"] as? Double ?? 0) > 0 && ($0["denials"] as? Double ?? 0) > 0
            }
            return (busy?.count ?? 0) > 2
        }
        for width in [390, 1300] {
            let visit = try Browser.visit(server.admin + "/status", width: width)
            #expect(visit.console == [])
            #expect(strangers(visit, of: server.admin) == [])
            #expect(visit.dom.contains(#"<span id="ready" class="pill good">ready</span>"#))
            for plot in ["traffic", "latency", "denials", "database"] {
                let figure = try #require(visit.dom.components(separatedBy: #"id="plot-\#(plot)">"#).last)
                let path = try #require(figure.components(separatedBy: #"" d=""#).dropFirst().first)
                #expect(path.hasPrefix("M"), "\(plot)")
                #expect(path.prefix { $0 != "\"" }.contains("L"), "\(plot) has more than a point")
            }
            for operation in ["find", "insertOne"] {
                #expect(visit.dom.contains(#"<b class="operation">\#(operation)</b>"#))
            }
            #expect(visit.dom.contains("<code>NoMatchingRuleFound</code>"))
            for wrong in ["NaN", "undefined", "[object"] { #expect(!visit.dom.contains(wrong), "\(wrong)") }
        }
    }

    @Test("pages allow nothing but what is in them")
    func policy() async throws {
        let api = try await SharedServer.caller()
        let admin = APICaller(server: api.server, app: api.app, base: api.server.admin)
        for answer in [try await api.send("GET", "/docs"), try await admin.send("GET", "/status")] {
            let policy = answer.header("content-security-policy") ?? ""
            #expect(policy.hasPrefix("default-src 'none'; style-src 'sha256-"))
            #expect(!policy.contains("unsafe"))
            #expect(!answer.text.contains("src="))
            #expect(!answer.text.contains("innerHTML"))
            #expect(!answer.text.contains("https://"))
        }
    }
}

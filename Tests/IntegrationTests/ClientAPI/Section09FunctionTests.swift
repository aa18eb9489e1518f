import Foundation
import TestSupport
import Testing

/// `client-api.md` §9.1: each test's name begins with the row.
@Suite("Client API §9.1: calling functions", .serialized)
struct Section09FunctionTests {
    private let path = "/api/client/v2.0/app/whole-abcde/functions/call"

    private func start() async throws -> (APICaller, APICaller.User) {
        let api = try await WholeApp.caller()
        return (api, try await api.anonymous())
    }

    @Test("name; arguments; service; the value itself, in canonical EJSON", arguments: SDK.allCases)
    func members(sdk: SDK) async throws {
        let (api, user) = try await start()
        for (name, arguments, text) in [
            ("sum", #"[{"$numberInt":"1"},{"$numberInt":"2"}]"#, #"{"$numberInt":"3"}"#),
            ("sum", #"[{"$numberLong":"7"},{"$numberLong":"8"}]"#, #"{"$numberLong":"15"}"#),
            ("nothing", "[]", #"{"$undefined":true}"#), ("null", "[]", "null"),
            (
                "numbers", "[]",
                #"[{"$numberInt":"1"},{"$numberLong":"4294967296"},{"$numberDouble":"0.5"},{"$numberInt":"-2147483648"},{"$numberLong":"9007199254740991"}]"#
            ),
            (
                "same", #"[{"a":[{"$oid":"65f0c0ffee0000000000aaaa"},{"$date":{"$numberLong":"0"}}]}]"#,
                #"{"a":[{"$oid":"65f0c0ffee0000000000aaaa"},{"$date":{"$numberLong":"0"}}]}"#
            ),
            ("same", #"[{"error":"mine"}]"#, #"{"error":"mine"}"#),
        ] {
            let answer = try await api.function(name, arguments, as: user, sdk: sdk)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(answer.text == text, "\(name)")
            #expect(answer.header("Content-Type") == "application/json")
        }
        let count =
            #"{"arguments":[{"database":"todo","collection":"Open","query":{"_id":"none"}}],"name":"count","service":"mongodb-atlas"}"#
        let counted = try await api.curl("POST", path, count, token: user.accessToken, as: sdk)
        #expect(counted.text == #"{"$numberLong":"0"}"#)
    }

    @Test("no such function, private function")
    func absent() async throws {
        let (api, user) = try await start()
        for name in ["nowhere", "hidden"] {
            let answer = try await api.function(name, as: user)
            expect(answer, 404, "FunctionNotFound", "function not found: '\(name)'")
        }
    }

    @Test("threw: text of the exception; a thrown plain value is shown as JSON")
    func threw() async throws {
        let (api, user) = try await start()
        let reference = try await api.function("throws", as: user)
        #expect(reference.status == 400)
        #expect(reference.errorCode == "FunctionExecutionError")
        #expect(reference.error.hasPrefix("ReferenceError: "))
        #expect(reference.error.contains("unknown"))
        #expect((reference.object["link"] as? String)?.contains("/logs?co_id=") == true)
        let value = try await api.function("throws", #"[{"a":{"$numberInt":"1"}}]"#, as: user)
        expect(value, 400, "FunctionExecutionError", #"{"a":{"$numberInt":"1"}}"#)
    }

    @Test("can_evaluate false")
    func canEvaluate() async throws {
        let (api, user) = try await start()
        let answer = try await api.function("closed", as: user)
        expect(answer, 400, "FunctionExecutionError", #"rule not matched for function "closed""#)
    }

    @Test("time limit")
    func timeLimit() async throws {
        let (api, user) = try await start()
        let answer = try await api.function("loop", as: user)
        expect(answer, 400, "ExecutionTimeLimitExceeded", "execution time limit exceeded")
    }

    @Test("unknown service; unknown service action")
    func services() async throws {
        let (api, user) = try await start()
        func call(_ name: String, _ service: String) async throws -> APICaller.Answer {
            let body =
                #"{"name":"\#(name)","service":"\#(service)","arguments":[{"database":"todo","collection":"Open"}]}"#
            return try await api.curl("POST", path, body, token: user.accessToken)
        }
        expect(try await call("find", "smurf"), 404, "ServiceNotFound", "service not found: 'smurf'")
        let action = try await call("smurf", "mongodb-atlas")
        expect(action, 400, "ServiceCommandNotFound", "service command not found: 'smurf'")
        // Inside a function it is what is missing that is used.
        let inside = try await api.function("service", as: user)
        #expect(inside.status == 400)
        #expect(inside.errorCode == "FunctionExecutionError")
        #expect(inside.error.hasPrefix("TypeError: "), "\(inside.error)")
    }

    @Test("maintenance: the code of the table, by 503, since it is a matter of waiting")
    func maintenance() async throws {
        let (api, user) = try await start()
        // A gateway that has no room for more is one of the reasons.
        let busy = APICaller(
            server: try await RunningServer.start(
                besides: api.server,
                name: "client-api-busy",
                arguments: ["--max-watches", "1"]
            ),
            app: api.app
        )
        let call = ServiceCall(api: busy, user: user, collection: "Open")
        let first = try await call.watch()
        let second = try call.watchUnasked()
        try await eventually { second.isOver }
        #expect(second.status == 503)
        #expect(second.text.contains(#""error_code":"MaintenanceInProgress""#), "\(second.text)")
        #expect(second.head.contains { $0.lowercased().hasPrefix("retry-after:") })
        first.stop()
        busy.server.stop()
    }

    @Test("arguments where none are allowed: a function takes any (the code is never sent)")
    func tooMany() async throws {
        let (api, user) = try await start()
        #expect(try await api.function("null", #"[{"$numberInt":"1"},"x"]"#, as: user).text == "null")
    }
}

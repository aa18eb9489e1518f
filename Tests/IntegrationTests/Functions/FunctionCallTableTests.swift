import Foundation
import TestSupport
import Testing

/// `reference/functions.md` §§3.4, 8 and 11, the rows without a case elsewhere: each test's name begins with the row.
///
/// §3.2 is the table of `client-api.md` §9.2, which `Section09ServiceTests` goes through.
@Suite(
    "Tables of functions.md: §3.4 order of checks, §8 log lines, §11 system uses",
    .timeLimit(.minutes(30))
)
struct FunctionCallTableTests {
    private func set(_ api: APICaller, _ script: String, until ready: () async throws -> Bool) async throws {
        try Shell.psql(api.server.database, script: script)
        try await eventually { try await ready() }
    }

    @Test(
        "§3.4 session, then existence and privacy, then can_evaluate, then run-as: the first that fails answers"
    )
    func order() async throws {
        let (api, user) = try await FunctionServer.user()
        let script = "exports = () => { throw new Error(''run-as was asked'') }"
        try await set(
            api,
            """
            select tidegate.set_function('functions', 'table/private', 'exports = () => 1;',
                '{"private": true, "can_evaluate": false, "run_as_user_id_script_source": "\(script)"}');
            select tidegate.set_function('functions', 'table/closed', 'exports = () => 1;',
                '{"can_evaluate": {"%%user.id": "nobody"}, "run_as_user_id_script_source": "\(script)"}');
            select tidegate.set_function('functions', 'table/asOther', 'exports = () => 1;',
                '{"run_as_user_id_script_source": "\(script)"}');
            """
        ) { try await api.call("table/asOther", as: user).errorCode == "FunctionExecutionError" }
        for name in ["nowhere", "table/private", "table/closed", "table/asOther"] {
            let path = "/api/client/v2.0/app/\(api.app)/functions/call"
            let body = #"{"name":"\#(name)","arguments":[]}"#
            let answer = try await api.post(path, body, as: ["Authorization": "Bearer x.y.z"])
            expect(answer, 401, nil, "unauthorized")
        }
        for name in ["nowhere", "table/private"] {
            let answer = try await api.call(name, as: user)
            expect(answer, 404, "FunctionNotFound", "function not found: '\(name)'")
        }
        expect(
            try await api.call("table/closed", as: user),
            400,
            "FunctionExecutionError",
            #"rule not matched for function "table/closed""#
        )
        let refused = try await api.call("table/asOther", as: user)
        expect(refused, 400, "FunctionExecutionError", "run-as was asked")
    }

    @Test("§8 log lines: the last 25 of functions, the first 25 of endpoints and triggers, 512 bytes of each")
    func lines() async throws {
        let (api, user) = try await FunctionServer.user()
        let source = "for (let i = 0; i < 30; i++) console.log(i + 'é'.repeat(400))"
        try await set(
            api,
            """
            select tidegate.set_function('functions', 'table/lines', $js$exports = () => { \(source) };$js$, '{}');
            select tidegate.set_function('functions', 'table/routeLines', $js$exports = () => { \(source) };$js$,
                '{"run_as_system": true}');
            select tidegate.set_endpoint('functions', '/table/lines', 'GET',
                '{"function_name": "table/routeLines", "respond_result": true}');
            select tidegate.set_trigger('functions', 'lines', '{"type": "AUTHENTICATION", "function_name": "table/lines",
                "config": {"operation_type": "CREATE", "providers": ["anon-user"]}}');
            """
        ) { try await api.endpoint("GET", "/table/lines").status == 200 }
        let shown =
            "cardinality(messages), messages[1] ~ '^0é', messages[1] ~ '^5é', max(octet_length(m)) from "
        func row(_ condition: String) throws -> String {
            try Shell.psql(
                api.server.database,
                """
                select \(shown) (select * from tidegate.logs where \(condition) limit 1) l, unnest(messages) m
                group by messages
                """
            )
        }
        let called = try await api.call("table/lines", as: user)
        let id = called.header("X-Appservices-Request-Id") ?? ""
        try await eventually { try row("request_id = '\(id)'") == "25|f|t|512" }
        let route = try await api.endpoint("GET", "/table/lines")
        let routeID = route.header("X-Appservices-Request-Id") ?? ""
        try await eventually { try row("request_id = '\(routeID)'") == "25|t|f|512" }
        // Whoever comes now is what the trigger is for.
        _ = try await api.newUser()
        try await eventually { try row("type = 'AUTH_TRIGGER' and route = 'lines'") == "25|t|f|512" }
        try Shell.psql(api.server.database, "select tidegate.remove_trigger('functions', 'lines')")
    }

    @Test(
        "§11 run-as script: the function's arguments; a user id or { runAsSystem: true }; on throw the call fails"
    )
    func runAs() async throws {
        let (api, user) = try await FunctionServer.user()
        let script =
            "exports = (id, how) => { if (how === 2) throw new Error(''no''); return how ? { runAsSystem: true } : id }"
        try await set(
            api,
            """
            select tidegate.set_function('functions', 'table/whom',
                'exports = () => [context.user.id, context.runningAsSystem()];',
                '{"run_as_user_id_script_source": "\(script)"}');
            """
        ) { try await api.call("table/whom", "[0,1]", as: user).status == 200 }
        let other = try await api.newUser()
        #expect(
            try await api.call("table/whom", #"["\#(other.id)"]"#, as: user).text
                == #"["\#(other.id)",false]"#
        )
        #expect(try await api.call("table/whom", #"["x",1]"#, as: user).text.hasSuffix(",true]"))
        expect(try await api.call("table/whom", #"["x",2]"#, as: user), 400, "FunctionExecutionError", "no")
    }

    @Test("§11 %function: arguments; its value decides; on throw the expression is false")
    func rule() async throws {
        let (api, user) = try await FunctionServer.user()
        func rules(_ argument: String) -> String {
            """
            select tidegate.set_rules('functions', 'mongodb-atlas', 'todo', 'Judged', '{"roles": [{"name": "r",
                "apply_when": {"%%true": {"%function": {"name": "table/judge", "arguments": [\(argument), "%%user.id"]}}},
                "document_filters": {"read": true, "write": true}, "read": true, "write": true}]}');
            """
        }
        func insert() async throws -> APICaller.Answer {
            try await api.call("data", #"["Judged","insertOne",{}]"#, as: user)
        }
        try await set(
            api,
            """
            select tidegate.set_function('functions', 'table/judge', $js$exports = (how, id) => {
              if (how === 'throw') throw new Error('no judgement'); return how === 'yes' && id === context.user.id; };$js$,
              '{"private": true}');
            \(rules(#""yes""#))
            """
        ) { try await insert().status == 200 }
        for how in ["throw", "no"] {
            try await set(api, rules(#""\#(how)""#)) { try await insert().status == 400 }
            #expect(try await !insert().text.contains("no judgement"))
        }
    }
}

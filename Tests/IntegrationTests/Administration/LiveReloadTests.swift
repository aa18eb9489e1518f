import Foundation
import TestSupport
import Testing

/// What an administrator changes in psql holds in every running gateway.
@Suite("Administration by SQL", .serialized)
struct LiveReloadTests {
    private let open = #""document_filters":{"read":true,"write":true},"read":true,"write":true"#
    private let closed = #""document_filters":{"read":false,"write":false},"read":false,"write":false"#

    private func setRules(_ caller: APICaller, _ permissions: String) throws {
        try Shell.psql(
            caller.server.database,
            """
            select tidegate.set_rules('\(caller.app)', 'mongodb-atlas', 'todo', 'Live',
              '{"roles":[{"name":"only","apply_when":{},\(permissions)}]}')
            """
        )
    }

    /// Asks until the answer is as expected, for at most two seconds.
    private func settles(
        _ caller: APICaller,
        _ user: APICaller.User,
        _ expected: String
    ) async throws -> String {
        var text = ""
        for _ in 0..<80 {
            text = try await caller.act("find", "Live", #""filter":{"_id":1}"#, as: user.bearer).text
            if text == expected { break }
            try await Task.sleep(for: .milliseconds(25))
        }
        return text
    }

    @Test("a rule that changes holds in two gateways at once")
    func rules() async throws {
        let first = try await SharedServer.caller()
        let server = try await RunningServer.start(besides: first.server, name: "second")
        let second = APICaller(server: server, app: first.app)
        let user = try await first.newUser()
        try setRules(first, open)
        _ = try await settles(first, user, #"{"documents":[]}"#)
        _ = try await first.act("insertOne", "Live", #""document":{"_id":1,"a":1}"#, as: user.bearer)
        for caller in [first, second] {
            #expect(
                try await settles(caller, user, #"{"documents":[{"_id":1,"a":1}]}"#)
                    == #"{"documents":[{"_id":1,"a":1}]}"#
            )
        }
        try setRules(first, closed)
        for caller in [first, second] {
            #expect(try await settles(caller, user, #"{"documents":[]}"#) == #"{"documents":[]}"#)
        }
        server.stop()
    }

    @Test("a bad argument is refused by the name of the field and changes nothing")
    func badArguments() async throws {
        let api = try await SharedServer.caller()
        let misspelt = #"{"roles":[{"name":"a","apply_when":{},"document_filter":{}}]}"#
        let nameless = #"{"roles":[{"apply_when":{}}]}"#
        for (statement, field) in [
            ("tidegate.set_rules('\(api.app)','mongodb-atlas','todo','Live','\(nameless)')", "name"),
            (
                "tidegate.set_rules('\(api.app)','mongodb-atlas','todo','Live','\(misspelt)')",
                "document_filter"
            ),
            ("tidegate.set_rules('nobody','mongodb-atlas','todo','Live','{\"roles\":[]}')", "app"),
            ("tidegate.create_api_key('\(api.app)','')", "name"),
            ("tidegate.disable_user('\(api.app)','zz')", "user"),
        ] {
            let failure = #expect(throws: Shell.Failure.self, "\(statement)") {
                try Shell.psql(api.server.database, "select \(statement)")
            }
            #expect(failure?.message.contains(field) == true, "\(statement): \(failure?.message ?? "")")
        }
    }

    @Test("rules that do not check are refused, the old ones stay, and the reason can be read")
    func configurationErrors() async throws {
        let api = try await SharedServer.caller()
        let user = try await api.newUser()
        try setRules(api, open)
        _ = try await settles(api, user, #"{"documents":[]}"#)
        try setRules(api, #""read":{"%%user.id":{"%function":{"name":"f"}}},"write":true"#)
        var errors = ""
        for _ in 0..<80 where !errors.contains("no function") {
            try await Task.sleep(for: .milliseconds(25))
            errors = try Shell.psql(
                api.server.database,
                "select errors from tidegate.config_errors order by at desc limit 1"
            )
        }
        #expect(errors.contains("no function"))
        #expect(try await api.act("find", "Live", as: user.bearer).status == 200)
        try setRules(api, open)
    }
}

import Foundation
import TestSupport
import Testing

/// Sets a function of the servers' app.
private func setting(_ name: String, _ source: String, _ config: String = "{}") -> String {
    "select tidegate.set_function('functions', '\(name)', $js$\(source)$js$, '\(config)')"
}

/// What PostgreSQL says to a statement that it refuses; "none" when it does not.
private func refusal(_ database: String, _ statement: String) -> String {
    do {
        try Shell.psql(database, statement)
        return "none"
    } catch {
        return "\(error)"
    }
}

// One after the other: while one of them has a source that does not parse, no change of the app comes into force.
@Suite("Functions in SQL", .serialized, .timeLimit(.minutes(30)))
struct FunctionSQLTests {
    @Test("a function that SQL asks for runs once, and its result is in the row")
    func runs() async throws {
        let api = try await FunctionServer.caller()
        let called = try Shell.psql(
            api.server.database,
            "call tidegate.call_function('functions', 'sum', '[{\"$numberInt\": \"40\"}, 2]')"
        )
        #expect(called == #"{"$numberInt":"42"}|{}"#)
        let number = try Shell.psql(
            api.server.database,
            "select tidegate.run_function('functions', 'fails', '[\"error\"]')"
        )
        try await eventually {
            try Shell.psql(api.server.database, "select state from tidegate.function_result(\(number))")
                == "failed"
        }
        let row = try Shell.psql(
            api.server.database,
            "select error, messages from tidegate.function_result(\(number))"
        )
        #expect(row == #"boom|{"about to fail error"}"#)
        #expect(throws: (any Error).self) {
            try Shell.psql(api.server.database, "select tidegate.run_function('functions', 'nowhere')")
        }
        #expect(throws: (any Error).self) {
            try Shell.psql(api.server.database, "select tidegate.run_function('functions', 'sum', '{}')")
        }
    }

    @Test(
        "a function set by SQL is served at once; one that does not parse is refused with file, line and column"
    )
    func set() async throws {
        let (api, user) = try await FunctionServer.user()
        func set(_ source: String, _ config: String = "{}") -> String {
            refusal(api.server.database, setting("late", source, config))
        }
        #expect(set("exports = () => 1;") == "none")
        try await eventually { try await api.call("late", as: user).text == #"{"$numberInt":"1"}"# }
        let refused = set("exports = () => {\n  return 2 +;\n};")
        #expect(refused.contains("source functions/late.js: line 2, column 13: "), "\(refused)")
        let script = set("exports = () => 3;", #"{"run_as_user_id_script_source": "exports = ("}"#)
        #expect(script.contains("config functions/config.json run_as_user_id_script_source"), "\(script)")
        #expect(script.contains("line 1, column 12: "), "\(script)")
        // Said without a gateway.
        #expect(set("exports = () => 3;", #"{"private": 1}"#).contains("config.private"))
        #expect(set(" ").contains("source must not be empty"))
        let script0 = #"{"run_as_user_id_script_source": "\u0000"}"#
        #expect(set("exports = () => 3;", script0).contains("config holds U+0000"))
        let deep = #"{"can_evaluate": "# + String(repeating: "[", count: 20000)
        let nested = deep + String(repeating: "]", count: 20000) + "}"
        #expect(set("exports = () => 3;", nested).contains("config is nested too deeply"))
        let stored = try Shell.psql(
            api.server.database,
            "select f.source from tidegate.functions f join tidegate.apps a on a.id = f.app "
                + "where a.name = 'functions' and f.name = 'late'"
        )
        #expect(stored == "exports = () => 1;")
        #expect(try await api.call("late", as: user).text == #"{"$numberInt":"1"}"#)
        // More than a block each way, and not all of it a byte a letter.
        let long = "// " + String(repeating: "ä€😀", count: 5000) + "\nexports = () => 3;"
        #expect(set(long) == "none")
        try await eventually { try await api.call("late", as: user).text == #"{"$numberInt":"3"}"# }
        #expect(set(long + "\n)").contains("line 3, column 1: "))
        try Shell.psql(api.server.database, "select tidegate.remove_function('functions', 'late')")
        try await eventually { try await api.call("late", as: user).status == 404 }
    }

    @Test("a source is parsed in the middle of a transaction, whatever its isolation, and several at once")
    func setWithinTransactions() async throws {
        let database = try await FunctionServer.caller().server.database
        for isolation in ["read committed", "repeatable read", "serializable"] {
            let good = setting("within", "exports = () => '\(isolation)';")
            let bad = setting("within", "exports = (() => '\(isolation)';")
            let refused = refusal(
                database,
                "begin isolation level \(isolation); select count(*) from tidegate.apps; \(good); \(bad); commit"
            )
            #expect(refused.contains("source functions/within.js: line 1, column "), "\(refused)")
        }
        let none = "select count(*) from tidegate.functions where name = 'within'"
        #expect(try Shell.psql(database, none) == "0")
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<6 {
                group.addTask {
                    // Each has its own verdict, whoever asked at the same time.
                    let source =
                        String(repeating: " ", count: number * 700)
                        + (number % 2 == 0 ? "exports = () => 1" : "exports = ((")
                    let refused = refusal(database, setting("within\(number)", source))
                    if number % 2 == 0 {
                        #expect(refused == "none")
                    } else {
                        #expect(refused.contains("functions/within\(number).js: line 1, "), "\(refused)")
                    }
                }
            }
        }
        for number in [0, 2, 4] {
            try Shell.psql(database, "select tidegate.remove_function('functions', 'within\(number)')")
        }
    }

    @Test("a source that came past set_function and does not parse leaves the old one in force")
    func keepsTheOld() async throws {
        let (api, user) = try await FunctionServer.user()
        func store(_ source: String) throws {
            try Shell.psql(
                api.server.database,
                "update tidegate.functions set source = $js$\(source)$js$ where name = 'stored'"
            )
        }
        try Shell.psql(api.server.database, setting("stored", "exports = () => 1;"))
        try await eventually { try await api.call("stored", as: user).text == #"{"$numberInt":"1"}"# }
        try store("exports = () => {\n  return 2 +;\n};")
        try await eventually {
            try Shell.psql(
                api.server.database,
                "select errors::text from tidegate.config_errors order by version desc limit 1"
            ).contains("functions/stored.js")
        }
        let errors = try Shell.psql(
            api.server.database,
            "select errors -> 0 ->> 'message' from tidegate.config_errors order by version desc limit 1"
        )
        #expect(errors.hasPrefix("line 2, column 13: "), "\(errors)")
        #expect(try await api.call("stored", as: user).text == #"{"$numberInt":"1"}"#)
        try store("exports = () => 3;")
        try await eventually { try await api.call("stored", as: user).text == #"{"$numberInt":"3"}"# }
        try Shell.psql(api.server.database, "select tidegate.remove_function('functions', 'stored')")
    }

    @Test("a run that is asked for together with a change is of the function as it is then")
    func runsTheNewest() async throws {
        let database = try await FunctionServer.caller().server.database
        for number in 1...20 {
            // One transaction: the gateway hears of both at once.
            let output = try Shell.psql(
                database,
                "select tidegate.set_function('functions', 'newest', 'exports = () => \(number)'); "
                    + "select tidegate.run_function('functions', 'newest')"
            )
            let run = try #require(output.split(separator: "\n").last)
            var row = ""
            try await eventually {
                row = try Shell.psql(
                    database,
                    "select result, error from tidegate.function_result(\(run)) where state in ('done', 'failed')"
                )
                return !row.isEmpty
            }
            #expect(row == #"{"$numberInt":"\#(number)"}|"#)
        }
        try Shell.psql(database, "select tidegate.remove_function('functions', 'newest')")
    }

    @Test("what SQL asks for does not wait behind a run that takes long")
    func waitsBehindNoRun() async throws {
        let database = try await FunctionServer.caller().server.database
        let slow = "exports = () => new Promise((done) => setTimeout(done, 40000))"
        try Shell.psql(database, setting("slow", slow))
        let number = try Shell.psql(database, "select tidegate.run_function('functions', 'slow')")
        func state() throws -> String {
            try Shell.psql(database, "select state from tidegate.function_result(\(number))")
        }
        try await eventually { try state() == "running" }
        try Shell.psql(database, setting("quick", "exports = () => 1"))
        #expect(
            try Shell.psql(database, "call tidegate.call_function('functions', 'sum', '[1, 2]')").hasSuffix(
                "|{}"
            )
        )
        #expect(try state() == "running")
        for name in ["slow", "quick"] {
            try Shell.psql(database, "select tidegate.remove_function('functions', '\(name)')")
        }
    }
}

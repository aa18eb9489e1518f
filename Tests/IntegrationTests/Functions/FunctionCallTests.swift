import Foundation
import TestSupport
import Testing

@Suite("Calls of functions", .timeLimit(.minutes(30)))
struct FunctionCallTests {
    @Test("it answers with the value, in canonical Extended JSON")
    func values() async throws {
        let (api, user) = try await FunctionServer.user()
        let cases: [(name: String, arguments: String, answer: String)] = [
            ("sum", #"[{"$numberInt":"1"},{"$numberInt":"2"}]"#, #"{"$numberInt":"3"}"#),
            ("sum", #"["a","b"]"#, #""ab""#),
            ("nothing", "[]", #"{"$undefined":true}"#),
            ("callHidden", "[]", #"{"$numberInt":"42"}"#),
            (
                "types", #"[{"$numberDecimal":"1.50"}]"#,
                #"{"value":{"$numberDecimal":"1.50"},"double":{"$numberDouble":"0.5"},"long":{"$numberLong":"4294967296"},"date":{"$date":{"$numberLong":"1652297239913"}},"id":{"$oid":"65f0c0ffee0000000000aaaa"}}"#
            ),
            (
                "values", "[]",
                #"{"greeting":{"text":"hello"},"secret":"a secret","missing":true,"tag":"","base":"https://example.com","app":"functions-abcde"}"#
            ),
        ]
        for entry in cases {
            let answer = try await api.call(entry.name, entry.arguments, as: user)
            #expect(answer.status == 200, "\(entry.name): \(answer.text)")
            #expect(answer.text == entry.answer, "\(entry.name)")
            #expect(answer.header("Content-Type") == "application/json")
        }
    }

    @Test("what fails is told by text and code, with a link to the log")
    func failures() async throws {
        let (api, user) = try await FunctionServer.user()
        let cases: [(name: String, arguments: String, status: Int, code: String, text: String)] = [
            ("nowhere", "[]", 404, "FunctionNotFound", "function not found: 'nowhere'"),
            ("hidden", "[]", 404, "FunctionNotFound", "function not found: 'hidden'"),
            ("fails", #"["error"]"#, 400, "FunctionExecutionError", "boom"),
            ("withKey", "[]", 400, "FunctionExecutionError", #"rule not matched for function "withKey""#),
            (
                "byScript", #"["65f0c0ffee0000000000dddd"]"#, 400, "FunctionExecutionError",
                #"function "byScript" cannot run as its user: user not found"#
            ),
            (
                "data", #"["Item","insertOne",{"owner":"somebody"}]"#, 400, "FunctionExecutionError",
                "insert not permitted"
            ),
        ]
        for entry in cases {
            let answer = try await api.call(entry.name, entry.arguments, as: user)
            expect(answer, entry.status, entry.code, entry.text)
            #expect((answer.object["link"] as? String)?.contains("/logs?co_id=") == true)
        }
        let reference = try await api.call("fails", "[]", as: user)
        #expect(reference.errorCode == "FunctionExecutionError")
        #expect(reference.error.hasPrefix("ReferenceError: "))
        #expect(try await api.call("sum").status == 401)
    }

    @Test("it runs as the caller, as the system, or as whom a script names")
    func identities() async throws {
        let (api, user) = try await FunctionServer.user()
        let me = try await api.call("whoAmI", as: user).object
        #expect(me["id"] as? String == user.id)
        #expect(me["type"] as? String == "normal")
        #expect(me["system"] as? Bool == false)
        #expect(me["identities"] as? [String] == ["anon-user"])
        #expect((me["custom"] as? [String: Any])?["origin"] as? String == "anon-user")
        let system = try await api.call("asSystem", as: user).object
        #expect(system["id"] as? String == user.id)
        #expect(system["system"] as? Bool == true)
        #expect((system["data"] as? [String: Any])?.isEmpty == true)
        #expect(try await api.call("byScript", #"["system"]"#, as: user).object["system"] as? Bool == true)
        let other = try await api.newUser()
        let asOther = try await api.call("byScript", #"["\#(other.id)"]"#, as: user).object
        #expect(asOther["id"] as? String == other.id)
        #expect(asOther["system"] as? Bool == false)
        let opened = try await api.call("withKey", as: user, headers: ["x-secret-key": "open"])
        #expect(opened.text == #""open""#)
    }

    @Test("rules hold for what it does, but not for the system")
    func rules() async throws {
        let (api, user) = try await FunctionServer.user()
        let other = try await api.newUser()
        for owner in [user.id, other.id] {
            let caller = owner == user.id ? user : other
            let made = try await api.call("data", #"["Item","insertOne",{"owner":"\#(owner)"}]"#, as: caller)
            #expect(made.status == 200, "\(made.text)")
        }
        let mine = try await api.call("data", #"["Item","find",{}]"#, as: user)
        #expect(mine.text.contains(user.id))
        #expect(!mine.text.contains(other.id))
        let all = try await api.call("countAll", as: user)
        #expect(all.status == 200, "\(all.text)")
        #expect(all.text != #"{"$numberInt":"1"}"#)
    }

    @Test("a transaction is whole, or not at all")
    func transactions() async throws {
        let (api, user) = try await FunctionServer.user()
        let (ann, bob) = ("ann-\(user.id)", "bob-\(user.id)")
        for account in [ann, bob] {
            let made = try await api.call(
                "data",
                #"["Open","insertOne",{"_id":"\#(account)","balance":{"$numberInt":"100"}}]"#,
                as: user
            )
            #expect(made.status == 200, "\(made.text)")
        }
        let done = try await api.call(
            "transfer",
            #"["\#(ann)","\#(bob)",{"$numberInt":"30"},false]"#,
            as: user
        )
        #expect(done.text == #"[{"$numberInt":"70"},{"$numberInt":"130"}]"#)
        let undone = try await api.call(
            "transfer",
            #"["\#(ann)","\#(bob)",{"$numberInt":"30"},true]"#,
            as: user
        )
        #expect(undone.error == "changed my mind")
        let after = try await api.call(
            "transfer",
            #"["\#(ann)","\#(bob)",{"$numberInt":"0"},false]"#,
            as: user
        )
        #expect(after.text == #"[{"$numberInt":"70"},{"$numberInt":"130"}]"#)
    }

    @Test("what it is told of the request holds the address and the headers, and no body")
    func request() async throws {
        let (api, user) = try await FunctionServer.user()
        let request = try await api.call("request", as: user, headers: ["X-One": "1", "User-Agent": "tests"])
            .object
        #expect(request["remoteIPAddress"] as? String == "127.0.0.1")
        let headers = request["requestHeaders"] as? [String: Any]
        #expect(headers?["X-One"] as? [String] == ["1"])
        #expect(request["httpUserAgent"] as? String == "tests")
        #expect(request["webhookUrl"] == nil)
    }

    @Test("a function may decide who calls another")
    func canEvaluate() async throws {
        let (api, user) = try await FunctionServer.user()
        let text = #"rule not matched for function "asked""#
        expect(try await api.call("asked", as: user), 400, "FunctionExecutionError", text)
        let closed = try await api.call("asked", as: user, headers: ["X-Door": "shut"])
        expect(closed, 400, "FunctionExecutionError", text)
        #expect(try await api.call("asked", as: user, headers: ["X-Door": "open"]).text == #""in""#)
    }

    @Test("aggregate on a database is refused that would need a collection")
    func databaseAggregate() async throws {
        let (api, user) = try await FunctionServer.user()
        expect(
            try await api.call("databaseAggregate", as: user),
            400,
            "FunctionExecutionError",
            "{aggregate: 1} is not valid for '$limit'; a collection is required."
        )
    }

    @Test("a run that never ends is ended, and others go on")
    func endless() async throws {
        let (api, user) = try await FunctionServer.user()
        async let endless = api.call("loop", as: user)
        #expect(try await api.call("sum", "[1,1]", as: user).status == 200)
        let answer = try await endless
        expect(answer, 400, "ExecutionTimeLimitExceeded", "execution time limit exceeded")
    }

    @Test("the log has its lines, its error with the place, and its arguments unless they are hidden")
    func logs() async throws {
        let (api, user) = try await FunctionServer.user()
        let failed = try await api.call("fails", #"["error",{"password":"hush"}]"#, as: user)
        let row = try await FunctionServer.log(
            failed,
            "type, function, user_id, status, arguments, messages, error like 'boom%', memory_time is not null"
        )
        #expect(
            row
                == #"FUNCTION|fails|\#(user.id)|400|["error",{"password":"…"}]|{"about to fail error"}|t|t"#
        )
        let place = try await FunctionServer.log(failed, "error")
        #expect(place.contains("fails"), "\(place)")
        let quiet = try await api.call("quiet", #"["secret"]"#, as: user)
        let quietRow = try await FunctionServer.log(quiet, "function, arguments is null, messages")
        #expect(quietRow.hasPrefix("quiet|t|{one,"), "\(quietRow)")
    }
}

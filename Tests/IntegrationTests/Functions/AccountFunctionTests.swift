import Foundation
import TestSupport
import Testing

@Suite("Functions that decide about accounts", .timeLimit(.minutes(30)))
struct AccountFunctionTests {
    private func token(_ api: APICaller, _ email: String) throws -> (token: String, id: String) {
        let row = try Shell.psql(
            api.server.database,
            "select doc ->> 'token', doc ->> 'tokenId' from todo.\"Tokens\" where doc ->> '_id' = '\(email)'"
        ).split(separator: "|").map(String.init)
        return (row.first ?? "", row.last ?? "")
    }

    @Test("a function logs in whom it names: the same user each time, with its name")
    func login() async throws {
        let api = try await FunctionServer.caller()
        let id = UUID().uuidString
        let body =
            #"{"id":"\#(id)","key":"right","name":"Ann","options":{"device":{"platform":"tests","platformVersion":"1","sdkVersion":"2"}}}"#
        let first = try await api.provider("custom-function", "login", body)
        #expect(first.status == 200, "\(first.text)")
        let again = try await api.provider("custom-function", "login", body)
        #expect(first.object["user_id"] as? String == again.object["user_id"] as? String)
        let access = try #require(first.object["access_token"] as? String)
        let profile = try await api.profile(access).object
        #expect((profile["data"] as? [String: Any])?["name"] as? String == "Ann")
        #expect((profile["custom_data"] as? [String: Any])?["origin"] as? String == "custom-function")
        expect(
            try await api.provider("custom-function", "login", #"{"id":"x","key":"wrong"}"#),
            401,
            "AuthError",
            "wrong key"
        )
        expect(
            try await api.provider("custom-function", "login", #"{"key":"right"}"#),
            401,
            "AuthError",
            "unauthorized"
        )
    }

    @Test("a user gets one more way to log in, by what a function says")
    func link() async throws {
        let (api, user) = try await FunctionServer.user()
        let payload = #"{"id":"\#(UUID().uuidString)","key":"right"}"#
        let linked = try await api.provider(
            "custom-function",
            "login?link=true",
            payload,
            as: ["Authorization": "Bearer \(user.accessToken)"]
        )
        #expect(linked.object["user_id"] as? String == user.id, "\(linked.text)")
        let again = try await api.provider("custom-function", "login", payload)
        #expect(again.object["user_id"] as? String == user.id)
        let refused = try await api.provider(
            "custom-function",
            "login?link=true",
            #"{"id":"x","key":"wrong"}"#,
            as: ["Authorization": "Bearer \(user.accessToken)"]
        )
        #expect(refused.status == 401)
    }

    @Test("a function that logs in knows the request")
    func request() async throws {
        let api = try await FunctionServer.caller()
        let id = UUID().uuidString
        let login = try await api.provider(
            "custom-function",
            "login",
            #"{"id":"\#(id)","key":"right","asks":true}"#,
            as: ["User-Agent": "tests"]
        )
        let profile = try await api.profile(try api.tokens(login).accessToken)
        let identity = (profile.object["identities"] as? [[String: Any]])?.first
        #expect(identity?["id"] as? String == "\(id)tests127.0.0.1")
    }

    @Test("a script says as whom the Data API runs")
    func dataAPI() async throws {
        let api = try await FunctionServer.caller()
        try Shell.psql(
            api.server.database,
            script: """
                select tidegate.set_data_api('functions', '{"disabled": false, "versions": ["v1"],
                    "run_as_user_id_script_source":
                        "exports = () => context.request.requestHeaders[''X-Door''] ? {runAsSystemUser: true} : 7"}');
                """
        )
        try await eventually {
            try await api.act("find", "Tokens", as: ["X-Door": "open"]).status == 200
        }
        expect(
            try await api.act("find", "Tokens", as: [:]),
            400,
            "FunctionExecutionError",
            #"run_as_user_id_script_source of function "data_api" must return a user id or { runAsSystem: true }"#
        )
    }

    @Test("a function confirms at once, later, or not at all")
    func confirmation() async throws {
        let api = try await FunctionServer.caller()
        let good = api.newEmail("good")
        expectNothing(
            try await api.userpass("register", #"{"email":"\#(good)","password":"correct horse"}"#),
            201
        )
        #expect(
            try await api.userpass("login", #"{"username":"\#(good)","password":"correct horse"}"#).status
                == 200
        )
        expect(
            try await api.userpass("confirm/call", #"{"email":"\#(good)"}"#),
            400,
            "UserAlreadyConfirmed",
            "already confirmed"
        )

        for name in ["fail", "throws"] {
            let bad = api.newEmail(name)
            for _ in 1...2 {
                // The name is free again.
                expect(
                    try await api.userpass("register", #"{"email":"\#(bad)","password":"correct horse"}"#),
                    400,
                    "BadRequest",
                    #"failed to confirm user "\#(bad)""#
                )
            }
        }

        let late = api.newEmail("pending")
        expectNothing(
            try await api.userpass("register", #"{"email":"\#(late)","password":"correct horse"}"#),
            201
        )
        expect(
            try await api.userpass("login", #"{"username":"\#(late)","password":"correct horse"}"#),
            401,
            "AuthError",
            "unauthorized"
        )
        expect(
            try await api.userpass("register", #"{"email":"\#(late)","password":"correct horse"}"#),
            409,
            "AccountNameInUse",
            "name already in use"
        )
        let first = try token(api, late)
        expectNothing(try await api.userpass("confirm/call", #"{"email":"\#(late)"}"#), 200)
        let second = try token(api, late)
        #expect(first.token != second.token)
        expectNothing(
            try await api.userpass("confirm", #"{"token":"\#(second.token)","tokenId":"\#(second.id)"}"#),
            200
        )
        #expect(
            try await api.userpass("login", #"{"username":"\#(late)","password":"correct horse"}"#).status
                == 200
        )
    }

    @Test("a function sets a password at once, later, or not at all")
    func reset() async throws {
        let api = try await FunctionServer.caller()
        let email = api.newEmail("good")
        expectNothing(
            try await api.userpass("register", #"{"email":"\#(email)","password":"correct horse"}"#),
            201
        )
        func call(_ password: String, _ arguments: String) async throws -> APICaller.Answer {
            try await api.userpass(
                "reset/call",
                #"{"email":"\#(email)","password":"\#(password)","arguments":\#(arguments)}"#
            )
        }
        func logIn(_ password: String) async throws -> Int {
            try await api.userpass("login", #"{"username":"\#(email)","password":"\#(password)"}"#).status
        }
        expect(
            try await call("battery staple", #"["fail"]"#),
            400,
            nil,
            #"failed to reset password for user "\#(email)""#
        )
        #expect(try await logIn("correct horse") == 200)
        expectNothing(try await call("battery staple", #"["success",{"$numberInt":"7"}]"#), 200)
        #expect(try await logIn("correct horse") == 401)
        #expect(try await logIn("battery staple") == 200)
        let seen = try Shell.psql(
            api.server.database,
            "select doc -> 'rest', doc -> 'currentPasswordValid' from todo.\"Tokens\" where doc ->> '_id' = '\(email)'"
        )
        #expect(seen == "[7]|false")
        expectNothing(try await call("battery staple", #"["pending"]"#), 200)
        let pending = try token(api, email)
        expectNothing(
            try await api.userpass(
                "reset",
                #"{"token":"\#(pending.token)","tokenId":"\#(pending.id)","password":"the third one"}"#
            ),
            200
        )
        #expect(try await logIn("the third one") == 200)
    }

    @Test("a function that throws when a user is made keeps it from being made")
    func creation() async throws {
        let api = try await FunctionServer.caller()
        let email = api.newEmail("refused")
        expectNothing(
            try await api.userpass("register", #"{"email":"\#(email)","password":"correct horse"}"#),
            201
        )
        let answer = try await api.userpass("login", #"{"username":"\#(email)","password":"correct horse"}"#)
        expect(answer, 400, "FunctionExecutionError", "nobody like that")
        let users = try Shell.psql(
            api.server.database,
            "select count(*) from tidegate.users where data ->> 'email' = '\(email)'"
        )
        #expect(users == "0")
    }
}

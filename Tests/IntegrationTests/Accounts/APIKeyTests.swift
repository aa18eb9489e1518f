import Foundation
import TestSupport
import Testing

/// `client-api.md` §7, row by row.
@Suite("API keys of users", .serialized)
struct APIKeyTests {
    private static let base = "/api/client/v2.0/auth/api_keys"

    private func refresh(_ user: APICaller.User) -> [String: String] {
        ["Authorization": "Bearer \(user.refreshToken)", "Content-Type": "application/json;charset=utf-8"]
    }

    private func create(_ api: APICaller, _ user: APICaller.User, _ body: String) async throws
        -> APICaller.Answer
    {
        try await api.send("POST", Self.base, headers: refresh(user), body: Data(body.utf8))
    }

    @Test("it makes, shows, disables, enables and deletes keys, and each change holds at once")
    func life() async throws {
        let api = try await AccountServer.caller()
        let other = try await RunningServer.start(besides: api.server, name: "accounts-second")
        let gateways = [api, APICaller(server: other, app: api.app)]
        defer { other.stop() }
        let user = try await api.newConfirmedUser()
        let list = { try await api.send("GET", Self.base, headers: refresh(user)) }
        #expect(try await list().text == "[]")
        let made = try await create(api, user, #"{"name":"nightly_1-A"}"#)
        #expect(made.status == 201)
        #expect(Set(made.object.keys) == ["_id", "key", "name", "disabled"])
        let id = try #require(made.object["_id"] as? String)
        let key = try #require(made.object["key"] as? String)
        #expect(id.wholeMatch(of: /[0-9a-f]{24}/) != nil)
        #expect(key.utf8.count == 64)
        #expect(made.object["disabled"] as? Bool == false)
        let shown = #"{"_id":"\#(id)","name":"nightly_1-A","disabled":false}"#
        #expect(try await api.send("GET", "\(Self.base)/\(id)", headers: refresh(user)).text == shown)
        #expect(try await list().text == "[\(shown)]")
        #expect(
            try Shell.psql(
                api.server.database,
                "select count(*) from tidegate.api_keys k where k::text like '%\(key)%'"
            ) == "0"
        )
        // In every gateway, in memory of either or not.
        func statuses() async throws -> [Int] {
            var statuses: [Int] = []
            for gateway in gateways {
                statuses.append(try await gateway.provider("api-key", "login", #"{"key":"\#(key)"}"#).status)
                statuses.append(try await gateway.act("find", "Item", as: ["apiKey": key]).status)
            }
            return statuses
        }
        #expect(try await statuses() == [200, 200, 200, 200])
        let login = try await api.provider("api-key", "login", #"{"key":"\#(key)"}"#)
        let session = try api.tokens(login)
        #expect(session.id == user.id)
        let profile = try await api.profile(session.accessToken)
        let identities = profile.object["identities"] as? [[String: Any]] ?? []
        #expect(identities.map { $0["provider_type"] as? String } == ["local-userpass", "api-key"])
        #expect(identities.last?["id"] as? String == id)
        #expect((profile.object["data"] as? [String: Any])?["email"] as? String == user.email)
        // The key that one came in with stays.
        for (method, path) in [("DELETE", id), ("PUT", "\(id)/disable")] {
            let answer = try await api.send(method, "\(Self.base)/\(path)", headers: refresh(session))
            #expect(answer.status == 403)
            #expect(answer.error == "cannot modify the API key in use")
            #expect(answer.errorCode == nil)
        }
        let disabling = try await api.send("PUT", "\(Self.base)/\(id)/disable", headers: refresh(user))
        #expect(disabling.status == 204)
        #expect(disabling.header("Content-Type") == nil)
        try await eventually { try await statuses().allSatisfy { $0 == 401 } }
        try await eventually { try await gateways[1].profile(session.accessToken).status == 401 }
        #expect(try await api.profile(user.accessToken).status == 200)
        let refused = try await api.provider("api-key", "login", #"{"key":"\#(key)"}"#)
        #expect(refused.error == "unauthorized")
        #expect(refused.errorCode == "AuthError")
        #expect(try await api.send("PUT", "\(Self.base)/\(id)/enable", headers: refresh(user)).status == 204)
        try await eventually { try await statuses() == [200, 200, 200, 200] }
        #expect(try await api.send("DELETE", "\(Self.base)/\(id)", headers: refresh(user)).status == 204)
        try await eventually { try await statuses().allSatisfy { $0 == 401 } }
        #expect(try await list().text == "[]")
        let rest = try await api.profile(user.accessToken)
        #expect((rest.object["identities"] as? [Any])?.count == 1)
    }

    @Test("it refuses names, ids and tokens as the hosted service did")
    func refusals() async throws {
        let api = try await AccountServer.caller()
        let user = try await api.newConfirmedUser()
        let stranger = try await api.newConfirmedUser()
        #expect(try await create(api, user, #"{"name":"one"}"#).status == 201)
        let taken = try await create(api, user, #"{"name":"one"}"#)
        #expect(taken.status == 409)
        #expect(taken.errorCode == "APIKeyAlreadyExists")
        #expect(taken.error == "API key with name already exists")
        #expect(try await create(api, stranger, #"{"name":"one"}"#).status == 201)
        for name in ["a b", "ü", "a/b", "a.b", "a\\u0000b", "'--"] {
            let answer = try await create(api, user, #"{"name":"\#(name)"}"#)
            #expect(answer.status == 400)
            #expect(answer.errorCode == "InvalidParameter")
            #expect(
                answer.error.contains("can only contain ASCII letters, numbers, underscores, and hyphens")
            )
        }
        for body in ["", "{}", #"{"name":""}"#, #"{"name":{"$ne":1}}"#, #"{"name":5}"#] {
            let answer = try await create(api, user, body)
            #expect(answer.status == 400)
            #expect(answer.errorCode == nil)
            #expect(answer.error == "'name' is a required string")
        }
        let keys = try await api.send("GET", Self.base, headers: refresh(stranger)).text
        let foreign = try #require(keys.firstMatch(of: /"_id":"([0-9a-f]{24})"/)?.1)
        for id in ["65f0c0ffee0000000000aaaa", "nonsense", String(foreign)] {
            for (method, path) in [
                ("GET", id), ("DELETE", id), ("PUT", "\(id)/enable"), ("PUT", "\(id)/disable"),
            ] {
                let answer = try await api.send(method, "\(Self.base)/\(path)", headers: refresh(user))
                #expect(answer.status == 404)
                #expect(answer.errorCode == "APIKeyNotFound")
                #expect(answer.error == "API key not found: '\(id)' doesn't exist")
            }
        }
        #expect(try await api.send("GET", Self.base, headers: refresh(stranger)).text == keys)
        let anonymous = try await create(api, try await api.newUser(), #"{"name":"one"}"#)
        #expect(anonymous.status == 400)
        #expect(anonymous.errorCode == "InvalidParameter")
        let access = try await api.send("GET", Self.base, headers: user.bearer)
        #expect(access.status == 401)
        #expect(access.error == "invalid session: token type mismatch")
        let none = try await api.send("GET", Self.base)
        #expect(none.error == "must authenticate first")
        #expect(none.errorCode == "MissingAuthReq")
        let empty = try await api.send("GET", Self.base, headers: ["Authorization": "Bearer "])
        if empty.error != "must authenticate first" {
            // Some HTTP libraries take the blank away, and with it the scheme.
            #expect(empty.status == 401)
            #expect(empty.error == "expected Authorization header with JWT (Bearer schema)")
            #expect(empty.errorCode == nil)
        }
    }

    @Test("a user has at most twenty, also when they are asked for at once")
    func most() async throws {
        let api = try await AccountServer.caller()
        let user = try await api.newConfirmedUser()
        let answers = try await withThrowingTaskGroup(of: Int.self) { group in
            for index in 0..<30 {
                group.addTask { try await create(api, user, #"{"name":"key\#(index)"}"#).status }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.filter { $0 == 201 }.count == 20)
        #expect(answers.filter { $0 == 400 }.count == 10)
        let same = try await api.newConfirmedUser()
        let twins = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<10 { group.addTask { try await create(api, same, #"{"name":"one"}"#).status } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(twins.filter { $0 == 201 }.count == 1)
        #expect(twins.filter { $0 == 409 }.count == 9)
    }
}

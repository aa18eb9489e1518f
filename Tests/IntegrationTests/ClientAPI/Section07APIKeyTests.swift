import Foundation
import TestSupport
import Testing

/// `client-api.md` §7: each test's name begins with the row.
@Suite("Client API §7: API keys of the current user", .serialized)
struct Section07APIKeyTests {
    private let base = "/api/client/v2.0/auth/api_keys"

    private func create(_ user: APICaller.User, _ body: String, as sdk: SDK = .web) async throws
        -> APICaller.Answer
    {
        try await WholeApp.caller("auto-abcde").curl("POST", base, body, token: user.refreshToken, as: sdk)
    }

    private func user() async throws -> (APICaller, APICaller.User) {
        let auto = try await WholeApp.caller("auto-abcde")
        return (auto, try await auto.registered())
    }

    @Test(
        "POST /; GET /; GET /{id}; PUT /{id}/enable, PUT /{id}/disable; DELETE /{id}",
        arguments: SDK.allCases
    )
    func calls(sdk: SDK) async throws {
        let (auto, user) = try await user()
        func send(_ method: String, _ path: String) async throws -> APICaller.Answer {
            try await auto.curl(method, base + path, token: user.refreshToken, as: sdk)
        }
        #expect(try await send("GET", "").text == "[]")
        let made = try await create(user, #"{"name":"nightly_1-A"}"#, as: sdk)
        #expect(made.status == 201)
        #expect(Set(made.object.keys) == ["_id", "key", "name", "disabled"])
        let id = try #require(made.object["_id"] as? String)
        #expect(id.wholeMatch(of: /[0-9a-f]{24}/) != nil)
        #expect((made.object["key"] as? String)?.utf8.count == 64)
        func shown(_ disabled: Bool) -> String {
            #"{"_id":"\#(id)","name":"nightly_1-A","disabled":\#(disabled)}"#
        }
        let one = try await send("GET", "/\(id)")
        #expect(one.status == 200)
        #expect(one.text == shown(false))
        expectNothing(try await send("PUT", "/\(id)/disable"), 204)
        #expect(try await send("GET", "").text == "[\(shown(true))]")
        expectNothing(try await send("PUT", "/\(id)/enable"), 204)
        #expect(try await send("GET", "").text == "[\(shown(false))]")
        expectNothing(try await send("DELETE", "/\(id)"), 204)
        #expect(try await send("GET", "").text == "[]")
    }

    @Test("name with other characters")
    func otherCharacters() async throws {
        let (auto, user) = try await user()
        for name in ["a b", "ü", "a/b", "a.b", "a\\u0000b"] {
            let answer = try await create(user, #"{"name":"\#(name)"}"#)
            #expect(answer.status == 400)
            #expect(answer.errorCode == "InvalidParameter")
            #expect(
                answer.error.contains("can only contain ASCII letters, numbers, underscores, and hyphens")
            )
        }
        #expect(try await auto.curl("GET", base, token: user.refreshToken).text == "[]")
    }

    @Test("empty name; and no string")
    func emptyName() async throws {
        let (_, user) = try await user()
        for body in [#"{"name":""}"#, "{}", #"{"name":{"$ne":""}}"#, #"{"name":1}"#, #"{"name":null}"#] {
            expect(try await create(user, body), 400, nil, "'name' is a required string")
        }
    }

    @Test("name taken (per user)")
    func taken() async throws {
        let (_, user) = try await user()
        let (_, other) = try await self.user()
        #expect(try await create(user, #"{"name":"one"}"#).status == 201)
        expect(
            try await create(user, #"{"name":"one"}"#),
            409,
            "APIKeyAlreadyExists",
            "API key with name already exists"
        )
        #expect(try await create(other, #"{"name":"one"}"#).status == 201)
    }

    @Test("id unknown or of another user")
    func unknown() async throws {
        let (auto, user) = try await user()
        let (_, other) = try await self.user()
        let foreign = try #require(
            try await create(other, #"{"name":"one"}"#).object["_id"] as? String
        )
        for id in ["65f0c0ffee0000000000aaaa", "nonsense", foreign] {
            for (method, path) in [
                ("GET", id), ("DELETE", id), ("PUT", "\(id)/enable"), ("PUT", "\(id)/disable"),
            ] {
                let answer = try await auto.curl(method, "\(base)/\(path)", token: user.refreshToken)
                expect(answer, 404, "APIKeyNotFound", "API key not found: '\(id)' doesn't exist")
            }
        }
        let left = try await auto.curl("GET", base, token: other.refreshToken)
        #expect(left.text == #"[{"_id":"\#(foreign)","name":"one","disabled":false}]"#)
    }

    @Test("deleting or disabling the key one is logged in with")
    func inUse() async throws {
        let (auto, user) = try await user()
        let made = try await create(user, #"{"name":"one"}"#).object
        let key = try #require(made["key"] as? String)
        let id = try #require(made["_id"] as? String)
        let session = try auto.tokens(try await auto.logIn("api-key", #""key":"\#(key)""#))
        for (method, path) in [("DELETE", id), ("PUT", "\(id)/disable")] {
            let answer = try await auto.curl(method, "\(base)/\(path)", token: session.refreshToken)
            expect(answer, 403, nil, "cannot modify the API key in use")
        }
        let left = try await auto.curl("GET", base, token: user.refreshToken)
        #expect(left.text == #"[{"_id":"\#(id)","name":"one","disabled":false}]"#)
    }

    @Test("anonymous user, or more than 20 keys")
    func tooMany() async throws {
        let (auto, user) = try await user()
        let anonymous = try await auto.anonymous()
        let refused = try await create(anonymous, #"{"name":"one"}"#)
        #expect(refused.status == 400)
        #expect(refused.errorCode == "InvalidParameter")
        for number in 1...20 {
            #expect(try await create(user, #"{"name":"key-\#(number)"}"#).status == 201)
        }
        expect(
            try await create(user, #"{"name":"key-21"}"#),
            400,
            "InvalidParameter",
            "a user can have at most 20 API keys"
        )
    }
}

import Foundation
import TestSupport
import Testing

/// `client-api.md` §8: each test's name begins with the row.
@Suite("Client API §8: link identities", .serialized)
struct Section08LinkTests {
    private func identities(_ api: APICaller, _ token: String) async throws -> [String] {
        let profile = try await api.curl("GET", "/api/client/v2.0/auth/profile", token: token)
        let list = profile.object["identities"] as? [[String: Any]] ?? []
        return list.compactMap { $0["provider_type"] as? String }
    }

    @Test(
        "Same URL as login with ?link=true: the same user, whichever identity logs in",
        arguments: SDK.allCases
    )
    func link(sdk: SDK) async throws {
        let api = try await WholeApp.caller()
        let user = try await api.anonymous()
        let jwt = #""token":"\#(WholeApp.jwt("sub-\(UUID().uuidString)"))""#
        let linked = try await api.logIn("custom-token", jwt, as: sdk, link: user.accessToken)
        #expect(linked.status == 200)
        let tokens = try api.tokens(linked)
        #expect(tokens.id == user.id)
        #expect(try await identities(api, tokens.accessToken) == ["anon-user", "custom-token"])
        // The tokens of before go on.
        #expect(try await identities(api, user.accessToken).count == 2)
        let refresh = try await api.curl("POST", "/api/client/v2.0/auth/session", token: user.refreshToken)
        #expect(refresh.status == 201)
        #expect(try api.tokens(try await api.logIn("custom-token", jwt, as: sdk)).id == user.id)
        // The same again is a no-op that succeeds.
        let again = try await api.logIn("custom-token", jwt, as: sdk, link: user.accessToken)
        #expect(try api.tokens(again).id == user.id)
        #expect(try await identities(api, user.accessToken).count == 2)
    }

    @Test("identity belongs to another user")
    func taken() async throws {
        let api = try await WholeApp.caller()
        let jwt = #""token":"\#(WholeApp.jwt("sub-\(UUID().uuidString)"))""#
        let owner = try api.tokens(try await api.logIn("custom-token", jwt))
        let user = try await api.anonymous()
        let answer = try await api.logIn("custom-token", jwt, link: user.accessToken)
        expect(answer, 401, "AuthError", "unauthorized: the identity belongs to another user")
        #expect(try await identities(api, user.accessToken) == ["anon-user"])
        #expect(try await identities(api, owner.accessToken) == ["custom-token"])
        #expect(try api.tokens(try await api.logIn("custom-token", jwt)).id == owner.id)
    }

    @Test("second identity of the same provider (e.g. two emails)")
    func second() async throws {
        let auto = try await WholeApp.caller("auto-abcde")
        let user = try await auto.registered()
        let email = auto.newEmail()
        _ = try await auto.password("register", #"{"email":"\#(email)","password":"correct horse"}"#)
        let answer = try await auto.logIn(
            "local-userpass",
            #""username":"\#(email)","password":"correct horse""#,
            link: user.accessToken
        )
        expect(
            answer,
            400,
            "InvalidParameter",
            "unauthorized: the user has another identity of this provider"
        )
        #expect(try await identities(auto, user.accessToken) == ["local-userpass"])
        #expect(try await auto.logIn(email: email, password: "correct horse").id != user.id)
    }

    @Test("another user's API key")
    func otherKey() async throws {
        let auto = try await WholeApp.caller("auto-abcde")
        let owner = try await auto.registered()
        let user = try await auto.registered()
        let made = try await auto.curl(
            "POST",
            "/api/client/v2.0/auth/api_keys",
            #"{"name":"one"}"#,
            token: owner.refreshToken
        )
        let key = try #require(made.object["key"] as? String)
        let answer = try await auto.logIn("api-key", #""key":"\#(key)""#, link: user.accessToken)
        expect(answer, 400, "InvalidParameter", "invalid user link request")
        #expect(try await identities(auto, user.accessToken) == ["local-userpass"])
    }

    @Test("bad provider token; a pending email; anonymous credentials; no token")
    func badToken() async throws {
        let api = try await WholeApp.caller()
        let user = try await api.anonymous()
        let email = api.newEmail("pending")
        _ = try await api.password("register", #"{"email":"\#(email)","password":"correct horse"}"#)
        let login = #""username":"\#(email)","password":"correct horse""#
        for (provider, members) in [
            ("custom-token", #""token":"a.b.c""#), ("local-userpass", login),
            ("local-userpass", #""username":"nobody@example.com","password":"correct horse""#),
            ("oauth2-google", #""id_token":"a.b.c""#),
        ] {
            let answer = try await api.logIn(provider, members, link: user.accessToken)
            expect(answer, 401, "AuthError", "unauthorized: the credentials are not accepted")
        }
        let anonymous = try await api.logIn("anon-user", link: user.accessToken)
        expect(anonymous, 400, "InvalidParameter", "invalid user link request")
        #expect(try await identities(api, user.accessToken) == ["anon-user"])
        // Once it is confirmed it can be linked.
        let (token, id) = try await WholeApp.token(to: email)
        expectNothing(
            try await api.password("confirm", #"{"token":"\#(token)","tokenId":"\#(id)"}"#),
            200
        )
        let linked = try await api.logIn("local-userpass", login, link: user.accessToken)
        #expect(try api.tokens(linked).id == user.id)
        let path = "/api/client/v2.0/app/whole-abcde/auth/providers/custom-token/login?link=true"
        let none = try await api.curl("POST", path, #"{"token":"\#(WholeApp.jwt("x"))"}"#)
        expect(none, 401, "MissingAuthReq", "must authenticate first")
    }
}

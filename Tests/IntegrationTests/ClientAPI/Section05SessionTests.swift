import Foundation
import TestSupport
import Testing

/// `client-api.md` §5: each test's name begins with the row.
@Suite("Client API §5: sessions and profile", .serialized)
struct Section05SessionTests {
    private let session = "/api/client/v2.0/auth/session"
    private let profile = "/api/client/v2.0/auth/profile"

    @Test("POST /auth/session: by refresh token, 201, an access token", arguments: SDK.allCases)
    func refresh(sdk: SDK) async throws {
        let api = try await WholeApp.caller()
        let user = try await api.anonymous()
        let answer = try await api.curl("POST", session, token: user.refreshToken, as: sdk)
        #expect(answer.status == 201)
        #expect(Array(answer.object.keys) == ["access_token"])
        let token = try #require(answer.object["access_token"] as? String)
        #expect(try claims(token)["sub"] as? String == user.id)
        #expect(try await api.curl("GET", profile, token: token, as: sdk).status == 200)
    }

    @Test("DELETE /auth/session: by refresh token, 204, only that session ends", arguments: SDK.allCases)
    func logOut(sdk: SDK) async throws {
        let api = try await WholeApp.caller()
        let token = WholeApp.jwt("sub-\(UUID().uuidString)")
        let first = try api.tokens(try await api.logIn("custom-token", #""token":"\#(token)""#))
        let second = try api.tokens(try await api.logIn("custom-token", #""token":"\#(token)""#))
        expectNothing(try await api.curl("DELETE", session, token: first.refreshToken, as: sdk), 204)
        #expect(try await api.curl("POST", session, token: first.refreshToken, as: sdk).status == 401)
        #expect(try await api.curl("POST", session, token: second.refreshToken, as: sdk).status == 201)
        #expect(try await api.curl("GET", profile, token: second.accessToken, as: sdk).status == 200)
    }

    @Test("GET /auth/profile: by access token, 200", arguments: SDK.allCases)
    func shown(sdk: SDK) async throws {
        let api = try await WholeApp.caller()
        let user = try await api.anonymous()
        let answer = try await api.curl("GET", profile, token: user.accessToken, as: sdk)
        #expect(answer.status == 200)
        #expect(answer.header("Content-Type") == "application/json")
    }

    @Test("DELETE /auth/delete: by access token, 204; then logging out says what realm-web swallows")
    func delete() async throws {
        let auto = try await WholeApp.caller("auto-abcde")
        let user = try await auto.registered()
        _ = try await auto.curl(
            "POST",
            "/api/client/v2.0/auth/api_keys",
            #"{"name":"mine"}"#,
            token: user.refreshToken
        )
        let path = "/api/client/v2.0/auth/delete"
        expectNothing(try await auto.curl("DELETE", path, token: user.accessToken, as: .core), 204)
        let out = try await auto.curl("DELETE", session, token: user.refreshToken)
        expect(out, 401, "InvalidSession", "invalid session: failed to find refresh token")
        // A second time there is nobody.
        let again = try await auto.curl("DELETE", path, token: user.accessToken)
        expect(again, 401, "InvalidSession", "invalid session: user not found")
        for (table, column) in [
            ("users", "id"), ("identities", "user_id"), ("sessions", "user_id"), ("api_keys", "user_id"),
        ] {
            let rows = try await WholeApp.psql(
                "select count(*) from tidegate.\(table) where \(column) = '\(user.id)'"
            )
            #expect(rows == "0", "\(table)")
        }
    }

    @Test("user_id; domain_id; data; type; custom_data, roles (absent)")
    func members() async throws {
        let api = try await WholeApp.caller()
        let user = try await api.anonymous()
        let answer = try await api.curl("GET", profile, token: user.accessToken).object
        #expect(Set(answer.keys) == ["user_id", "domain_id", "identities", "data", "type"])
        #expect(answer["user_id"] as? String == user.id)
        let domain = try await WholeApp.psql("select tidegate.app_id('whole')")
        #expect(answer["domain_id"] as? String == domain)
        #expect(answer["type"] as? String == "normal")
        #expect((answer["data"] as? [String: Any])?.isEmpty == true)
    }

    @Test(
        "identities: in the order of linking, ids and provider ids by provider, an api-key one by its login"
    )
    func identities() async throws {
        let api = try await WholeApp.caller()
        let user = try await api.anonymous()
        let subject = "sub-\(UUID().uuidString)"
        let function = "fn-\(UUID().uuidString)"
        let linked = [
            ("custom-token", #""token":"\#(WholeApp.jwt(subject, #","mySecretField":"x""#))""#),
            ("custom-function", #""id":"\#(function)""#),
        ]
        for (provider, members) in linked {
            #expect(try await api.logIn(provider, members, link: user.accessToken).status == 200)
        }
        // Linking made it a lasting one, which may have keys.
        let session = try api.tokens(try await api.logIn(linked[0].0, linked[0].1))
        let made = try await api.curl(
            "POST",
            "/api/client/v2.0/auth/api_keys",
            #"{"name":"mine"}"#,
            token: session.refreshToken
        )
        let key = try #require(made.object["key"] as? String, "\(made.text)")
        #expect(try await api.logIn("api-key", #""key":"\#(key)""#).status == 200)
        let answer = try await api.curl("GET", profile, token: session.accessToken, as: .core)
        let identities = try #require(answer.object["identities"] as? [[String: Any]])
        #expect(
            identities.map { $0["provider_type"] as? String } == [
                "anon-user", "custom-token", "custom-function", "api-key",
            ]
        )
        let ids = identities.compactMap { $0["id"] as? String }
        try #require(ids.count == 4)
        #expect(ids[0].wholeMatch(of: /[0-9a-f]{24}-[a-z]{24}/) != nil)
        #expect(Array(ids[1...]) == [subject, function, made.object["_id"] as? String])
        for identity in identities {
            let provider = identity["provider_id"] as? String
            #expect(provider?.wholeMatch(of: /[0-9a-f]{24}/) != nil, "\(identity)")
        }
        #expect(identities[1]["provider_data"] as? [String: String] == ["secret": "x"])
        // The union of what all providers say.
        #expect(answer.object["data"] as? [String: String] == ["secret": "x"])
        let auto = try await WholeApp.caller("auto-abcde")
        let registered = try await auto.registered()
        let other = try await auto.curl("GET", profile, token: registered.accessToken)
        let identity = try #require((other.object["identities"] as? [[String: Any]])?.first)
        #expect((identity["id"] as? String)?.wholeMatch(of: /[0-9a-f]{24}-[a-z]{24}/) != nil)
        #expect(identity["provider_data"] as? [String: String] == ["email": registered.email])
    }
}

import Foundation
import TestSupport
import Testing

/// `client-api.md` §3: each test's name begins with the table's row.
@Suite("Client API §3: log in", .serialized)
struct Section03LoginTests {
    private func accepted(_ answer: APICaller.Answer) throws -> APICaller.User {
        #expect(answer.status == 200, "\(answer.text)")
        #expect(answer.header("Content-Type") == "application/json")
        return try APICaller(server: api, app: WholeApp.app).tokens(answer)
    }

    private let api: RunningServer

    init() async throws {
        api = try await WholeApp.caller().server
    }

    private var whole: APICaller { APICaller(server: api, app: WholeApp.app) }
    private let path = "/api/client/v2.0/app/whole-abcde/auth/providers"

    @Test("anon-user: no payload; the body may be {}, only options, or absent", arguments: SDK.allCases)
    func anonymous(sdk: SDK) async throws {
        for body in [nil, "{}", sdk.login("anon-user", "")] {
            _ = try accepted(try await whole.curl("POST", "\(path)/anon-user/login", body, as: sdk))
        }
    }

    @Test("local-userpass: username, password", arguments: SDK.allCases)
    func password(sdk: SDK) async throws {
        let auto = try await WholeApp.caller("auto-abcde")
        let email = auto.newEmail()
        expectNothing(
            try await auto.password(
                "register",
                #"{"email":"\#(email)","password":"correct horse"}"#,
                as: sdk
            ),
            201
        )
        let members = #""username":"\#(email)","password":"correct horse""#
        let first = try accepted(try await auto.logIn("local-userpass", members, as: sdk))
        #expect(try accepted(try await auto.logIn("local-userpass", members, as: sdk)).id == first.id)
    }

    @Test("api-key: key", arguments: SDK.allCases)
    func apiKey(sdk: SDK) async throws {
        let key = try await WholeApp.psql(
            "select key from tidegate.create_api_key('whole', 'k-\(UUID().uuidString.prefix(8))')"
        )
        let first = try accepted(try await whole.logIn("api-key", #""key":"\#(key)""#, as: sdk))
        #expect(try accepted(try await whole.logIn("api-key", #""key":"\#(key)""#, as: sdk)).id == first.id)
    }

    @Test("custom-token: token, or key as a helper script sends it", arguments: SDK.allCases)
    func customToken(sdk: SDK) async throws {
        let token = WholeApp.jwt("sub-\(UUID().uuidString)")
        let first = try accepted(try await whole.logIn("custom-token", #""token":"\#(token)""#, as: sdk))
        let again = try accepted(try await whole.logIn("custom-token", #""key":"\#(token)""#, as: sdk))
        #expect(again.id == first.id)
    }

    @Test(
        "custom-function: any object, its only argument, typed, without options",
        arguments: SDK.allCases
    )
    func customFunction(sdk: SDK) async throws {
        let id = UUID().uuidString
        let members =
            #""id":"\#(id)","typed":true,"n":{"$numberInt":"1"},"d":{"$date":{"$numberLong":"0"}},"s":"x""#
        let first = try accepted(try await whole.logIn("custom-function", members, as: sdk))
        let profile = try await whole.profile(first.accessToken)
        #expect((profile.object["identities"] as? [[String: Any]])?.first?["id"] as? String == id)
        // A payload may have a member of its own that is called so.
        let named = #""id":"\#(id)","provider":"custom-function""#
        #expect(try accepted(try await whole.logIn("custom-function", named, as: sdk)).id == first.id)
    }

    @Test("oauth2-google: authCode (refused by name) or id_token", arguments: SDK.allCases)
    func google(sdk: SDK) async throws { try await idTokens("oauth2-google", refused: "authCode", sdk) }

    @Test("oauth2-facebook: accessToken (refused by name); an id_token is served", arguments: SDK.allCases)
    func facebook(sdk: SDK) async throws {
        try await idTokens("oauth2-facebook", refused: "accessToken", sdk)
    }

    @Test("oauth2-apple: id_token", arguments: SDK.allCases)
    func apple(sdk: SDK) async throws { try await idTokens("oauth2-apple", refused: nil, sdk) }

    private func idTokens(_ provider: String, refused: String?, _ sdk: SDK) async throws {
        let subject = "sub-\(UUID().uuidString)"
        let token = try WholeApp.idToken(subject)
        let first = try accepted(try await whole.logIn(provider, #""id_token":"\#(token)""#, as: sdk))
        let again = try accepted(try await whole.logIn(provider, #""id_token":"\#(token)""#, as: sdk))
        #expect(again.id == first.id)
        guard let refused else { return }
        let answer = try await whole.logIn(provider, #""\#(refused)":"code""#, as: sdk)
        expect(answer, 400, "InvalidParameter", "'\(refused)' is not served: log in with 'id_token'")
    }

    @Test("options.device of realm-web, of realm-core: any members, and the id that was handed out before")
    func devices() async throws {
        for sdk in SDK.allCases {
            let first = try #require(
                try await whole.logIn("anon-user", as: sdk).object["device_id"] as? String
            )
            #expect(first.wholeMatch(of: /[0-9a-f]{24}/) != nil)
            #expect(first != String(repeating: "0", count: 24))
            let again = try await whole.logIn("anon-user", as: sdk, deviceID: first)
            #expect(again.object["device_id"] as? String == first)
            // One that this app never handed out is not taken over.
            let unknown = try await whole.logIn("anon-user", as: sdk, deviceID: "65f0c0ffee0000000000dddd")
            #expect(unknown.status == 200)
            #expect(unknown.object["device_id"] as? String != "65f0c0ffee0000000000dddd")
        }
        let none = try await whole.curl("POST", "\(path)/anon-user/login", "{}")
        #expect(none.object["device_id"] as? String == String(repeating: "0", count: 24))
    }

    @Test("access_token, refresh_token, user_id, device_id: four strings, never missing")
    func members() async throws {
        let answer = try await whole.logIn("anon-user").object
        #expect(Set(answer.keys) == ["access_token", "refresh_token", "user_id", "device_id"])
        let texts = try #require(answer as? [String: String])
        for id in ["user_id", "device_id"] {
            #expect(texts[id]?.wholeMatch(of: /[0-9a-f]{24}/) != nil)
        }
        for token in ["access_token", "refresh_token"] {
            #expect(texts[token]?.split(separator: ".").count == 3)
        }
    }

    @Test("Effects: one user for an identity, its metadata anew at each login, a session for each")
    func effects() async throws {
        let subject = "sub-\(UUID().uuidString)"
        func logIn(_ secret: String) async throws -> APICaller.User {
            let jwt = WholeApp.jwt(subject, #","mySecretField":"\#(secret)""#)
            return try whole.tokens(try await whole.logIn("custom-token", #""token":"\#(jwt)""#))
        }
        let first = try await logIn("one")
        let second = try await logIn("two")
        #expect(first.id == second.id)
        #expect(
            try await WholeApp.psql("select data ->> 'secret' from tidegate.users where id = '\(first.id)'")
                == "two"
        )
        #expect(
            try await WholeApp.psql("select count(*) from tidegate.list_sessions('whole', '\(first.id)')")
                == "2"
        )
    }
}

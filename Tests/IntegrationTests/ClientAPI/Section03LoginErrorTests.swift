import Foundation
import TestSupport
import Testing

/// `client-api.md` §3.1, log-in errors, and §3.3, which is refused: each test's name begins with the row.
@Suite("Client API §3.1: log-in errors", .serialized)
struct Section03LoginErrorTests {
    private func refused(
        _ answer: APICaller.Answer,
        _ status: Int,
        _ code: String,
        _ text: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        expect(answer, status, code, text, sourceLocation: sourceLocation)
        let link = answer.object["link"] as? String ?? ""
        #expect(
            link.contains(/logs\?co_id=[0-9a-f]{24}$/),
            "\(answer.text)",
            sourceLocation: sourceLocation
        )
    }

    private func password(_ api: APICaller, _ email: String, _ password: String) async throws
        -> APICaller.Answer
    {
        try await api.logIn("local-userpass", #""username":"\#(email)","password":"\#(password)""#)
    }

    @Test("wrong password; unknown email")
    func wrongPassword() async throws {
        let auto = try await WholeApp.caller("auto-abcde")
        let user = try await auto.registered()
        refused(try await password(auto, user.email, "wrong horse"), 401, "InvalidPassword", "unauthorized")
        refused(
            try await password(auto, auto.newEmail("nobody"), "wrong horse"),
            401,
            "InvalidPassword",
            "unauthorized"
        )
    }

    @Test("user pending confirmation")
    func pending() async throws {
        let whole = try await WholeApp.caller()
        let email = whole.newEmail("pending")
        expectNothing(
            try await whole.password("register", #"{"email":"\#(email)","password":"correct horse"}"#),
            201
        )
        refused(try await password(whole, email, "correct horse"), 401, "AuthError", "unauthorized")
    }

    @Test("API key disabled, deleted, unknown")
    func keys() async throws {
        let whole = try await WholeApp.caller()
        for how in ["disable_api_key", "revoke_api_key"] {
            let name = "k-\(UUID().uuidString.prefix(8))"
            let row = try await WholeApp.psql(
                "select id, key from tidegate.create_api_key('whole', '\(name)')"
            ).split(separator: "|").map(String.init)
            #expect(try await whole.logIn("api-key", #""key":"\#(row[1])""#).status == 200)
            _ = try await WholeApp.psql("select tidegate.\(how)('whole', '\(row[0])')")
            refused(
                try await whole.logIn("api-key", #""key":"\#(row[1])""#),
                401,
                "AuthError",
                "unauthorized"
            )
        }
        let unknown = String(repeating: "a", count: 64)
        refused(
            try await whole.logIn("api-key", #""key":"\#(unknown)""#),
            401,
            "AuthError",
            "unauthorized"
        )
    }

    @Test("custom JWT bad (signature, audience, expiry)")
    func customToken() async throws {
        let whole = try await WholeApp.caller()
        for token in [
            WholeApp.jwt("bad").dropLast(4) + "AAAA",
            Substring(WholeApp.jwt("bad", audience: #""other-abcde""#)),
            Substring(WholeApp.jwt("bad", expires: 1_600_000_000)),
        ] {
            refused(
                try await whole.logIn("custom-token", #""token":"\#(token)""#),
                401,
                "AuthError",
                "unauthorized"
            )
        }
        #expect(
            try await WholeApp.psql("select count(*) from tidegate.identities where id = 'bad'") == "0"
        )
    }

    @Test(
        "Facebook/Google/Apple token bad",
        arguments: ["oauth2-facebook", "oauth2-google", "oauth2-apple"]
    )
    func idTokens(provider: String) async throws {
        let whole = try await WholeApp.caller()
        let good = try WholeApp.idToken("bad-id")
        for token in [String(good.dropLast(4)), try WholeApp.idToken("bad-id", audience: "client-2"), "x"] {
            let answer = try await whole.logIn(provider, #""id_token":"\#(token)""#)
            refused(answer, 401, "AuthError", "unauthorized")
        }
    }

    @Test("custom function threw, or returned no id")
    func customFunction() async throws {
        let whole = try await WholeApp.caller()
        refused(
            try await whole.logIn("custom-function", #""fail":true"#),
            401,
            "AuthError",
            "you shall not pass"
        )
        for payload in [#""nobody":true"#, #""id":"""#, #""id":{"a":1}"#, ""] {
            let answer = try await whole.logIn("custom-function", payload)
            refused(answer, 401, "AuthError", "unauthorized")
        }
    }

    @Test("disabled user")
    func disabled() async throws {
        let auto = try await WholeApp.caller("auto-abcde")
        let user = try await auto.registered("disabled")
        _ = try await WholeApp.psql("select tidegate.disable_user('auto', '\(user.id)')")
        refused(try await password(auto, user.email, user.password), 401, "UserDisabled", "user disabled")
    }

    @Test("deleted user's email/password")
    func deleted() async throws {
        let auto = try await WholeApp.caller("auto-abcde")
        let user = try await auto.registered("deleted")
        expectNothing(
            try await auto.curl("DELETE", "/api/client/v2.0/auth/delete", token: user.accessToken),
            204
        )
        refused(try await password(auto, user.email, user.password), 401, "InvalidPassword", "unauthorized")
    }

    @Test("provider not enabled or unknown")
    func provider() async throws {
        let auto = try await WholeApp.caller("auto-abcde")
        for name in ["custom-token", "oauth2-google", "smurf"] {
            refused(
                try await auto.logIn(name, #""token":"x""#),
                404,
                "AuthProviderNotFound",
                "authentication provider not found: '\(name)'"
            )
        }
    }

    @Test("missing payload member; and objects where strings are expected")
    func missing() async throws {
        let whole = try await WholeApp.caller()
        for (provider, rest, member) in [
            ("local-userpass", #""password":"x""#, "username"),
            ("local-userpass", #""username":"x""#, "password"), ("api-key", "", "key"),
            ("custom-token", "", "token"), ("oauth2-google", "", "id_token"),
            ("oauth2-apple", "", "id_token"), ("oauth2-facebook", "", "id_token"),
        ] {
            for value in ["", #""\#(member)":{"$ne":""}"#, #""\#(member)":1"#, #""\#(member)":null"#] {
                let parts = [rest, value].filter { !$0.isEmpty }.joined(separator: ",")
                refused(
                    try await whole.logIn(provider, parts),
                    400,
                    "InvalidParameter",
                    "'\(member)' is a required string"
                )
            }
        }
    }

    @Test("§3.3 start, plain, with providerRedirectHeader=true, callback, end: refused by code")
    func redirects() async throws {
        let whole = try await WholeApp.caller()
        let start =
            "/api/client/v2.0/app/whole-abcde/auth/providers/oauth2-google/login?redirect=https%3A%2F%2Fapp.example&state=abcdefghijkl&device=e30%3D"
        for path in [
            start, start + "&link=true&providerRedirectHeader=true",
            "/api/client/v2.0/auth/callback?state=abcdefghijkl&code=x",
        ] {
            let answer = try await whole.curl("GET", path)
            refused(
                answer,
                404,
                "AuthProviderNotFound",
                "the OAuth 2.0 redirect flow is not served: log in with an id_token"
            )
            #expect(answer.header("Location") == nil)
        }
    }
}

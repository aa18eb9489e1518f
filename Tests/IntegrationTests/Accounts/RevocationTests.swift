import Foundation
import TestSupport
import Testing

/// What ends, ends in every gateway; and what users' tokens and profiles tell of them.
@Suite("Ends of sessions, and custom user data", .serialized)
struct RevocationTests {
    private func refresh(_ user: APICaller.User) -> [String: String] {
        ["Authorization": "Bearer \(user.refreshToken)"]
    }

    @Test("a logout, a disabling, a deletion and another password end tokens in every gateway")
    func everywhere() async throws {
        let api = try await AccountServer.caller(AccountServer.automatic)
        let other = try await RunningServer.start(besides: api.server, name: "accounts-other")
        defer { other.stop() }
        let gateways = [api, APICaller(server: other, app: api.app)]
        let session = "/api/client/v2.0/auth/session"
        /// Both gateways know the user before, and neither takes the tokens afterwards.
        func ends(_ what: String, _ end: (APICaller.User) async throws -> Void) async throws {
            let user = try await api.newPasswordUser()
            for gateway in gateways {
                #expect(try await gateway.profile(user.accessToken).status == 200)
                #expect(try await gateway.send("POST", session, headers: refresh(user)).status == 201)
            }
            try await end(user)
            for gateway in gateways {
                try await eventually { try await gateway.profile(user.accessToken).status == 401 }
                let answer = try await gateway.profile(user.accessToken)
                #expect(answer.error == "invalid session: user not found", "\(what)")
                #expect(answer.errorCode == "InvalidSession")
                let refreshed = try await gateway.send("POST", session, headers: refresh(user))
                #expect(refreshed.status == 401)
                #expect(refreshed.error == "invalid session: failed to find refresh token", "\(what)")
            }
        }
        try await ends("logout") { user in
            let answer = try await gateways[1].send("DELETE", session, headers: refresh(user))
            #expect(answer.status == 204)
        }
        try await ends("disabling") { user in
            try Shell.psql(api.server.database, "select tidegate.disable_user('automatic', '\(user.id)')")
        }
        try await ends("revoking") { user in
            try Shell.psql(api.server.database, "select tidegate.revoke_sessions('automatic', '\(user.id)')")
        }
        try await ends("password") { user in
            try Shell.psql(
                api.server.database,
                "select tidegate.set_password('automatic', '\(user.id)', 'battery staple')"
            )
        }
        try await ends("deletion") { user in
            let delete = "/api/client/v2.0/auth/delete"
            let answer = try await gateways[1].send("DELETE", delete, headers: user.bearer)
            #expect(answer.status == 204)
            #expect(answer.header("Content-Type") == nil)
            // A second time there is nobody, and realm-web's logout afterwards gets the text that it swallows.
            let again = try await gateways[1].send("DELETE", delete, headers: user.bearer)
            #expect(again.status == 401)
            #expect(again.error == "invalid session: user not found")
            let logout = try await gateways[1].send("DELETE", session, headers: refresh(user))
            #expect(logout.error == "invalid session: failed to find refresh token")
        }
    }

    @Test("a logout ends one session and leaves the user's others")
    func others() async throws {
        let api = try await AccountServer.caller(AccountServer.automatic)
        let first = try await api.newPasswordUser()
        let second = try await api.logIn(email: first.email, password: first.password)
        let session = "/api/client/v2.0/auth/session"
        #expect(try await api.send("DELETE", session, headers: refresh(first)).status == 204)
        #expect(try await api.profile(first.accessToken).status == 401)
        #expect(try await api.profile(second.accessToken).status == 200)
        #expect(try await api.send("POST", session, headers: refresh(second)).status == 201)
    }

    /// The claims of a token, as clients read them without a check.
    private func claims(_ token: String) throws -> [String: Any] {
        var text = String(token.split(separator: ".")[1]).replacing("-", with: "+").replacing("_", with: "/")
        while text.utf8.count % 4 != 0 { text += "=" }
        let data = try #require(Data(base64Encoded: text))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    @Test("custom user data is in the tokens of login and refresh and in the profile, canonical, or absent")
    func customData() async throws {
        let api = try await AccountServer.caller()
        let user = try await api.newUser()
        #expect(try claims(user.accessToken)["user_data"] == nil)
        #expect(try claims(user.refreshToken)["user_data"] == nil)
        #expect(try await api.profile(user.accessToken).object["custom_data"] == nil)
        let key = try Shell.psql(
            api.server.database,
            "select key from tidegate.create_api_key('mails', 'k-\(UUID().uuidString.prefix(8))')"
        )
        try Shell.psql(
            api.server.database,
            """
            insert into todo."People" (doc) values ('{"uid": {"$oid": "\(user.id)"}, "team": "blue", "n": 1}'),
                ('{"uid": "\(user.id)", "team": "red", "n": 5, "at": {"$date": 1577934245000}}')
            """
        )
        let refreshed = try await api.send("POST", "/api/client/v2.0/auth/session", headers: refresh(user))
        let token = try #require(refreshed.object["access_token"] as? String)
        let data = try #require(try claims(token)["user_data"] as? [String: Any])
        // A text match wins over an ObjectId match, and types are canonical.
        #expect(data["team"] as? String == "red")
        #expect(data["n"] as? [String: String] == ["$numberInt": "5"])
        #expect(
            (data["at"] as? [String: Any])?["$date"] as? [String: String] == ["$numberLong": "1577934245000"]
        )
        let profile = try await api.profile(token)
        #expect((profile.object["custom_data"] as? [String: Any])?["team"] as? String == "red")
        #expect(try claims(token)["exp"] is Int)
        #expect(key.count == 64)
    }

    @Test("the redirect flow, and what id tokens do not replace, are refused by name")
    func redirect() async throws {
        let api = try await AccountServer.caller()
        let text = "the OAuth 2.0 redirect flow is not served: log in with an id_token"
        for path in [
            "/api/client/v2.0/app/\(api.app)/auth/providers/oauth2-google/login?redirect=https://x&state=abcdefghijkl",
            "/api/client/v2.0/auth/callback?code=x",
        ] {
            let answer = try await api.send("GET", path)
            #expect(answer.status == 404)
            #expect(answer.errorCode == "AuthProviderNotFound")
            #expect(answer.error == text)
        }
    }
}

import Foundation
import TestSupport
import Testing

/// `client-api.md` §4: each test's name begins with the row, or with the rows that it looks at together.
@Suite("Client API §4: tokens", .serialized)
struct Section04TokenTests {
    /// A login with a device, and the claims of both of its tokens.
    private func login() async throws -> (
        api: APICaller, answer: [String: Any], access: [String: Any], refresh: [String: Any]
    ) {
        let api = try await WholeApp.caller()
        let answer = try await api.logIn("anon-user").object
        return (
            api, answer, try claims(try #require(answer["access_token"] as? String)),
            try claims(try #require(answer["refresh_token"] as? String))
        )
    }

    @Test("realm-web: access token exp, iat (numbers), sub, user_data (absent), baas_device_id")
    func realmWeb() async throws {
        let (_, answer, access, _) = try await login()
        #expect(access["exp"] is Int)
        #expect(access["iat"] is Int)
        #expect(access["sub"] as? String == answer["user_id"] as? String)
        #expect(access["baas_device_id"] as? String == answer["device_id"] as? String)
        #expect(!access.keys.contains("user_data"))
    }

    @Test("realm-core: access and refresh token with numeric exp and iat, no user_data that is null")
    func realmCore() async throws {
        let (_, _, access, refresh) = try await login()
        for token in [access, refresh] {
            #expect(token["exp"] is Int)
            #expect(token["iat"] is Int)
            #expect(token["user_data"] == nil)
        }
    }

    @Test("typ; sub; iss; baas_id, stitch_id; baas_device_id, stitch_devId; baas_domain_id, stitch_domainId")
    func ids() async throws {
        let (_, answer, access, refresh) = try await login()
        #expect(access["typ"] as? String == "access")
        #expect(refresh["typ"] as? String == "refresh")
        let session = try #require(access["iss"] as? String)
        #expect(session.wholeMatch(of: /[0-9a-f]{24}/) != nil)
        let domain = try await WholeApp.psql("select tidegate.app_id('whole')")
        for token in [access, refresh] {
            #expect(token["sub"] as? String == answer["user_id"] as? String)
            for name in ["baas_device_id", "stitch_devId"] {
                #expect(token[name] as? String == answer["device_id"] as? String)
            }
            for name in ["baas_domain_id", "stitch_domainId"] { #expect(token[name] as? String == domain) }
        }
        for name in ["baas_id", "stitch_id"] {
            #expect(refresh[name] as? String == session)
            #expect(access[name] == nil)
        }
        #expect(refresh["iss"] == nil)
    }

    @Test("baas_identity, stitch_ident; baas_data, stitch_data")
    func identity() async throws {
        let (api, answer, _, refresh) = try await login()
        let token = try #require(answer["access_token"] as? String)
        let profile = try await api.curl("GET", "/api/client/v2.0/auth/profile", token: token)
        let identity = try #require((profile.object["identities"] as? [[String: String]])?.first)
        for name in ["baas_identity", "stitch_ident"] {
            #expect(
                refresh[name] as? [String: String] == [
                    "id": identity["id"] ?? "", "provider_type": "anon-user",
                    "provider_id": identity["provider_id"] ?? "",
                ]
            )
        }
        for name in ["baas_data", "stitch_data"] { #expect(refresh[name] is NSNull) }
    }

    @Test("user_data; iat, exp: custom user data in canonical EJSON, a text match before an ObjectId match")
    func userData() async throws {
        let (api, answer, _, _) = try await login()
        let id = try #require(answer["user_id"] as? String)
        let refresh = try #require(answer["refresh_token"] as? String)
        _ = try await WholeApp.psql(
            """
            insert into todo."People" (doc) values
                ('{"_id": "\(id)-1", "uid": {"$oid": "\(id)"}, "by": "object id"}'),
                ('{"_id": "\(id)-2", "uid": "\(id)", "by": "text", "n": 5, "at": {"$date": 1577934245000}}'),
                ('{"_id": "\(id)-3", "uid": "\(id)", "by": "later text"}')
            """
        )
        let session = try await api.curl("POST", "/api/client/v2.0/auth/session", token: refresh)
        let token = try #require(session.object["access_token"] as? String)
        let data = try #require(try claims(token)["user_data"] as? [String: Any])
        #expect(data["by"] as? String == "text")
        #expect(data["n"] as? [String: String] == ["$numberInt": "5"])
        #expect(data["at"] as? [String: [String: String]] == ["$date": ["$numberLong": "1577934245000"]])
        let profile = try await api.curl("GET", "/api/client/v2.0/auth/profile", token: token)
        #expect((profile.object["custom_data"] as? [String: Any])?["by"] as? String == "text")
    }

    @Test("access token: 30 minutes, not configurable")
    func accessLifetime() async throws {
        let (_, _, access, _) = try await login()
        let (issued, ends) = (try #require(access["iat"] as? Int), try #require(access["exp"] as? Int))
        #expect(ends - issued == 1800)
    }

    @Test("refresh token: 60 days by default, configurable per app from 30 minutes to 5 years")
    func refreshLifetime() async throws {
        let auto = try await WholeApp.caller("auto-abcde")
        func lifetime(_ user: APICaller.User) throws -> Int {
            let claims = try claims(user.refreshToken)
            return try #require(claims["exp"] as? Int) - (try #require(claims["iat"] as? Int))
        }
        let user = try await auto.registered("lifetime")
        #expect(try lifetime(user) == 60 * 86400)
        func set(_ interval: String) async throws {
            _ = try await WholeApp.psql("select tidegate.set_refresh_token_lifetime('auto', \(interval))")
        }
        try await set("'45 minutes'")
        try await eventually {
            try lifetime(try await auto.logIn(email: user.email, password: user.password)) == 2700
        }
        for bad in ["'29 minutes'", "'6 years'", "'-1 day'"] {
            await #expect(throws: Shell.Failure.self) { try await set(bad) }
        }
        try await set("null")
        try await eventually {
            try lifetime(try await auto.logIn(email: user.email, password: user.password)) == 60 * 86400
        }
    }

    @Test("disabling a user, deleting: ends access and refresh tokens at once")
    func disabling() async throws {
        for statement in ["tidegate.disable_user", "tidegate.delete_user"] {
            let (api, answer, _, _) = try await login()
            let id = try #require(answer["user_id"] as? String)
            let access = try #require(answer["access_token"] as? String)
            let refresh = try #require(answer["refresh_token"] as? String)
            _ = try await WholeApp.psql("select \(statement)('whole', '\(id)')")
            try await eventually {
                try await api.curl("GET", "/api/client/v2.0/auth/profile", token: access).status == 401
            }
            let answered = try await api.curl("POST", "/api/client/v2.0/auth/session", token: refresh)
            expect(answered, 401, "InvalidSession", "invalid session: failed to find refresh token")
        }
    }

    @Test("revoking sessions (admin), logging out: refresh tokens stop at once, and here access tokens too")
    func revoking() async throws {
        for byAdministrator in [true, false] {
            let (api, answer, _, _) = try await login()
            let id = try #require(answer["user_id"] as? String)
            let access = try #require(answer["access_token"] as? String)
            let refresh = try #require(answer["refresh_token"] as? String)
            if byAdministrator {
                _ = try await WholeApp.psql("select tidegate.revoke_sessions('whole', '\(id)')")
            } else {
                let out = try await api.curl("DELETE", "/api/client/v2.0/auth/session", token: refresh)
                expectNothing(out, 204)
            }
            let answered = try await api.curl("POST", "/api/client/v2.0/auth/session", token: refresh)
            expect(answered, 401, "InvalidSession", "invalid session: failed to find refresh token")
            try await eventually {
                try await api.curl("GET", "/api/client/v2.0/auth/profile", token: access).status == 401
            }
        }
    }
}

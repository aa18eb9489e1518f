import Crypto
import Foundation
import TestSupport
import Testing

// Passwords cost much memory each: one test at a time.
@Suite("Credentials", .serialized)
struct CredentialTests {
    @Test("of every kind open the Data API")
    func kinds() async throws {
        let api = try await SharedServer.caller()
        let ann = try await api.newPasswordUser()
        try Shell.psql(
            api.server.database,
            "select tidegate.set_secret('\(api.app)', 'jwt_key', '7A4VvateM9s86tbkfisoLoChjGBjuJnZ')"
        )
        let key = try SharedServer.apiKey(api)
        let jwt = Self.token(["aud": api.app, "sub": "customer-\(UUID().uuidString)", "exp": 2_145_916_800])
        let dashed = ["api-key": try #require(key["apiKey"])]
        for headers in [
            ann.bearer, key, dashed, ["email": ann.email, "password": ann.password], ["jwtTokenString": jwt],
        ] {
            // A setting changed in SQL reaches the gateway within moments.
            var answer = try await api.act("find", "Item", as: headers)
            for _ in 0..<40 where answer.status != 200 {
                try await Task.sleep(for: .milliseconds(50))
                answer = try await api.act("find", "Item", as: headers)
            }
            #expect(answer.text == #"{"documents":[]}"#, "\(headers.keys)")
        }
    }

    @Test("that are missing, incomplete or wrong are refused as the hosted service did")
    func refusals() async throws {
        let api = try await SharedServer.caller()
        let ann = try await api.newPasswordUser()
        let none = try await api.act("find", "Item", as: [:])
        #expect(none.status == 400)
        #expect(none.errorCode == "InvalidParameter")
        #expect(none.error == "no authentication methods were specified")
        let half = try await api.act("find", "Item", as: ["email": ann.email])
        #expect(half.status == 400)
        #expect(half.errorCode == "MissingParameter")
        for headers in [
            ["apiKey": "nonsense"], ["email": ann.email, "password": "wrong"],
            ["email": "nobody@example.com", "password": "wrong"], ["jwtTokenString": "a.b.c"],
        ] {
            let refused = try await api.act("find", "Item", as: headers)
            #expect(refused.status == 401, "\(headers): \(refused.text)")
            #expect(refused.errorCode == "InvalidSession")
            #expect(refused.error == "invalid session: error finding user for endpoint")
            #expect((refused.object["link"] as? String)?.contains("logs?co_id=") == true)
        }
        let bearer = try await api.act(
            "find",
            "Item",
            as: ["Authorization": "Bearer x.y.z", "email": ann.email, "password": ann.password]
        )
        #expect(bearer.status == 401)
    }

    @Test("stop working the moment a user is disabled or logs out")
    func revocation() async throws {
        let api = try await SharedServer.caller()
        let ann = try await api.newPasswordUser()
        #expect(try await api.act("find", "Item", as: ann.bearer).status == 200)
        try Shell.psql(api.server.database, "select tidegate.disable_user('\(api.app)', '\(ann.id)')")
        var status = 200
        for _ in 0..<40 where status == 200 {
            try await Task.sleep(for: .milliseconds(25))
            status = try await api.act("find", "Item", as: ann.bearer).status
        }
        #expect(status == 401)
        let login = try await api.send(
            "POST",
            "/api/client/v2.0/app/\(api.app)/auth/providers/local-userpass/login",
            body: Data(#"{"username":"\#(ann.email)","password":"\#(ann.password)"}"#.utf8)
        )
        #expect(login.status == 401)
        #expect(login.errorCode == "UserDisabled")
    }

    @Test("give sessions that refresh, show a profile and end")
    func sessions() async throws {
        let api = try await SharedServer.caller()
        let ann = try await api.newPasswordUser()
        let refresh = ["Authorization": "Bearer \(ann.refreshToken)"]
        let refreshed = try await api.send("POST", "/api/client/v2.0/auth/session", headers: refresh)
        #expect(refreshed.status == 201)
        let token = try #require(refreshed.object["access_token"] as? String)
        let profile = try await api.send(
            "GET",
            "/api/client/v2.0/auth/profile",
            headers: ["Authorization": "Bearer \(token)"]
        )
        #expect(profile.status == 200)
        #expect(profile.object["user_id"] as? String == ann.id)
        #expect(profile.object["type"] as? String == "normal")
        let identity = (profile.object["identities"] as? [[String: Any]])?.first
        #expect(identity?["provider_type"] as? String == "local-userpass")
        let logout = try await api.send("DELETE", "/api/client/v2.0/auth/session", headers: refresh)
        #expect(logout.status == 204)
        #expect(logout.header("content-type") == nil)
        let again = try await api.send("POST", "/api/client/v2.0/auth/session", headers: refresh)
        #expect(again.status == 401)
        #expect(again.error == "invalid session: failed to find refresh token")
        let wrongKind = try await api.send("POST", "/api/client/v2.0/auth/session", headers: ann.bearer)
        #expect(wrongKind.status == 401)
        let missing = try await api.send("GET", "/api/client/v2.0/auth/profile")
        #expect(missing.status == 401)
    }

    @Test("of scalar type only: an object is refused", arguments: ["{}", "[]", "1", #"{"$ne":""}"#, "null"])
    func operatorInjection(value: String) async throws {
        let api = try await SharedServer.caller()
        for (provider, body) in [
            ("local-userpass", #"{"username":\#(value),"password":"x"}"#),
            ("local-userpass", #"{"username":"x","password":\#(value)}"#), ("api-key", #"{"key":\#(value)}"#),
            ("custom-token", #"{"token":\#(value)}"#),
        ] {
            let answer = try await api.send(
                "POST",
                "/api/client/v2.0/app/\(api.app)/auth/providers/\(provider)/login",
                body: Data(body.utf8)
            )
            #expect(answer.status == 400, "\(provider) \(body): \(answer.text)")
            #expect(answer.errorCode == "InvalidParameter")
        }
    }

    @Test("of an unknown app or provider answer 404")
    func unknown() async throws {
        let api = try await SharedServer.caller()
        let app = try await api.send("GET", "/api/client/v2.0/app/smurf/location")
        #expect(app.status == 404)
        #expect(app.text == #"{"error":"cannot find app using Client App ID 'smurf'"}"#)
        let provider = try await api.send(
            "POST",
            "/api/client/v2.0/app/\(api.app)/auth/providers/oauth2-google/login",
            body: Data("{}".utf8)
        )
        #expect(provider.status == 404)
        #expect(provider.errorCode == "AuthProviderNotFound")
    }

    /// A token of the custom JWT provider, signed with the test app's key.
    private static func token(_ claims: [String: Any]) -> String {
        func encode(_ data: Data) -> String {
            data.base64EncodedString().replacingOccurrences(of: "+", with: "-")
                .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
        }
        let header = encode(Data(#"{"alg":"HS256","typ":"JWT"}"#.utf8))
        let payload = encode((try? JSONSerialization.data(withJSONObject: claims)) ?? Data())
        let key = SymmetricKey(data: Data("7A4VvateM9s86tbkfisoLoChjGBjuJnZ".utf8))
        let code = HMAC<SHA256>.authenticationCode(for: Data("\(header).\(payload)".utf8), using: key)
        return "\(header).\(payload).\(encode(Data(code)))"
    }
}

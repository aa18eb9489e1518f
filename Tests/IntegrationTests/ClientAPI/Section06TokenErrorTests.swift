import Foundation
import TestSupport
import Testing

/// `client-api.md` §6: each test's name begins with the row.
@Suite("Client API §6: token errors", .serialized)
struct Section06TokenErrorTests {
    private let session = "/api/client/v2.0/auth/session"
    private let profile = "/api/client/v2.0/auth/profile"
    private let keys = "/api/client/v2.0/auth/api_keys"

    @Test("§6.1 refresh token; access token; none (a stale Authorization is ignored)")
    func which() async throws {
        let api = try await WholeApp.caller()
        let user = try await api.anonymous()
        let call = "/api/client/v2.0/app/whole-abcde/functions/call"
        let link = "/api/client/v2.0/app/whole-abcde/auth/providers/custom-token/login?link=true"
        let jwt = #"{"token":"\#(WholeApp.jwt("sub-\(UUID().uuidString)"))"}"#
        for (method, path, body, token) in [
            ("POST", session, nil, user.accessToken), ("DELETE", session, nil, user.accessToken),
            ("GET", keys, nil, user.accessToken), ("POST", keys, #"{"name":"x"}"#, user.accessToken),
            ("DELETE", keys + "/65f0c0ffee0000000000aaaa", nil, user.accessToken),
            ("GET", profile, nil, user.refreshToken),
            ("DELETE", "/api/client/v2.0/auth/delete", nil, user.refreshToken),
            ("POST", call, #"{"name":"sum","arguments":[]}"#, user.refreshToken),
            ("POST", link, jwt, user.refreshToken),
        ] {
            let answer = try await api.curl(method, path, body, token: token)
            expect(answer, 401, "InvalidSession", "invalid session: token type mismatch")
        }
        let stale = ["Authorization: Bearer stale"]
        #expect(
            try await api.curl("GET", "/api/client/v2.0/app/whole-abcde/location", headers: stale).status
                == 200
        )
        let login = "/api/client/v2.0/app/whole-abcde/auth/providers/anon-user/login"
        #expect(try await api.curl("POST", login, "{}", headers: stale).status == 200)
        let register = "/api/client/v2.0/app/whole-abcde/auth/providers/local-userpass/register"
        let body = #"{"email":"\#(api.newEmail())","password":"correct horse"}"#
        expectNothing(try await api.curl("POST", register, body, headers: stale), 201)
    }

    /// A token of the app's own key with claims of the test's choice.
    private func signed(_ claims: String) async throws -> String {
        let row = try await WholeApp.psql(
            "select id, encode(secret, 'hex') from tidegate.signing_keys where app = tidegate.app_id('whole') order by valid_from desc limit 1"
        ).split(separator: "|").map(String.init)
        var bytes = Data()
        var rest = Substring(row[1])
        while let byte = UInt8(rest.prefix(2), radix: 16) {
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        let header = #"{"alg":"HS256","typ":"JWT","kid":"\#(row[0])"}"#
        return ForgedToken.hmac(header: header, payload: claims, key: bytes)
    }

    /// The claims of a token as JSON text, with other times if wanted.
    private func text(of token: String, issued: Int? = nil, ends: Int? = nil) throws -> String {
        var payload = try claims(token)
        if let issued { payload["iat"] = issued }
        if let ends { payload["exp"] = ends }
        return String(decoding: try JSONSerialization.data(withJSONObject: payload), as: UTF8.self)
    }

    @Test("§6.2 access token expired; refresh token expired")
    func expired() async throws {
        let api = try await WholeApp.caller()
        let user = try await api.anonymous()
        // The same way of signing is accepted while it has not ended.
        let good = try await signed(try text(of: user.accessToken))
        #expect(try await api.curl("GET", profile, token: good).status == 200)
        let access = try await signed(
            try text(of: user.accessToken, issued: 1_600_000_000, ends: 1_600_001_800)
        )
        let answer = try await api.curl("GET", profile, token: access)
        expect(answer, 401, "InvalidSession", "invalid session: access token expired")
        let refresh = try await signed(
            try text(of: user.refreshToken, issued: 1_600_000_000, ends: 1_600_001_800)
        )
        let refused = try await api.curl("POST", session, token: refresh)
        expect(refused, 401, "InvalidSession", "invalid session: refresh token expired")
    }

    @Test("§6.2 access token garbage or wrong signature: no code, and the exact word")
    func garbage() async throws {
        let api = try await WholeApp.caller()
        let user = try await api.anonymous()
        let parts = user.accessToken.split(separator: ".").map(String.init)
        let payload = try text(of: user.accessToken)
        let doubled = String(payload.dropLast()) + #","sub":"65f0c0ffee0000000000aaaa"}"#
        for token in [
            "x", "x.y.z", "[]", String(user.accessToken.dropLast(6)) + "AAAAAA", "\(parts[0]).\(parts[1])",
            "\(parts[0]).\(parts[1]).", user.accessToken + "x",
            ForgedToken.unsigned(header: #"{"alg":"none","typ":"JWT"}"#, payload: payload),
            // Claims that stand twice make no good token, whoever signed it.
            try await signed(doubled),
        ] {
            let answer = try await api.curl("GET", profile, token: token)
            expect(answer, 401, nil, "unauthorized")
        }
    }

    @Test("§6.2 user disabled or deleted, with a live access token")
    func gone() async throws {
        let api = try await WholeApp.caller()
        for statement in ["disable_user", "delete_user"] {
            let user = try await api.anonymous()
            _ = try await WholeApp.psql("select tidegate.\(statement)('whole', '\(user.id)')")
            try await eventually {
                try await api.curl("GET", profile, token: user.accessToken).status == 401
            }
            let answer = try await api.curl("GET", profile, token: user.accessToken)
            expect(answer, 401, "InvalidSession", "invalid session: user not found")
        }
    }

    @Test("§6.2 refresh token revoked, logged out, of a deleted user; and sent again")
    func revoked() async throws {
        let api = try await WholeApp.caller()
        let text = "invalid session: failed to find refresh token"
        let revoked = try await api.anonymous()
        _ = try await WholeApp.psql("select tidegate.revoke_sessions('whole', '\(revoked.id)')")
        let deleted = try await api.anonymous()
        _ = try await api.curl("DELETE", "/api/client/v2.0/auth/delete", token: deleted.accessToken)
        let out = try await api.anonymous()
        expectNothing(try await api.curl("DELETE", session, token: out.refreshToken), 204)
        for user in [revoked, deleted, out] {
            for method in ["POST", "DELETE", "POST"] {
                let answer = try await api.curl(method, session, token: user.refreshToken)
                expect(answer, 401, "InvalidSession", text)
            }
            let list = try await api.curl("GET", keys, token: user.refreshToken)
            expect(list, 401, "InvalidSession", text)
        }
    }

    @Test("§6.2 refresh token with a bad signature")
    func badSignature() async throws {
        let api = try await WholeApp.caller()
        let user = try await api.anonymous()
        let token = String(user.refreshToken.dropLast(6)) + "AAAAAA"
        let answer = try await api.curl("POST", session, token: token)
        #expect(answer.status == 401)
        #expect(answer.error == "signature is invalid")
        #expect(answer.errorCode == nil || answer.errorCode == "InvalidSession")
    }

    @Test("§6.2 no Authorization header; for api_keys with an empty bearer")
    func none() async throws {
        let api = try await WholeApp.caller()
        let call = "/api/client/v2.0/app/whole-abcde/functions/call"
        for (method, path) in [
            ("GET", profile), ("POST", session), ("DELETE", session), ("GET", keys), ("POST", call),
            ("DELETE", "/api/client/v2.0/auth/delete"),
        ] {
            expect(try await api.curl(method, path), 401, "MissingAuthReq", "must authenticate first")
        }
        // curl sends the blank behind the scheme only when it is told not to tidy up.
        let empty = try await api.curl("GET", keys, headers: ["Authorization: Bearer "])
        #expect(empty.status == 401)
        #expect(
            [
                "must authenticate first", "expected Authorization header with JWT (Bearer schema)",
            ].contains(empty.error)
        )
    }

    @Test("§6.2 access token where refresh is needed, or the reverse")
    func mismatch() async throws {
        let api = try await WholeApp.caller()
        let user = try await api.anonymous()
        let text = "invalid session: token type mismatch"
        expect(
            try await api.curl("POST", session, token: user.accessToken),
            401,
            "InvalidSession",
            text
        )
        expect(
            try await api.curl("GET", profile, token: user.refreshToken),
            401,
            "InvalidSession",
            text
        )
    }

    @Test("§6.2 token of another app than in the path")
    func otherApp() async throws {
        let auto = try await WholeApp.caller("auto-abcde")
        let user = try await auto.anonymous()
        let answer = try await auto.curl(
            "POST",
            "/api/client/v2.0/app/whole-abcde/functions/call",
            #"{"name":"sum","arguments":[]}"#,
            token: user.accessToken
        )
        expect(answer, 401, "UserAppDomainMismatch", "user app domain mismatch")
        let link = try await auto.curl(
            "POST",
            "/api/client/v2.0/app/whole-abcde/auth/providers/custom-token/login?link=true",
            #"{"token":"\#(WholeApp.jwt("sub-\(UUID().uuidString)"))"}"#,
            token: user.accessToken
        )
        expect(link, 401, "UserAppDomainMismatch", "user app domain mismatch")
    }

    @Test("§6.3, §6.4 what is refused for another reason than the token is never 401")
    func never() async throws {
        let api = try await WholeApp.caller()
        let user = try await api.anonymous()
        for (name, arguments) in [
            ("hidden", "[]"), ("closed", "[]"), ("nowhere", "[]"), ("throws", #"["unauthorized"]"#),
        ] {
            let answer = try await api.function(name, arguments, as: user)
            #expect(answer.status == 400 || answer.status == 404, "\(answer.text)")
        }
    }
}

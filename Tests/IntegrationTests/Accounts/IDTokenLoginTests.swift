import Crypto
import Foundation
import TestSupport
import Testing

/// Google, Apple and Facebook by id token, from an issuer of our own on this machine.
@Suite("Logging in by id token", .serialized)
struct IDTokenLoginTests {
    private static let app = "idtokens-abcde"
    private static let key = P256.Signing.PrivateKey()
    private static let issuer = Task {
        let numbers = key.publicKey.rawRepresentation
        let set =
            #"{"keys":[{"kty":"EC","kid":"k1","use":"sig","crv":"P-256","x":"\#(ForgedToken.encode(numbers.prefix(32)))","y":"\#(ForgedToken.encode(numbers.suffix(32)))"}]}"#
        return try LineServer.json { set }
    }

    /// An app with a Google of its own.
    private static let caller = Task {
        let server = try await AccountServer.caller().server
        let port = try await issuer.value.port
        try Shell.psql(
            server.database,
            script: """
                select tidegate.create_app('idtokens', 'idtokens-abcde');
                select tidegate.set_secret('idtokens', 'google', 'unused');
                select tidegate.set_provider('idtokens', 'oauth2-google', '{"config": {"clientId": "client-1",
                    "openId": true, "issuer": "https://issuer.example", "jwkURI": "http://127.0.0.1:\(port)/keys"},
                    "secret_config": {"clientSecret": "google"},
                    "metadata_fields": [{"required": false, "name": "email"}, {"required": false, "name": "first_name"}]}');
                -- The last of them: whoever can log in so sees the others in force.
                select tidegate.set_provider('idtokens', 'anon-user', '{}');
                """
        )
        let caller = APICaller(server: server, app: app)
        try await eventually { (try? await caller.newUser()) != nil }
        return caller
    }

    private static func token(
        _ subject: String,
        issuer: String = "https://issuer.example",
        audience: String = "client-1",
        expires: Int = 2_145_916_800,
        header: String = #"{"alg":"ES256","kid":"k1"}"#,
        more: String = ""
    ) throws -> String {
        let claims =
            #"{"iss":"\#(issuer)","aud":"\#(audience)","sub":"\#(subject)","exp":\#(expires)\#(more)}"#
        let text = ForgedToken.encode(Data(header.utf8)) + "." + ForgedToken.encode(Data(claims.utf8))
        return text + "." + ForgedToken.encode(try key.signature(for: Data(text.utf8)).rawRepresentation)
    }

    @Test("a token of the issuer makes a user, who comes back, and tells its fields anew each time")
    func logIn() async throws {
        let api = try await Self.caller.value
        let subject = "sub-\(UUID().uuidString)"
        func logIn(_ more: String) async throws -> APICaller.User {
            let body = #"{"id_token":"\#(try Self.token(subject, more: more))"}"#
            return try api.tokens(try await api.provider("oauth2-google", "login", body))
        }
        let first = try await logIn(#","email":"ann@example.com","given_name":"Ann","secret":"x""#)
        let profile = try await api.profile(first.accessToken)
        #expect(
            profile.object["data"] as? [String: String] == ["email": "ann@example.com", "first_name": "Ann"]
        )
        let identity = (profile.object["identities"] as? [[String: Any]])?.first
        #expect(identity?["provider_type"] as? String == "oauth2-google")
        #expect(identity?["id"] as? String == subject)
        let second = try await logIn(#","email":"ann@example.org""#)
        #expect(second.id == first.id)
        try await eventually {
            let data = try await api.profile(second.accessToken).object["data"] as? [String: String]
            return data == ["email": "ann@example.org"]
        }
        // An anonymous user takes an identity of its own along.
        let anonymous = try await api.newUser()
        let body = #"{"id_token":"\#(try Self.token("sub-\(UUID().uuidString)"))"}"#
        let linked = try await api.provider("oauth2-google", "login?link=true", body, as: anonymous.bearer)
        #expect(try api.tokens(linked).id == anonymous.id)
    }

    @Test("anything else is refused with one answer, and makes nobody")
    func refusals() async throws {
        let api = try await Self.caller.value
        let good = try Self.token("forged")
        let parts = good.split(separator: ".").map(String.init)
        let publicKey = Self.key.publicKey.pemRepresentation
        let claims = #"{"iss":"https://issuer.example","aud":"client-1","sub":"forged","exp":2145916800}"#
        let tokens = [
            try Self.token("forged", issuer: "https://accounts.google.com"),
            try Self.token("forged", audience: "client-2"),
            try Self.token("forged", expires: 1_700_000_000),
            try Self.token("forged", header: #"{"alg":"RS256","kid":"k1"}"#),
            try Self.token("forged", header: #"{"alg":"ES256","kid":"k2"}"#),
            try Self.token("forged", header: #"{"alg":"ES256","kid":"k1","crit":["x"]}"#),
            try Self.token("forged", more: #","sub":"other""#),
            ForgedToken.unsigned(header: #"{"alg":"none","kid":"k1"}"#, payload: claims),
            ForgedToken.hmac(
                header: #"{"alg":"HS256","kid":"k1"}"#,
                payload: claims,
                key: Data(publicKey.utf8)
            ),
            "\(parts[0]).\(parts[1])", "\(parts[0]).\(parts[1]).\(parts[2].dropLast(4))", "a.b.c", "x",
        ]
        for token in tokens {
            let answer = try await api.provider("oauth2-google", "login", #"{"id_token":"\#(token)"}"#)
            #expect(answer.status == 401, "\(token)")
            #expect(answer.errorCode == "AuthError")
            #expect(answer.error == "unauthorized")
        }
        let made = try Shell.psql(
            api.server.database,
            "select count(*) from tidegate.identities where id in ('forged', 'other')"
        )
        #expect(made == "0")
        for (body, text) in [
            (#"{"authCode":"c"}"#, "'authCode' is not served: log in with 'id_token'"),
            (#"{"accessToken":"c"}"#, "'accessToken' is not served: log in with 'id_token'"),
            (#"{"id_token":{"$ne":""}}"#, "'id_token' is a required string"),
        ] {
            let answer = try await api.provider("oauth2-google", "login", body)
            #expect(answer.status == 400)
            #expect(answer.errorCode == "InvalidParameter")
            #expect(answer.error == text)
        }
        // Neither of these is set up.
        for provider in ["oauth2-apple", "oauth2-facebook"] {
            let answer = try await api.provider(provider, "login", #"{"id_token":"\#(good)"}"#)
            #expect(answer.status == 404)
            #expect(answer.errorCode == "AuthProviderNotFound")
        }
    }
}

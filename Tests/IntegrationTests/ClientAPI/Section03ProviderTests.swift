import Foundation
import TestSupport
import Testing

/// `client-api.md` §3.2, facts that decide acceptance: each test's name begins with the row.
@Suite("Client API §3.2: providers", .serialized)
struct Section03ProviderTests {
    @Test("anonymous: each login makes a user, whose refresh token lasts, who has no keys and may be linked")
    func anonymous() async throws {
        let whole = try await WholeApp.caller()
        let user = try await whole.anonymous()
        #expect(try await whole.anonymous().id != user.id)
        let refresh = try claims(user.refreshToken)
        let issued = try #require(refresh["iat"] as? Int)
        #expect(try #require(refresh["exp"] as? Int) - issued > 40 * 365 * 86400)
        let key = try await whole.curl(
            "POST",
            "/api/client/v2.0/auth/api_keys",
            #"{"name":"one"}"#,
            token: user.refreshToken
        )
        #expect(key.status == 400)
        #expect(key.errorCode == "InvalidParameter")
        let jwt = WholeApp.jwt("sub-\(UUID().uuidString)")
        let linked = try await whole.logIn("custom-token", #""token":"\#(jwt)""#, link: user.accessToken)
        #expect(try whole.tokens(linked).id == user.id)
        // Ninety days after its making such a user is removed; a permanent one is not.
        let other = try await whole.anonymous()
        let due = try await WholeApp.psql(
            """
            select round(extract(epoch from s.expires_at - s.created_at) / 86400)
            from tidegate.list_sessions('whole', '\(other.id)') s
            """
        )
        #expect(due == "90")
    }

    @Test("email/password: emails as they are written, 6 to 128 characters, links of 30 minutes")
    func emailPassword() async throws {
        let auto = try await WholeApp.caller("auto-abcde")
        let user = try await auto.registered("Case")
        let lower = user.email.lowercased()
        let login = try await auto.logIn(
            "local-userpass",
            #""username":"\#(lower)","password":"correct horse""#
        )
        expect(login, 401, "InvalidPassword", "unauthorized")
        for (length, status) in [(5, 400), (6, 201), (128, 201), (129, 400)] {
            let password = String(repeating: "é", count: length)
            let answer = try await auto.password(
                "register",
                #"{"email":"\#(auto.newEmail())","password":"\#(password)"}"#
            )
            #expect(answer.status == status, "\(length): \(answer.text)")
        }
        let whole = try await WholeApp.caller()
        let email = whole.newEmail()
        _ = try await whole.password("register", #"{"email":"\#(email)","password":"correct horse"}"#)
        let (_, id) = try await WholeApp.token(to: email)
        let life = try await WholeApp.psql(
            "select extract(epoch from expires_at - created_at)::int from tidegate.user_tokens where id = '\(id)'"
        )
        #expect(life == "1800")
    }

    @Test("API key: server keys are users of type server; a user's key logs its owner in")
    func apiKey() async throws {
        let whole = try await WholeApp.caller()
        let server = try await WholeApp.psql(
            "select key from tidegate.create_api_key('whole', 'k-\(UUID().uuidString.prefix(8))')"
        )
        let login = try whole.tokens(try await whole.logIn("api-key", #""key":"\#(server)""#))
        #expect(try await whole.profile(login.accessToken).object["type"] as? String == "server")
        let auto = try await WholeApp.caller("auto-abcde")
        let owner = try await auto.registered()
        let made = try await auto.curl(
            "POST",
            "/api/client/v2.0/auth/api_keys",
            #"{"name":"mine"}"#,
            token: owner.refreshToken
        )
        let key = try #require(made.object["key"] as? String, "\(made.text)")
        let own = try auto.tokens(try await auto.logIn("api-key", #""key":"\#(key)""#))
        #expect(own.id == owner.id)
        #expect(try await auto.profile(own.accessToken).object["type"] as? String == "normal")
    }

    @Test("custom JWT: aud, sub and exp required, audience the app's id, only listed fields, 30 minutes")
    func customToken() async throws {
        let whole = try await WholeApp.caller()
        let subject = "sub-\(UUID().uuidString)"
        let jwt = WholeApp.jwt(
            subject,
            #","mySecretField":"x","org":{"team":"red","boss":"y"},"full.name":"Ann","other":1"#
        )
        let user = try whole.tokens(try await whole.logIn("custom-token", #""token":"\#(jwt)""#))
        let profile = try await whole.profile(user.accessToken).object
        #expect(
            profile["data"] as? [String: String] == ["secret": "x", "org.team": "red", "name": "Ann"]
        )
        #expect((profile["identities"] as? [[String: Any]])?.first?["id"] as? String == subject)
        let access = try claims(user.accessToken)
        #expect(try #require(access["exp"] as? Int) - (try #require(access["iat"] as? Int)) == 1800)
        let both = WholeApp.jwt(subject, audience: #"["other","whole-abcde"]"#)
        #expect(try await whole.logIn("custom-token", #""token":"\#(both)""#).status == 200)
        func signed(_ payload: String) -> String {
            ForgedToken.hmac(
                header: #"{"alg":"HS256","typ":"JWT"}"#,
                payload: payload,
                key: Data(WholeApp.jwtKey.utf8)
            )
        }
        let long = String(repeating: "x", count: 4097)
        let huge = String(repeating: "x", count: 752_000)
        for token in [
            signed(#"{"sub":"\#(subject)","exp":2145916800}"#),
            signed(#"{"aud":"whole-abcde","exp":2145916800}"#),
            signed(#"{"aud":"whole-abcde","sub":"\#(subject)"}"#),
            signed(#"{"aud":"whole-abcde","sub":"\#(subject)","sub":"root","exp":2145916800}"#),
            WholeApp.jwt(subject, #","mySecretField":"\#(long)""#),
            WholeApp.jwt(subject, #","x":"\#(huge)""#),
        ] {
            let answer = try await whole.logIn("custom-token", #""token":"\#(token)""#)
            expect(answer, 401, "AuthError", "unauthorized")
        }
        let fits = WholeApp.jwt(subject, #","mySecretField":"\#(long.dropLast())""#)
        #expect(try await whole.logIn("custom-token", #""token":"\#(fits)""#).status == 200)
    }

    @Test("custom JWT: several audiences, any of them, RS256 by key and by JWK URI with kid")
    func customTokenKeys() async throws {
        let issuer = try RSAIssuer()
        defer { issuer.stop() }
        let whole = try await WholeApp.caller()
        try Shell.psql(
            whole.server.database,
            script: """
                select tidegate.create_app('keys', 'keys-abcde');
                select tidegate.set_provider('keys', 'anon-user', '{}');
                select tidegate.set_secret('keys', 'other', '\(String(repeating: "k", count: 32))');
                select tidegate.set_secret('keys', 'jwt_key', '\(WholeApp.jwtKey)');
                select tidegate.set_secret('keys', 'public', $pem$\(issuer.publicKey)$pem$);
                """
        )
        let keys = try await WholeApp.caller("keys-abcde")
        func configure(_ config: String, _ secrets: String = "[]") async throws {
            _ = try await WholeApp.psql(
                """
                select tidegate.set_provider('keys', 'custom-token', '{"config": \(config),
                    "secret_config": {"signingKeys": \(secrets)}}')
                """
            )
        }
        func status(_ token: String) async throws -> Int {
            try await keys.logIn("custom-token", #""token":"\#(token)""#).status
        }
        // The second of the keys signed, and all audiences are named.
        try await configure(
            #"{"audience": ["a", "b"], "signingAlgorithm": "HS256"}"#,
            #"["other", "jwt_key"]"#
        )
        try await eventually { try await status(WholeApp.jwt("s", audience: #"["a","b","c"]"#)) == 200 }
        #expect(try await status(WholeApp.jwt("s", audience: #"["a"]"#)) == 401)
        try await configure(
            #"{"audience": ["a", "b"], "requireAnyAudience": true, "signingAlgorithm": "HS256"}"#,
            #"["jwt_key"]"#
        )
        try await eventually { try await status(WholeApp.jwt("s", audience: #"["a"]"#)) == 200 }
        #expect(try await status(WholeApp.jwt("s", audience: #"["c"]"#)) == 401)
        try await configure(#"{"audience": "a", "signingAlgorithm": "RS256"}"#, #"["public"]"#)
        let claims = #"{"aud":"a","sub":"r","exp":2145916800}"#
        let good = try issuer.token(#"{"alg":"RS256"}"#, claims)
        try await eventually { try await status(good) == 200 }
        #expect(try await status(WholeApp.jwt("s", audience: #""a""#)) == 401)
        // HS256 with the public key as its secret.
        let confused = ForgedToken.hmac(
            header: #"{"alg":"HS256"}"#,
            payload: claims,
            key: Data(issuer.publicKey.utf8)
        )
        #expect(try await status(confused) == 401)
        try await configure(
            #"{"audience": "a", "signingAlgorithm": "RS256", "useJWKURI": true, "jwkURI": "http://127.0.0.1:\#(issuer.port)/jwks"}"#
        )
        let named = try issuer.token(#"{"alg":"RS256","kid":"r1"}"#, claims)
        try await eventually { try await status(named) == 200 }
        #expect(try await status(try issuer.token(#"{"alg":"RS256","kid":"r2"}"#, claims)) == 401)
        #expect(try await status(ForgedToken.unsigned(header: #"{"alg":"none"}"#, payload: claims)) == 401)
    }

    @Test("custom function: an id, or {id, name}; the identity is that id")
    func customFunction() async throws {
        let whole = try await WholeApp.caller()
        let id = UUID().uuidString
        let user = try whole.tokens(try await whole.logIn("custom-function", #""id":"\#(id)","name":"Ann""#))
        let profile = try await whole.profile(user.accessToken).object
        #expect(profile["data"] as? [String: String] == ["name": "Ann"])
        #expect((profile["identities"] as? [[String: Any]])?.first?["id"] as? String == id)
        let again = try whole.tokens(try await whole.logIn("custom-function", #""id":"\#(id)""#))
        #expect(again.id == user.id)
    }
}

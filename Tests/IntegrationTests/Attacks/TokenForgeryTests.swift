import Crypto
import Foundation
import TestSupport
import Testing

/// Tokens that somebody made, changed or kept; `peers.md` §6.2, "JWT".
@Suite("Attack: forged tokens", .serialized)
struct TokenForgeryTests {
    private static let secret = "7A4VvateM9s86tbkfisoLoChjGBjuJnZ"

    /// What `openssl` makes: a private key's file and the public key's text.
    private static let keys = Task {
        let directory = try ScratchFolder.make("forgeries")
        let key = directory.appendingPathComponent("key.pem")
        let openssl = URL(fileURLWithPath: "/usr/bin/openssl")
        try Shell.run(openssl, ["genrsa", "-out", key.path, "2048"])
        let pem = try Shell.run(openssl, ["rsa", "-in", key.path, "-pubout"]).output
        return (key, pem)
    }

    private static func payload(_ changes: String = "", aud: String = #""attacks""#) -> String {
        #"{"aud":\#(aud),"sub":"someone","exp":2145916800\#(changes)}"#
    }

    private static func rs256(header: String = #"{"alg":"RS256","typ":"JWT"}"#, _ payload: String)
        async throws -> String
    {
        let (key, _) = try await keys.value
        let signed = "\(ForgedToken.encode(Data(header.utf8))).\(ForgedToken.encode(Data(payload.utf8)))"
        let output = FileManager.default.temporaryDirectory.appendingPathComponent("sig-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: output) }
        try Shell.run(
            URL(fileURLWithPath: "/usr/bin/openssl"),
            ["dgst", "-sha256", "-sign", key.path, "-out", output.path],
            input: Data(signed.utf8)
        )
        return "\(signed).\(ForgedToken.encode(try Data(contentsOf: output)))"
    }

    /// The attacked app believes RS256 tokens of one key.
    private static func trusting() async throws -> APICaller {
        let api = try await AttackApp.caller()
        let (_, pem) = try await keys.value
        try await AttackApp.sql("select tidegate.set_secret('\(api.app)', 'public_key', '\(pem)')")
        let good = try await rs256(payload())
        try await eventually { try await logIn(api, good).status == 200 }
        return api
    }

    private static func logIn(_ api: APICaller, _ token: String) async throws -> APICaller.Answer {
        try await api.send(
            "POST",
            "/api/client/v2.0/app/\(api.app)/auth/providers/custom-token/login",
            headers: ["Content-Type": "application/json"],
            body: Data(#"{"token":"\#(token)"}"#.utf8)
        )
    }

    @Test("a foreign token needs the app's algorithm, key, audience and time, and each claim once")
    func foreign() async throws {
        let api = try await Self.trusting()
        let (_, pem) = try await Self.keys.value
        let now = Int(Date().timeIntervalSince1970)
        let good = Self.payload()
        let valid = try await Self.rs256(good)
        let signature = String(valid.split(separator: ".")[2])
        let hs = #"{"alg":"HS256","typ":"JWT"}"#
        var forgeries: [String: String] = [
            "none": ForgedToken.unsigned(header: #"{"alg":"none"}"#, payload: good),
            "None": ForgedToken.unsigned(header: #"{"alg":"None"}"#, payload: good, signature: signature),
            "nOnE with signature": ForgedToken.unsigned(
                header: #"{"alg":"nOnE"}"#,
                payload: good,
                signature: "x"
            ),
            "no algorithm": ForgedToken.unsigned(
                header: #"{"typ":"JWT"}"#,
                payload: good,
                signature: signature
            ),
            "algorithm is a list": ForgedToken.unsigned(
                header: #"{"alg":["none","RS256"]}"#,
                payload: good,
                signature: signature
            ),
            "public key as HMAC secret": ForgedToken.hmac(header: hs, payload: good, key: Data(pem.utf8)),
            "public key, trimmed": ForgedToken.hmac(
                header: hs,
                payload: good,
                key: Data(pem.trimmingCharacters(in: .whitespacesAndNewlines).utf8)
            ),
            "empty key by kid": ForgedToken.hmac(
                header: #"{"alg":"HS256","kid":"../../../../dev/null"}"#,
                payload: good,
                key: Data()
            ),
            "kid as SQL": ForgedToken.hmac(
                header: #"{"alg":"HS256","kid":"x' union select 'k"}"#,
                payload: good,
                key: Data("k".utf8)
            ),
            "wrong audience": try await Self.rs256(Self.payload(aud: #""other""#)),
            "no audience": try await Self.rs256(#"{"sub":"someone","exp":2145916800}"#),
            "audience is an object": try await Self.rs256(Self.payload(aud: #"{"$ne":""}"#)),
            "expired": try await Self.rs256(#"{"aud":"attacks","sub":"someone","exp":\#(now - 1)}"#),
            "no expiry": try await Self.rs256(#"{"aud":"attacks","sub":"someone"}"#),
            "expiry is text": try await Self.rs256(#"{"aud":"attacks","sub":"someone","exp":"2145916800"}"#),
            "expiry overflows": try await Self.rs256(#"{"aud":"attacks","sub":"someone","exp":1e400}"#),
            "not yet": try await Self.rs256(Self.payload(#","nbf":\#(now + 3600)"#)),
            "nbf is text": try await Self.rs256(Self.payload(#","nbf":"soon""#)),
            "no subject": try await Self.rs256(#"{"aud":"attacks","exp":2145916800}"#),
            "subject is an object": try await Self.rs256(
                #"{"aud":"attacks","sub":{"$gt":""},"exp":2145916800}"#
            ),
            "subject twice": try await Self.rs256(
                #"{"aud":"attacks","sub":"someone","sub":"admin","exp":2145916800}"#
            ),
            "expiry twice": try await Self.rs256(
                #"{"aud":"attacks","sub":"someone","exp":1,"exp":2145916800}"#
            ),
            "algorithm twice": try await Self.rs256(header: #"{"alg":"none","alg":"RS256"}"#, good),
            "another payload": valid.split(separator: ".")[0] + "."
                + ForgedToken.encode(Data(Self.payload(#","x":1"#).utf8)) + "." + signature,
            "two parts": valid.split(separator: ".").prefix(2).joined(separator: "."),
            "four parts": valid + ".x", "empty parts": "..", "padded": valid + "==",
        ]
        // A key that the token brings itself, or says where to get.
        let stranger = try Shell.run(URL(fileURLWithPath: "/usr/bin/openssl"), ["genrsa", "2048"]).output
        let strangerKey = try ScratchFolder.make("stranger").appendingPathComponent("key.pem")
        try Data(stranger.utf8).write(to: strangerKey)
        for (name, header) in [
            ("jku", #"{"alg":"RS256","jku":"http://127.0.0.1:9/keys"}"#),
            ("x5u", #"{"alg":"RS256","x5u":"http://127.0.0.1:9/"}"#),
            ("jwk", #"{"alg":"RS256","jwk":{"kty":"RSA","n":"AQAB","e":"AQAB"}}"#),
            ("crit", #"{"alg":"RS256","crit":["x"],"x":1}"#),
        ] {
            let signed = "\(ForgedToken.encode(Data(header.utf8))).\(ForgedToken.encode(Data(good.utf8)))"
            let file = strangerKey.appendingPathExtension(name)
            try Shell.run(
                URL(fileURLWithPath: "/usr/bin/openssl"),
                ["dgst", "-sha256", "-sign", strangerKey.path, "-out", file.path],
                input: Data(signed.utf8)
            )
            forgeries[name] = "\(signed).\(ForgedToken.encode(try Data(contentsOf: file)))"
        }
        for (name, token) in forgeries.sorted(by: { $0.key < $1.key }) {
            let login = try await Self.logIn(api, token)
            #expect(login.status == 401, "\(name): \(login.status) \(login.text)")
            #expect(login.object["access_token"] == nil, "\(name)")
            let call = try await api.attack("find", "Open", as: ["jwtTokenString": token])
            #expect(call.status == 401, "\(name): \(call.text)")
            #expect(call.error == "invalid session: error finding user for endpoint", "\(name)")
        }
        #expect(try await Self.logIn(api, valid).status == 200)
    }

    @Test("a token that was accepted stops when it expires, remembered or not")
    func expiredInCache() async throws {
        let api = try await Self.trusting()
        let end = Int(Date().timeIntervalSince1970) + 3
        let token = try await Self.rs256(#"{"aud":"attacks","sub":"brief","exp":\#(end)}"#)
        var accepted = 0
        try await eventually {
            let status = try await api.attack("find", "Open", as: ["jwtTokenString": token]).status
            if status == 200 { accepted += 1 }
            return status == 401
        }
        #expect(accepted > 0, "it was accepted, and then remembered")
        #expect(Int(Date().timeIntervalSince1970) >= end)
    }

    @Test("our own tokens hold only as they were signed, for their app and their purpose")
    func own() async throws {
        let (api, user) = try await AttackApp.user()
        let parts = user.accessToken.split(separator: ".").map(String.init)
        func decode(_ part: String) -> String {
            var text = part.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
            while text.count % 4 != 0 { text += "=" }
            return String(decoding: Data(base64Encoded: text) ?? Data(), as: UTF8.self)
        }
        let payload = decode(parts[1])
        #expect(payload.contains(user.id))
        let victim = try await api.newUser()
        let swapped = payload.replacingOccurrences(of: user.id, with: victim.id)
        var forgeries = [
            "none": ForgedToken.unsigned(header: #"{"alg":"none","typ":"JWT"}"#, payload: payload),
            "another user": "\(parts[0]).\(ForgedToken.encode(Data(swapped.utf8))).\(parts[2])",
            "empty key": ForgedToken.hmac(header: decode(parts[0]), payload: swapped, key: Data()),
            "guessed key": ForgedToken.hmac(
                header: decode(parts[0]),
                payload: swapped,
                key: Data("secret".utf8)
            ),
            "key named by kid": ForgedToken.hmac(
                header: #"{"alg":"HS256","kid":"../../dev/null"}"#,
                payload: swapped,
                key: Data()
            ),
            "no signature": "\(parts[0]).\(parts[1]).", "refresh token": user.refreshToken,
            "a foreign token": ForgedToken.hmac(
                header: #"{"alg":"HS256"}"#,
                payload: payload,
                key: Data(Self.secret.utf8)
            ),
        ]
        let elsewhere = try await SharedServer.user()
        forgeries["another app's"] = elsewhere.1.accessToken
        for (name, token) in forgeries.sorted(by: { $0.key < $1.key }) {
            let answer = try await api.attack("find", "Open", as: ["Authorization": "Bearer \(token)"])
            #expect(answer.status == 401, "\(name): \(answer.status) \(answer.text)")
            #expect(answer.errorCode == "InvalidSession", "\(name)")
        }
        let refresh = try await api.send("POST", "/api/client/v2.0/auth/session", headers: user.bearer)
        #expect(refresh.status == 401, "an access token buys no other")
    }
}

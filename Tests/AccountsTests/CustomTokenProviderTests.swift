import BSON
import Crypto
import CryptoExtras
import Errors
import Foundation
import Testing

@testable import Accounts

@Suite("Foreign tokens")
struct CustomTokenProviderTests {
    static let now: Int64 = 1_700_000_000
    static let secret = "2k66QfKeTRk3MdZ5vpDYgZCu2k66QfKeTRk3MdZ5vpDYgZCu"

    static func token(_ claims: String) throws -> JSONWebToken {
        let header = Base64.encode(Array(#"{"alg":"HS256"}"#.utf8), .url)
        return try #require(JSONWebToken("\(header).\(Base64.encode(Array(claims.utf8), .url)).AAAA"))
    }

    static func decide(
        _ claims: String,
        audience: [String] = [],
        any: Bool = false,
        fields: [MetadataField] = []
    ) throws -> CustomTokenProvider.Decision {
        try CustomTokenProvider(
            settings: CustomTokenSettings(
                algorithm: .hs256,
                keys: .secrets(["s"]),
                audience: audience,
                requireAnyAudience: any
            ),
            metadataFields: fields,
            clientAppID: "app-abcde"
        ).decide(token(claims), now: now)
    }

    @Test("it takes sub as the identity and the app id as the audience")
    func plain() throws {
        let decision = try Self.decide(#"{"aud":"app-abcde","sub":"u1","exp":1700000001,"email":"x@y.z"}"#)
        #expect(decision.identityID == "u1")
        #expect(decision.data.isEmpty)
        #expect(decision.expiresAt == 1_700_000_001)
    }

    @Test(
        "it refuses claims that are missing, wrong or out of time",
        arguments: [
            #"{"sub":"u","exp":1700000001}"#, #"{"aud":"app-abcde","exp":1700000001}"#,
            #"{"aud":"app-abcde","sub":"u"}"#, #"{"aud":"other","sub":"u","exp":1700000001}"#,
            #"{"aud":["other"],"sub":"u","exp":1700000001}"#,
            #"{"aud":{"$ne":""},"sub":"u","exp":1700000001}"#,
            #"{"aud":"app-abcde","sub":"","exp":1700000001}"#,
            #"{"aud":"app-abcde","sub":1,"exp":1700000001}"#,
            #"{"aud":"app-abcde","sub":{"$gt":""},"exp":1700000001}"#,
            #"{"aud":"app-abcde","sub":"a\u0000b","exp":1700000001}"#,
            #"{"aud":"app-abcde","sub":"u","exp":1700000000}"#,
            #"{"aud":"app-abcde","sub":"u","exp":"1700000001"}"#,
            #"{"aud":"app-abcde","sub":"u","exp":1700000001,"nbf":1700000060}"#,
            #"{"aud":"app-abcde","sub":"u","exp":1700000001,"nbf":"soon"}"#,
        ]
    )
    func refuses(_ claims: String) {
        let error = #expect(throws: ServiceError.self) { try Self.decide(claims) }
        #expect(error?.code == .authError)
        #expect(error?.message == "unauthorized")
    }

    @Test(
        "it wants all audiences, or any when told so",
        arguments: [
            (["a", "b"], false, #""a""#, false), (["a", "b"], false, #"["b","a","c"]"#, true),
            (["a", "b"], true, #""b""#, true), (["a", "b"], true, #"["c"]"#, false),
        ]
    )
    func audiences(_ audience: [String], _ any: Bool, _ claim: String, _ accepted: Bool) throws {
        let claims = #"{"aud":\#(claim),"sub":"u","exp":1700000001}"#
        if accepted {
            _ = try Self.decide(claims, audience: audience, any: any)
        } else {
            #expect(throws: ServiceError.self) { try Self.decide(claims, audience: audience, any: any) }
        }
    }

    @Test("it puts listed claims, and no others, into the user's data")
    func metadata() throws {
        let decision = try Self.decide(
            #"{"aud":"app-abcde","sub":"u","exp":1700000001,"mySecretField":"s3","a":{"b":{"c":5}},"x.y":true,"z":1}"#,
            fields: [
                MetadataField(required: true, name: "mySecretField", fieldName: "secret"),
                MetadataField(required: false, name: "a.b.c"),
                MetadataField(required: false, name: #"x\.y"#, fieldName: "dotted"),
                MetadataField(required: false, name: "absent"),
            ]
        )
        #expect(decision.data.keys == ["secret", "a.b.c", "dotted"])
        #expect(decision.data["secret"] == "s3")
        #expect(decision.data["a.b.c"] == 5)
        #expect(decision.data["dotted"] == true)
    }

    @Test("it refuses a token without a required claim, and a claim of more than 4096 characters")
    func metadataLimits() throws {
        let field = [MetadataField(required: true, name: "f")]
        #expect(throws: ServiceError.self) {
            try Self.decide(#"{"aud":"app-abcde","sub":"u","exp":1700000001}"#, fields: field)
        }
        func claims(_ count: Int) -> String {
            #"{"aud":"app-abcde","sub":"u","exp":1700000001,"f":"\#(String(repeating: "é", count: count))"}"#
        }
        #expect(try Self.decide(claims(4096), fields: field).data.count == 1)
        #expect(throws: ServiceError.self) { try Self.decide(claims(4097), fields: field) }
    }

    @Test("it does not take a token of more than a million characters apart")
    func length() {
        #expect(JSONWebToken(String(repeating: "A", count: 1_000_001)) == nil)
    }

    @Test(
        "it reads metadata paths with escapes",
        arguments: [
            ("a", ["a"]), ("a.b", ["a", "b"]), (#"a\.b.c"#, ["a.b", "c"]), (#"a\\.b"#, [#"a\"#, "b"]),
            (#"a\"#, [#"a\"#]),
        ]
    )
    func paths(_ name: String, _ path: [String]) {
        #expect(MetadataField(required: false, name: name).path == path)
    }
}

@Suite("Keys of foreign tokens")
struct ForeignKeyTests {
    static func sign(_ header: String, _ claims: String, _ signature: ([UInt8]) throws -> [UInt8]) throws
        -> JSONWebToken
    {
        let text = Base64.encode(Array(header.utf8), .url) + "." + Base64.encode(Array(claims.utf8), .url)
        return try #require(JSONWebToken(text + "." + Base64.encode(try signature(Array(text.utf8)), .url)))
    }

    @Test("it verifies RS256 by PEM and by JWK set, and refuses the public key as an HMAC secret")
    func rsa() throws {
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let token = try Self.sign(#"{"alg":"RS256","kid":"k1"}"#, #"{"sub":"u"}"#) { text in
            Array(
                try key.signature(for: SHA256.hash(data: text), padding: .insecurePKCS1v1_5).rawRepresentation
            )
        }
        let pem = key.publicKey.pemRepresentation
        let byPEM = try #require(ForeignKey(rs256PEM: pem))
        #expect(byPEM.verifies(token))

        let numbers = try key.publicKey.getKeyPrimitives()
        let n = Base64.encode(Array(numbers.modulus), .url)
        let e = Base64.encode(Array(numbers.publicExponent), .url)
        let set = """
            {"keys":[{"kty":"EC","kid":"k0","crv":"P-256"},{"kty":"RSA","use":"enc","kid":"k1","n":"\(n)","e":"\(e)"},\
            {"kty":"RSA","use":"sig","alg":"RS256","kid":"k1","n":"\(n)","e":"\(e)"}]}
            """
        let keys = try #require(ForeignKey.keySet(Array(set.utf8)))
        #expect(keys.map(\.id) == ["k1"])
        #expect(keys[0].verifies(token))

        let confused = try Self.sign(#"{"alg":"HS256","kid":"k1"}"#, #"{"sub":"u"}"#) { text in
            Array(HMAC<SHA256>.authenticationCode(for: text, using: SymmetricKey(data: Array(pem.utf8))))
        }
        #expect(!byPEM.verifies(confused))
        #expect(!keys[0].verifies(confused))

        let tampered = try Self.sign(#"{"alg":"RS256","kid":"k1"}"#, #"{"sub":"v"}"#) { text in
            Array(
                try key.signature(for: SHA256.hash(data: Array("other".utf8)), padding: .insecurePKCS1v1_5)
                    .rawRepresentation
            )
        }
        #expect(!byPEM.verifies(tampered))
        let pss = try Self.sign(#"{"alg":"RS256"}"#, #"{"sub":"u"}"#) { text in
            Array(try key.signature(for: SHA256.hash(data: text), padding: .PSS).rawRepresentation)
        }
        #expect(!byPEM.verifies(pss))
    }

    @Test(
        "it takes HS256 secrets of 32 to 512 characters only",
        arguments: [(31, false), (32, true), (512, true), (513, false)]
    )
    func secretLength(_ count: Int, _ accepted: Bool) {
        #expect((ForeignKey(hs256Secret: String(repeating: "k", count: count)) != nil) == accepted)
    }

    @Test(
        "it refuses what is no JWK set",
        arguments: ["", "[]", "{}", #"{"keys":{}}"#, #"{"keys":[],"keys":[]}"#, "<html>"]
    )
    func noSet(_ text: String) {
        #expect(ForeignKey.keySet(Array(text.utf8)) == nil)
    }

    @Test(
        "it passes over keys that cannot be used",
        arguments: [
            #"{"keys":[1,"a",{"kty":"RSA"},{"kty":"RSA","n":"AQAB","e":"AQAB"},{"kty":"oct","k":"AAAA"}]}"#
        ]
    )
    func unusable(_ text: String) {
        #expect(ForeignKey.keySet(Array(text.utf8))?.isEmpty == true)
    }

    @Test(
        "it fetches keys over https, or http from this machine, alone",
        arguments: [
            ("https://issuer.example/jwks.json", true), ("http://localhost:8080/k", true),
            ("http://127.0.0.1/k", true),
            ("http://[::1]:1/k", true), ("http://issuer.example/k", false),
            ("http://localhost.evil.example/k", false),
            ("http://localhost@evil.example/k", false), ("http://127.0.0.1.evil.example/", false),
            ("file:///etc/passwd", false),
            ("https://", false), ("https://a b/", false), ("ftp://localhost/", false),
            ("http://localhost\\@evil.example/", false), ("", false),
        ]
    )
    func addresses(_ address: String, _ allowed: Bool) {
        #expect(KeySetAddress.isAllowed(address) == allowed)
    }
}

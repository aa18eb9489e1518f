import BSON
import Crypto
import Errors
import Foundation
import Testing

@testable import Accounts

@Suite("Our own tokens")
struct TokenSignerTests {
    static let appID = "5f0000000000000000000001"
    static let now: Int64 = 1_700_000_000
    static let key = SigningKey(
        id: "6a0000000000000000000001",
        secret: Array(repeating: 7, count: 32),
        validFrom: 0,
        retiredAt: nil
    )
    static let signer = TokenSigner(SigningKeySet(appID: appID, keys: [key]))

    static let access = AccessToken(
        userID: "5f00000000000000000000aa",
        sessionID: "5f00000000000000000000bb",
        deviceID: "5f00000000000000000000cc",
        appID: appID,
        userData: ["_id": .objectID(ObjectID(seconds: 0x5f00_0000, unique: 0xdd)), "n": 3, "d": .date(0)],
        now: now
    )
    static let refresh = RefreshToken(
        userID: "5f00000000000000000000aa",
        sessionID: "5f00000000000000000000bb",
        deviceID: "5f00000000000000000000cc",
        appID: appID,
        identityID: "x-y",
        providerType: "anon-user",
        providerID: "5f00000000000000000000ee",
        issuedAt: now,
        expiresAt: now + 100
    )

    /// A token of any header and claims, signed with the key as HS256 would.
    static func forge(_ header: String, _ claims: String, secret: [UInt8] = key.secret) -> String {
        let text = Base64.encode(Array(header.utf8), .url) + "." + Base64.encode(Array(claims.utf8), .url)
        let code = HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: SymmetricKey(data: secret))
        return text + "." + Base64.encode(Array(code), .url)
    }

    static func parts(_ token: String) -> [String] { token.split(separator: ".").map(String.init) }

    static func json(_ part: String) throws -> [String: Any] {
        let bytes = try #require(Base64.decode(part, .url))
        return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    }

    @Test("it reads back an access token whole, with its user data's types")
    func accessRoundTrip() throws {
        let text = try #require(Self.signer.sign(Self.access, now: Self.now))
        #expect(try Self.signer.accessToken(text, now: Self.now) == Self.access)
    }

    @Test("it reads back a refresh token whole")
    func refreshRoundTrip() throws {
        let text = try #require(Self.signer.sign(Self.refresh, now: Self.now))
        #expect(try Self.signer.refreshToken(text, now: Self.now) == Self.refresh)
    }

    @Test("it writes the access token's claims as clients decode them")
    func accessClaims() throws {
        let text = try #require(Self.signer.sign(Self.access, now: Self.now))
        let claims = try Self.json(Self.parts(text)[1])
        #expect(
            Set(claims.keys) == [
                "typ", "sub", "iss", "baas_device_id", "baas_domain_id", "stitch_devId", "stitch_domainId",
                "user_data", "iat", "exp",
            ]
        )
        #expect(claims["typ"] as? String == "access")
        #expect(claims["iss"] as? String == "5f00000000000000000000bb")
        #expect(claims["exp"] as? Int == Int(Self.now) + 1800)
        let data = try #require(claims["user_data"] as? [String: Any])
        #expect(data["n"] as? [String: String] == ["$numberInt": "3"])
        let header = try Self.json(Self.parts(text)[0])
        #expect(header as? [String: String] == ["alg": "HS256", "typ": "JWT", "kid": Self.key.id])
    }

    @Test("it leaves user_data out when there is none")
    func noUserData() throws {
        let token = AccessToken(
            userID: Self.access.userID,
            sessionID: Self.access.sessionID,
            deviceID: Self.access.deviceID,
            appID: Self.appID,
            userData: nil,
            now: Self.now
        )
        let text = try #require(Self.signer.sign(token, now: Self.now))
        #expect(try Self.json(Self.parts(text)[1])["user_data"] == nil)
    }

    @Test("it writes the refresh token's claims as clients decode them")
    func refreshClaims() throws {
        let text = try #require(Self.signer.sign(Self.refresh, now: Self.now))
        let claims = try Self.json(Self.parts(text)[1])
        #expect(
            Set(claims.keys) == [
                "typ", "sub", "baas_data", "baas_device_id", "baas_domain_id", "baas_id", "baas_identity",
                "stitch_data", "stitch_devId", "stitch_domainId", "stitch_id", "stitch_ident", "iat", "exp",
            ]
        )
        #expect(claims["baas_data"] is NSNull)
        #expect(
            claims["baas_identity"] as? [String: String]
                == ["id": "x-y", "provider_type": "anon-user", "provider_id": "5f00000000000000000000ee"]
        )
    }

    static var goodClaims: String { String(decoding: access.claims, as: UTF8.self) }
    static let goodHeader = #"{"alg":"HS256","kid":"6a0000000000000000000001","typ":"JWT"}"#

    static let forgeries: [(String, String)] = [
        ("no algorithm at all", forge(#"{"alg":"none","kid":"6a0000000000000000000001"}"#, goodClaims)),
        ("another algorithm", forge(#"{"alg":"HS384","kid":"6a0000000000000000000001"}"#, goodClaims)),
        ("a lower-case algorithm", forge(#"{"alg":"hs256","kid":"6a0000000000000000000001"}"#, goodClaims)),
        ("an asymmetric algorithm", forge(#"{"alg":"RS256","kid":"6a0000000000000000000001"}"#, goodClaims)),
        ("an unknown key", forge(#"{"alg":"HS256","kid":"6a0000000000000000000002"}"#, goodClaims)),
        ("no key name", forge(#"{"alg":"HS256"}"#, goodClaims)),
        ("a path as key name", forge(#"{"alg":"HS256","kid":"../../dev/null"}"#, goodClaims, secret: [])),
        ("another secret", forge(goodHeader, goodClaims, secret: Array(repeating: 8, count: 32))),
        (
            "a critical extension",
            forge(#"{"alg":"HS256","kid":"6a0000000000000000000001","crit":["b64"]}"#, goodClaims)
        ),
        (
            "no signature",
            forge(goodHeader, goodClaims).split(separator: ".").prefix(2).joined(separator: ".") + "."
        ),
        ("four parts", forge(goodHeader, goodClaims) + ".x"),
        ("padding", forge(goodHeader, goodClaims) + "="),
        (
            "a duplicate claim",
            forge(goodHeader, goodClaims.dropLast() + #","sub":"5f00000000000000000000ab"}"#)
        ),
        ("claims that are no object", forge(goodHeader, "[]")),
        ("no type", forge(goodHeader, goodClaims.replacingOccurrences(of: #""typ":"access","#, with: ""))),
        (
            "an expiry that is text",
            forge(goodHeader, goodClaims.replacingOccurrences(of: #""exp":1700001800"#, with: #""exp":"9""#))
        ),
        (
            "a subject that is no id",
            forge(goodHeader, goodClaims.replacingOccurrences(of: "5f00000000000000000000aa", with: "admin"))
        ),
        ("nothing", ""), ("dots", ".."), ("words", "garbage"), ("NUL", "\u{0}.\u{0}.\u{0}"),
        (
            "deep nesting",
            forge(
                goodHeader,
                String(repeating: #"{"a":"#, count: 5000) + "1" + String(repeating: "}", count: 5000)
            )
        ),
    ]

    @Test("it refuses a forgery without saying why", arguments: forgeries)
    func refusesForgery(_ name: String, _ token: String) {
        let error = #expect(throws: ServiceError.self) { try Self.signer.accessToken(token, now: Self.now) }
        #expect(error?.code == .invalidSession)
        #expect(error?.message == "unauthorized")
        #expect(error.map(AccountFailure.omitsCode) == true)
    }

    @Test("it refuses a token of which any one character was changed")
    func refusesTampering() throws {
        let text = Array(try #require(Self.signer.sign(Self.access, now: Self.now)).utf8)
        for index in text.indices {
            var changed = text
            changed[index] = changed[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(throws: ServiceError.self) {
                try Self.signer.accessToken(String(decoding: changed, as: UTF8.self), now: Self.now)
            }
        }
    }

    @Test("it refuses an access token from the second of its expiry on")
    func expiry() throws {
        let text = try #require(Self.signer.sign(Self.access, now: Self.now))
        #expect(throws: Never.self) { try Self.signer.accessToken(text, now: Self.now + 1799) }
        let error = #expect(throws: ServiceError.self) {
            try Self.signer.accessToken(text, now: Self.now + 1800)
        }
        #expect(error?.message == "invalid session: access token expired")
    }

    @Test("it tells access and refresh tokens apart")
    func types() throws {
        let access = try #require(Self.signer.sign(Self.access, now: Self.now))
        let refresh = try #require(Self.signer.sign(Self.refresh, now: Self.now))
        let first = #expect(throws: ServiceError.self) { try Self.signer.accessToken(refresh, now: Self.now) }
        let second = #expect(throws: ServiceError.self) {
            try Self.signer.refreshToken(access, now: Self.now)
        }
        #expect(first?.message == "invalid session: token type mismatch")
        #expect(second?.message == "invalid session: token type mismatch")
    }

    @Test("it refuses a token of another app, even under the same key")
    func otherApp() throws {
        let text = try #require(Self.signer.sign(Self.access, now: Self.now))
        let other = TokenSigner(SigningKeySet(appID: "5f0000000000000000000002", keys: [Self.key]))
        let error = #expect(throws: ServiceError.self) { try other.accessToken(text, now: Self.now) }
        #expect(error?.code == .userAppDomainMismatch)
    }

    @Test("it signs with the newest key and believes older ones until they retire")
    func rotation() throws {
        let old = SigningKey(id: "old", secret: Self.key.secret, validFrom: 0, retiredAt: Self.now + 60)
        let new = SigningKey(
            id: "new",
            secret: Array(repeating: 9, count: 32),
            validFrom: Self.now,
            retiredAt: nil
        )
        let before = TokenSigner(SigningKeySet(appID: Self.appID, keys: [old]))
        let after = TokenSigner(SigningKeySet(appID: Self.appID, keys: [old, new]))
        let oldText = try #require(before.sign(Self.access, now: Self.now))
        let newText = try #require(after.sign(Self.access, now: Self.now))
        #expect(try Self.json(Self.parts(newText)[0])["kid"] as? String == "new")
        #expect(throws: Never.self) { try after.accessToken(oldText, now: Self.now + 59) }
        #expect(throws: ServiceError.self) { try after.accessToken(oldText, now: Self.now + 60) }
        #expect(throws: Never.self) { try after.accessToken(newText, now: Self.now + 60) }
    }

    @Test("it signs with the key made last, also when one made before it has the same second")
    func rotationWithinASecond() throws {
        func key(_ id: String) -> SigningKey {
            SigningKey(id: id, secret: Self.key.secret, validFrom: Self.now, retiredAt: nil)
        }
        for names in [["a", "b"], ["b", "a"]] {
            let signer = TokenSigner(SigningKeySet(appID: Self.appID, keys: names.map(key)))
            let text = try #require(signer.sign(Self.access, now: Self.now))
            #expect(try Self.json(Self.parts(text)[0])["kid"] as? String == names[1])
        }
    }

    @Test("it says of a refresh token with a bad signature that it is the signature")
    func refreshSignature() throws {
        let text = try #require(Self.signer.sign(Self.refresh, now: Self.now))
        let other = TokenSigner(
            SigningKeySet(
                appID: Self.appID,
                keys: [
                    SigningKey(
                        id: Self.key.id,
                        secret: Array(repeating: 1, count: 32),
                        validFrom: 0,
                        retiredAt: nil
                    )
                ]
            )
        )
        let error = #expect(throws: ServiceError.self) { try other.refreshToken(text, now: Self.now) }
        #expect(error?.message == "signature is invalid")
    }
}

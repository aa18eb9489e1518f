import Accounts
import Crypto
import CryptoExtras
import Errors
import Foundation
import Synchronization
import Testing

@testable import Services

@Suite("Foreign keys by address")
struct TokenVerifierTests {
    /// An issuer whose key set can be changed, and whose requests are counted.
    final class Issuer: Sendable {
        let body = AccountFixture.Box<[UInt8]?>(nil)
        let requests = AccountFixture.Box(0)
        let now = AccountFixture.Box<Int64>(1_700_000_000_000)

        func fetch(_ address: String) async throws -> [UInt8] {
            requests.value += 1
            try await Task.sleep(for: .milliseconds(20))
            guard let body = body.value else { throw ServiceError(.internalServerError, "down") }
            return body
        }

        func publish(_ keys: [(String, _RSA.Signing.PrivateKey)]) throws {
            let entries = try keys.map { id, key -> String in
                let numbers = try key.publicKey.getKeyPrimitives()
                return
                    #"{"kty":"RSA","kid":"\#(id)","n":"\#(ForeignToken.encode(numbers.modulus))","e":"\#(ForeignToken.encode(numbers.publicExponent))"}"#
            }
            body.value = Array(#"{"keys":[\#(entries.joined(separator: ","))]}"#.utf8)
        }

        func token(_ id: String?, _ key: _RSA.Signing.PrivateKey) throws -> String {
            let kid = id.map { #","kid":"\#($0)""# } ?? ""
            let text =
                ForeignToken.encode(Data(#"{"alg":"RS256"\#(kid)}"#.utf8)) + "."
                + ForeignToken.encode(Data(#"{"sub":"u"}"#.utf8))
            let signature = try key.signature(
                for: SHA256.hash(data: Data(text.utf8)),
                padding: .insecurePKCS1v1_5
            )
            return text + "." + ForeignToken.encode(signature.rawRepresentation)
        }
    }

    static let settings = CustomTokenSettings(algorithm: .rs256, keys: .jwkURI("https://issuer.example/jwks"))
    static let first = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }
    static let second = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }

    static func verifier(_ issuer: Issuer) -> TokenVerifier {
        TokenVerifier(fetch: { try await issuer.fetch($0) }, now: { issuer.now.value })
    }

    @Test("it fetches a set once for many tokens, and again for a key that is new")
    func caching() async throws {
        let issuer = Issuer()
        let verifier = Self.verifier(issuer)
        let (one, two) = (try Self.first.get(), try Self.second.get())
        try issuer.publish([("k1", one)])
        let token = try issuer.token("k1", one)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask { _ = try await verifier.verify(token, settings: Self.settings, secrets: [:]) }
            }
            try await group.waitForAll()
        }
        #expect(issuer.requests.value == 1)
        // Signed by another key under a known name.
        await #expect(throws: ServiceError.self) {
            try await verifier.verify(try issuer.token("k1", two), settings: Self.settings, secrets: [:])
        }
        try issuer.publish([("k1", one), ("k2", two)])
        let next = try issuer.token("k2", two)
        // Within the back-off the issuer is left alone.
        await #expect(throws: ServiceError.self) {
            try await verifier.verify(next, settings: Self.settings, secrets: [:])
        }
        #expect(issuer.requests.value == 1)
        issuer.now.value += TokenVerifier.backOff
        _ = try await verifier.verify(next, settings: Self.settings, secrets: [:])
        #expect(issuer.requests.value == 2)
    }

    @Test("it does not let made-up key names flood the issuer")
    func flood() async throws {
        let issuer = Issuer()
        let verifier = Self.verifier(issuer)
        let key = try Self.first.get()
        try issuer.publish([("k1", key)])
        for index in 0..<100 {
            let token = try issuer.token("made-up-\(index)", key)
            await #expect(throws: ServiceError.self) {
                try await verifier.verify(token, settings: Self.settings, secrets: [:])
            }
        }
        #expect(issuer.requests.value == 1)
    }

    @Test("it goes on with the last keys while the issuer is down, and says so when it never had any")
    func outage() async throws {
        let issuer = Issuer()
        let verifier = Self.verifier(issuer)
        let key = try Self.first.get()
        let token = try issuer.token("k1", key)
        let error = await #expect(throws: ServiceError.self) {
            try await verifier.verify(token, settings: Self.settings, secrets: [:])
        }
        #expect(error?.code == .internalServerError)
        try issuer.publish([("k1", key)])
        issuer.now.value += TokenVerifier.backOff
        _ = try await verifier.verify(token, settings: Self.settings, secrets: [:])
        issuer.body.value = nil
        issuer.now.value += TokenVerifier.freshness
        for _ in 0..<3 { _ = try await verifier.verify(token, settings: Self.settings, secrets: [:]) }
    }

    @Test("it takes a token without a key name only where there is one key")
    func noKeyName() async throws {
        let issuer = Issuer()
        let (one, two) = (try Self.first.get(), try Self.second.get())
        try issuer.publish([("k1", one)])
        _ = try await Self.verifier(issuer).verify(
            try issuer.token(nil, one),
            settings: Self.settings,
            secrets: [:]
        )
        try issuer.publish([("k1", one), ("k2", two)])
        let other = Self.verifier(issuer)
        await #expect(throws: ServiceError.self) {
            try await other.verify(try issuer.token(nil, one), settings: Self.settings, secrets: [:])
        }
    }

    @Test("it refuses an algorithm that is not the provider's before it looks for keys")
    func algorithm() async throws {
        let issuer = Issuer()
        let token = try ForeignToken.hs256(subject: "u", audience: "a")
        await #expect(throws: ServiceError.self) {
            try await Self.verifier(issuer).verify(
                token,
                settings: Self.settings,
                secrets: ["jwt": AccountFixture.jwtSecret]
            )
        }
        #expect(issuer.requests.value == 0)
    }
}

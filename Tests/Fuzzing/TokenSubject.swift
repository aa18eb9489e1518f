import Accounts
import BSON
import Errors

/// Tokens: whatever the text, only what we signed is believed.
struct TokenSubject: FuzzSubject {
    let name = "token"
    private let signer: TokenSigner
    private let custom = CustomTokenProvider(
        settings: CustomTokenSettings(algorithm: .hs256, keys: .secrets(["key"])),
        metadataFields: [],
        clientAppID: "app-abcde"
    )
    private static let now: Int64 = 1_700_000_000
    private let signed: Set<[UInt8]>

    init() {
        let key = SigningKey(
            id: "65f0c0ffee0000000000aaaa",
            secret: Array(repeating: 7, count: 32),
            validFrom: 0,
            retiredAt: nil
        )
        signer = TokenSigner(SigningKeySet(appID: "65f0c0ffee0000000000bbbb", keys: [key]))
        let access = AccessToken(
            userID: "65f0c0ffee0000000000cccc",
            sessionID: "65f0c0ffee0000000000dddd",
            deviceID: "65f0c0ffee0000000000eeee",
            appID: "65f0c0ffee0000000000bbbb",
            userData: ["team": "red"],
            issuedAt: Self.now - 5,
            expiresAt: Self.now + 1000
        )
        signed = Set([signer.sign(access, now: Self.now)].compactMap { $0.map { Array($0.utf8) } })
    }

    var moreSeeds: [[UInt8]] { Array(signed) }

    func run(_ input: [UInt8]) throws -> Bool {
        let text = String(decoding: input, as: UTF8.self)
        let believed = (try? signer.accessToken(text, now: Self.now)) != nil
        if believed, !signed.contains(input) { throw Finding("a token that nobody signed is believed") }
        if (try? signer.refreshToken(text, now: Self.now)) != nil {
            throw Finding("a refresh token that nobody signed is believed")
        }
        _ = TokenSigner.claimedOrigin(of: text)
        _ = ForeignKey.keySet(input)
        _ = ForeignKey(rs256PEM: text)
        if let token = JSONWebToken(text) {
            _ = try attempt { () throws(ServiceError) in try custom.decide(token, now: Self.now) }
            if let key = ForeignKey(hs256Secret: String(repeating: "k", count: 32)), key.verifies(token) {
                throw Finding("a foreign token that nobody signed is believed")
            }
        }
        return JSONWebToken(text) != nil
    }
}

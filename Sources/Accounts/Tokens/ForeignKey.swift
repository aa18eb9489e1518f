import BSON
import Crypto
import CryptoExtras

/// A key that foreign tokens are checked with.
///
/// Each key knows its one algorithm, so that a public RSA key never becomes an HMAC secret.
public struct ForeignKey: Sendable {
    private enum Material: Sendable {
        case hmac([UInt8])
        case rsa(_RSA.Signing.PublicKey)
    }

    /// The key's name within its set; nil when it has none.
    public let id: String?
    private let material: Material

    /// An HS256 secret of 32 to 512 characters, else nil.
    public init?(hs256Secret secret: String, id: String? = nil) {
        guard (32...512).contains(secret.unicodeScalars.count) else { return nil }
        self.id = id
        material = .hmac(Array(secret.utf8))
    }

    /// An RSA public key of at least 2048 bits as PEM, else nil.
    public init?(rs256PEM pem: String, id: String? = nil) {
        guard let key = try? _RSA.Signing.PublicKey(pemRepresentation: pem) else { return nil }
        self.id = id
        material = .rsa(key)
    }

    private init(id: String?, rsa: _RSA.Signing.PublicKey) {
        self.id = id
        material = .rsa(rsa)
    }

    /// Whether a token claims this key's algorithm and its signature holds.
    public func verifies(_ token: JSONWebToken) -> Bool {
        switch material {
        case .hmac(let secret):
            token.algorithm == "HS256"
                && HMAC<SHA256>.isValidAuthenticationCode(
                    token.signature,
                    authenticating: token.signedBytes,
                    using: SymmetricKey(data: secret)
                )
        case .rsa(let key):
            token.algorithm == "RS256"
                && key.isValidSignature(
                    _RSA.Signing.RSASignature(rawRepresentation: token.signature),
                    for: SHA256.hash(data: token.signedBytes),
                    padding: .insecurePKCS1v1_5
                )
        }
    }

    /// The RSA signing keys of a JWK set; keys of other kinds or uses are passed over.
    ///
    /// - Parameter bytes: The set as JSON.
    /// - Returns: nil when it is no JWK set. At most 100 keys are read.
    public static func keySet(_ bytes: [UInt8]) -> [ForeignKey]? {
        guard let set = try? ExtendedJSON.readDocument(bytes), let entries = set["keys"]?.array else {
            return nil
        }
        return entries.prefix(100).compactMap { entry in
            guard let jwk = entry.document, jwk["kty"]?.string == "RSA",
                jwk["use"].map({ $0.string == "sig" }) ?? true,
                jwk["alg"].map({ $0.string == "RS256" }) ?? true,
                let n = jwk["n"]?.string.flatMap({ Base64.decode($0, .url) }), n.count <= 1024,
                let e = jwk["e"]?.string.flatMap({ Base64.decode($0, .url) }), e.count <= 8,
                let key = try? _RSA.Signing.PublicKey(n: n, e: e)
            else { return nil }
            return ForeignKey(id: jwk["kid"]?.string, rsa: key)
        }
    }
}

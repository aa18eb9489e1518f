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
        case curve(P256.Signing.PublicKey)
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

    private init(id: String?, _ material: Material) {
        self.id = id
        self.material = material
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
        case .curve(let key):
            if token.algorithm == "ES256",
                let signature = try? P256.Signing.ECDSASignature(rawRepresentation: token.signature)
            {
                key.isValidSignature(signature, for: SHA256.hash(data: token.signedBytes))
            } else {
                false
            }
        }
    }

    /// The RSA and P-256 signing keys of a JWK set; keys of other kinds or uses are passed over.
    ///
    /// - Parameter bytes: The set as JSON.
    /// - Returns: nil when it is no JWK set. At most 100 keys are read.
    public static func keySet(_ bytes: [UInt8]) -> [ForeignKey]? {
        guard let set = try? ExtendedJSON.readDocument(bytes), let entries = set["keys"]?.array else {
            return nil
        }
        return entries.prefix(100).compactMap { $0.document.flatMap(key) }
    }

    private static func key(_ jwk: BSONDocument) -> ForeignKey? {
        guard jwk["use"].map({ $0.string == "sig" }) ?? true else { return nil }
        func number(_ name: String, atMost count: Int) -> [UInt8]? {
            guard let bytes = jwk[name]?.string.flatMap({ Base64.decode($0, .url) }), bytes.count <= count
            else { return nil }
            return bytes
        }
        switch jwk["kty"]?.string {
        case "RSA":
            guard jwk["alg"].map({ $0.string == "RS256" }) ?? true, let n = number("n", atMost: 1024),
                let e = number("e", atMost: 8), let key = try? _RSA.Signing.PublicKey(n: n, e: e)
            else { return nil }
            return ForeignKey(id: jwk["kid"]?.string, .rsa(key))
        case "EC":
            guard jwk["alg"].map({ $0.string == "ES256" }) ?? true, jwk["crv"]?.string == "P-256",
                let x = number("x", atMost: 32), let y = number("y", atMost: 32),
                let key = try? P256.Signing.PublicKey(rawRepresentation: x + y)
            else { return nil }
            return ForeignKey(id: jwk["kid"]?.string, .curve(key))
        default: return nil
        }
    }
}

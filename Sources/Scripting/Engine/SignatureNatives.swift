import Crypto
import CryptoExtras
import Foundation

/// What `createSign` and `createVerify` of `require("crypto")` are made of: RSA and the NIST curves, keys as PEM.
enum SignatureNatives {
    static var table: [(String, NativeFunction.Body)] {
        [
            (
                "signWith",
                { (call) throws(NativeFault) in
                    let key = try privateKey(try call.text(2))
                    let form = try SignatureForm(try call.text(3))
                    return call.make(
                        try digested(try call.text(0), try call.bytes(1)).signed(by: key, form)
                    )
                }
            ),
            (
                "verifyWith",
                { (call) throws(NativeFault) in
                    let key = try publicKey(try call.text(2))
                    let form = try SignatureForm(try call.text(3))
                    let signature = try call.bytes(4)
                    return call.make(
                        try digested(try call.text(0), try call.bytes(1)).isSigned(signature, by: key, form)
                    )
                }
            ),
        ]
    }

    private static func digested(_ name: String, _ bytes: [UInt8]) throws(NativeFault) -> any SignedDigest {
        switch name {
        case "sha1": Insecure.SHA1.hash(data: bytes)
        case "sha256": SHA256.hash(data: bytes)
        case "sha384": SHA384.hash(data: bytes)
        case "sha512": SHA512.hash(data: bytes)
        default: throw NativeFault("Invalid digest: \(name)")
        }
    }

    /// The text alone decides what a key is.
    private static func privateKey(_ text: String) throws(NativeFault) -> PrivateSigningKey {
        if let key = try? _RSA.Signing.PrivateKey(unsafePEMRepresentation: text) { return .rsa(key) }
        if let key = try? P256.Signing.PrivateKey(pemRepresentation: text) { return .p256(key) }
        if let key = try? P384.Signing.PrivateKey(pemRepresentation: text) { return .p384(key) }
        if let key = try? P521.Signing.PrivateKey(pemRepresentation: text) { return .p521(key) }
        throw NativeFault("the private key cannot be read: it must be PEM, of RSA or a NIST curve")
    }

    /// Of a private key its public half.
    private static func publicKey(_ text: String) throws(NativeFault) -> PublicSigningKey {
        if let key = try? _RSA.Signing.PublicKey(unsafePEMRepresentation: text) { return .rsa(key) }
        if let key = try? P256.Signing.PublicKey(pemRepresentation: text) { return .p256(key) }
        if let key = try? P384.Signing.PublicKey(pemRepresentation: text) { return .p384(key) }
        if let key = try? P521.Signing.PublicKey(pemRepresentation: text) { return .p521(key) }
        guard let key = try? privateKey(text) else {
            throw NativeFault("the public key cannot be read: it must be PEM, of RSA or a NIST curve")
        }
        return key.known
    }
}

private enum PrivateSigningKey {
    case rsa(_RSA.Signing.PrivateKey)
    case p256(P256.Signing.PrivateKey)
    case p384(P384.Signing.PrivateKey)
    case p521(P521.Signing.PrivateKey)

    var known: PublicSigningKey {
        switch self {
        case .rsa(let key): .rsa(key.publicKey)
        case .p256(let key): .p256(key.publicKey)
        case .p384(let key): .p384(key.publicKey)
        case .p521(let key): .p521(key.publicKey)
        }
    }
}

private enum PublicSigningKey {
    case rsa(_RSA.Signing.PublicKey)
    case p256(P256.Signing.PublicKey)
    case p384(P384.Signing.PublicKey)
    case p521(P521.Signing.PublicKey)
}

/// How a signature is made and written.
private struct SignatureForm {
    /// Of RSA.
    let padding: _RSA.Signing.Padding
    /// Whether a curve's two numbers stand one behind the other, rather than as DER.
    let isPlain: Bool

    /// Of `pkcs1`, `pss`, `der` or `ieee-p1363`.
    init(_ name: String) throws(NativeFault) {
        switch name {
        case "pkcs1", "der": (padding, isPlain) = (.insecurePKCS1v1_5, false)
        case "pss": (padding, isPlain) = (.PSS, false)
        case "ieee-p1363": (padding, isPlain) = (.insecurePKCS1v1_5, true)
        default: throw NativeFault("the form of the signature '\(name)' is not supported")
        }
    }
}

/// A digest that keys sign.
private protocol SignedDigest: Digest {}
extension Insecure.SHA1.Digest: SignedDigest {}
extension SHA256.Digest: SignedDigest {}
extension SHA384.Digest: SignedDigest {}
extension SHA512.Digest: SignedDigest {}

extension SignedDigest {
    fileprivate func signed(by key: PrivateSigningKey, _ form: SignatureForm) throws(NativeFault) -> [UInt8] {
        do {
            switch key {
            case .rsa(let key):
                return Array(try key.signature(for: self, padding: form.padding).rawRepresentation)
            case .p256(let key):
                let made = try key.signature(for: self)
                return Array(form.isPlain ? made.rawRepresentation : made.derRepresentation)
            case .p384(let key):
                let made = try key.signature(for: self)
                return Array(form.isPlain ? made.rawRepresentation : made.derRepresentation)
            case .p521(let key):
                let made = try key.signature(for: self)
                return Array(form.isPlain ? made.rawRepresentation : made.derRepresentation)
            }
        } catch {
            throw NativeFault("signing failed")
        }
    }

    fileprivate func isSigned(_ signature: [UInt8], by key: PublicSigningKey, _ form: SignatureForm) -> Bool {
        switch key {
        case .rsa(let key):
            return key.isValidSignature(.init(rawRepresentation: signature), for: self, padding: form.padding)
        case .p256(let key):
            let read =
                form.isPlain
                ? try? P256.Signing.ECDSASignature(rawRepresentation: signature)
                : try? P256.Signing.ECDSASignature(derRepresentation: signature)
            return read.map { key.isValidSignature($0, for: self) } ?? false
        case .p384(let key):
            let read =
                form.isPlain
                ? try? P384.Signing.ECDSASignature(rawRepresentation: signature)
                : try? P384.Signing.ECDSASignature(derRepresentation: signature)
            return read.map { key.isValidSignature($0, for: self) } ?? false
        case .p521(let key):
            let read =
                form.isPlain
                ? try? P521.Signing.ECDSASignature(rawRepresentation: signature)
                : try? P521.Signing.ECDSASignature(derRepresentation: signature)
            return read.map { key.isValidSignature($0, for: self) } ?? false
        }
    }
}

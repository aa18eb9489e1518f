import Crypto
import CryptoExtras
import Foundation

/// What `utils.crypto` and `require("crypto")` are made of.
enum CryptoNatives {
    static var table: [(String, NativeFunction.Body)] {
        [
            (
                "digest",
                { (call) throws(NativeFault) in
                    call.make(try digest(try call.text(0), try call.bytes(1)))
                }
            ),
            (
                "hmac",
                { (call) throws(NativeFault) in
                    call.make(try authenticate(try call.text(0), try call.bytes(1), key: try call.bytes(2)))
                }
            ),
            (
                "aesSeal",
                { (call) throws(NativeFault) in
                    let key = try aesKey(try call.bytes(1))
                    guard let box = try? AES.GCM.seal(try call.bytes(0), using: key),
                        let sealed = box.combined
                    else {
                        throw NativeFault("encrypting failed")
                    }
                    return call.make(Array(sealed))
                }
            ),
            (
                "aesOpen",
                { (call) throws(NativeFault) in
                    let key = try aesKey(try call.bytes(1))
                    let sealed = try call.bytes(0)
                    guard let box = try? AES.GCM.SealedBox(combined: sealed),
                        let opened = try? AES.GCM.open(box, using: key)
                    else { throw NativeFault("decrypting failed: the key or the message is wrong") }
                    return call.make(Array(opened))
                }
            ),
            (
                "rsaSign",
                { (call) throws(NativeFault) in
                    let padding = try rsaPadding(try call.text(2))
                    guard let key = try? _RSA.Signing.PrivateKey(unsafePEMRepresentation: try call.text(1))
                    else {
                        throw NativeFault("the private key cannot be read")
                    }
                    let hash = SHA256.hash(data: try call.bytes(0))
                    guard let signature = try? key.signature(for: hash, padding: padding) else {
                        throw NativeFault("signing failed")
                    }
                    return call.make(Array(signature.rawRepresentation))
                }
            ),
            (
                "rsaVerify",
                { (call) throws(NativeFault) in
                    let padding = try rsaPadding(try call.text(3))
                    guard let key = try? _RSA.Signing.PublicKey(unsafePEMRepresentation: try call.text(1))
                    else {
                        throw NativeFault("the public key cannot be read")
                    }
                    let hash = SHA256.hash(data: try call.bytes(0))
                    let signature = _RSA.Signing.RSASignature(rawRepresentation: try call.bytes(2))
                    return call.make(key.isValidSignature(signature, for: hash, padding: padding))
                }
            ),
            (
                "random",
                { (call) throws(NativeFault) in
                    let count = try call.number(0)
                    guard count >= 0, count <= 1_048_576 else {
                        throw NativeFault("the size is out of range")
                    }
                    var generator = SystemRandomNumberGenerator()
                    return call.make(
                        (0..<Int(count)).map { _ in UInt8.random(in: 0...255, using: &generator) }
                    )
                }
            ),
            (
                "isSame",
                { (call) throws(NativeFault) in
                    let (left, right) = (try call.bytes(0), try call.bytes(1))
                    guard left.count == right.count else {
                        throw NativeFault("the buffers must have the same length")
                    }
                    return call.make(zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0)
                }
            ),
        ] + CipherNatives.table
    }

    private static func digest(_ name: String, _ bytes: [UInt8]) throws(NativeFault) -> [UInt8] {
        switch name {
        case "md5": Array(Insecure.MD5.hash(data: bytes))
        case "sha1": Array(Insecure.SHA1.hash(data: bytes))
        case "sha256": Array(SHA256.hash(data: bytes))
        case "sha384": Array(SHA384.hash(data: bytes))
        case "sha512": Array(SHA512.hash(data: bytes))
        default: throw NativeFault("the digest '\(name)' is not supported")
        }
    }

    static func authenticate(
        _ name: String,
        _ bytes: [UInt8],
        key: [UInt8]
    ) throws(NativeFault) -> [UInt8] {
        let key = SymmetricKey(data: key)
        return switch name {
        case "md5": Array(HMAC<Insecure.MD5>.authenticationCode(for: bytes, using: key))
        case "sha1": Array(HMAC<Insecure.SHA1>.authenticationCode(for: bytes, using: key))
        case "sha256": Array(HMAC<SHA256>.authenticationCode(for: bytes, using: key))
        case "sha384": Array(HMAC<SHA384>.authenticationCode(for: bytes, using: key))
        case "sha512": Array(HMAC<SHA512>.authenticationCode(for: bytes, using: key))
        default: throw NativeFault("the digest '\(name)' is not supported")
        }
    }

    static func aesKey(_ bytes: [UInt8]) throws(NativeFault) -> SymmetricKey {
        guard [16, 24, 32].contains(bytes.count) else {
            throw NativeFault("the key must have 16, 24 or 32 bytes")
        }
        return SymmetricKey(data: bytes)
    }

    private static func rsaPadding(_ scheme: String) throws(NativeFault) -> _RSA.Signing.Padding {
        switch scheme {
        case "pss": .PSS
        case "pkcs1v15": .insecurePKCS1v1_5
        default: throw NativeFault("the scheme must be 'pss' or 'pkcs1v15'")
        }
    }
}

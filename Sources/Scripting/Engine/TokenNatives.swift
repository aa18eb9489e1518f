import Crypto
import CryptoExtras
import Foundation

/// Signatures of JSON web tokens, for `utils.jwt`.
enum TokenNatives {
    static var table: [(String, NativeFunction.Body)] {
        [
            (
                "jwtSign",
                { (call) throws(NativeFault) in
                    call.make(try sign(try call.text(0), try call.bytes(1), key: try call.text(2)))
                }
            ),
            (
                "jwtVerify",
                { (call) throws(NativeFault) in
                    let signature = try call.bytes(3)
                    return call.make(
                        try verify(try call.text(0), try call.bytes(1), key: try call.text(2), signature)
                    )
                }
            ),
        ]
    }

    private static let badKey = NativeFault("the key cannot be read")

    private static func sign(_ method: String, _ bytes: [UInt8], key: String) throws(NativeFault) -> [UInt8] {
        let size = String(method.suffix(3))
        do {
            switch method.prefix(2) {
            case "HS":
                return try CryptoNatives.authenticate("sha" + size, bytes, key: Array(key.utf8))
            case "ES":
                switch size {
                case "256":
                    return Array(
                        try P256.Signing.PrivateKey(pemRepresentation: key).signature(for: bytes)
                            .rawRepresentation
                    )
                case "384":
                    return Array(
                        try P384.Signing.PrivateKey(pemRepresentation: key).signature(for: bytes)
                            .rawRepresentation
                    )
                default:
                    return Array(
                        try P521.Signing.PrivateKey(pemRepresentation: key).signature(for: bytes)
                            .rawRepresentation
                    )
                }
            default:
                let key = try _RSA.Signing.PrivateKey(unsafePEMRepresentation: key)
                let padding = padding(method)
                return switch size {
                case "256":
                    Array(
                        try key.signature(for: SHA256.hash(data: bytes), padding: padding).rawRepresentation
                    )
                case "384":
                    Array(
                        try key.signature(for: SHA384.hash(data: bytes), padding: padding).rawRepresentation
                    )
                default:
                    Array(
                        try key.signature(for: SHA512.hash(data: bytes), padding: padding).rawRepresentation
                    )
                }
            }
        } catch {
            throw badKey
        }
    }

    private static func verify(
        _ method: String,
        _ bytes: [UInt8],
        key: String,
        _ signature: [UInt8]
    ) throws(NativeFault) -> Bool {
        let size = String(method.suffix(3))
        do {
            switch method.prefix(2) {
            case "HS":
                let expected = try CryptoNatives.authenticate("sha" + size, bytes, key: Array(key.utf8))
                guard expected.count == signature.count else { return false }
                return zip(expected, signature).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
            case "ES":
                switch size {
                case "256":
                    let key = try P256.Signing.PublicKey(pemRepresentation: key)
                    guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
                    else {
                        return false
                    }
                    return key.isValidSignature(signature, for: bytes)
                case "384":
                    let key = try P384.Signing.PublicKey(pemRepresentation: key)
                    guard let signature = try? P384.Signing.ECDSASignature(rawRepresentation: signature)
                    else {
                        return false
                    }
                    return key.isValidSignature(signature, for: bytes)
                default:
                    let key = try P521.Signing.PublicKey(pemRepresentation: key)
                    guard let signature = try? P521.Signing.ECDSASignature(rawRepresentation: signature)
                    else {
                        return false
                    }
                    return key.isValidSignature(signature, for: bytes)
                }
            default:
                let key = try _RSA.Signing.PublicKey(unsafePEMRepresentation: key)
                let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
                let padding = padding(method)
                return switch size {
                case "256": key.isValidSignature(signature, for: SHA256.hash(data: bytes), padding: padding)
                case "384": key.isValidSignature(signature, for: SHA384.hash(data: bytes), padding: padding)
                default: key.isValidSignature(signature, for: SHA512.hash(data: bytes), padding: padding)
                }
            }
        } catch {
            throw badKey
        }
    }

    private static func padding(_ method: String) -> _RSA.Signing.Padding {
        method.hasPrefix("P") ? .PSS : .insecurePKCS1v1_5
    }
}

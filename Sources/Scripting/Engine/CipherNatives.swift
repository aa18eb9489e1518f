internal import CJavaScript
import Crypto
import CryptoExtras
import Foundation

/// What the ciphers of `require("crypto")` and keys from passwords are made of.
enum CipherNatives {
    static var table: [(String, NativeFunction.Body)] {
        [
            (
                "cbc",
                { (call) throws(NativeFault) in
                    try cbc(
                        try call.bytes(0),
                        try CryptoNatives.aesKey(try call.bytes(1)),
                        iv: try call.bytes(2),
                        seals: call.flag(3),
                        pads: call.flag(4),
                        call
                    )
                }
            ),
            (
                "ctr",
                { (call) throws(NativeFault) in
                    let key = try CryptoNatives.aesKey(try call.bytes(1))
                    let counter = try call.bytes(2)
                    guard let nonce = try? AES._CTR.Nonce(nonceBytes: counter),
                        let bytes = try? AES._CTR.encrypt(try call.bytes(0), using: key, nonce: nonce)
                    else { throw NativeFault("Invalid initialization vector") }
                    return call.make(Array(bytes))
                }
            ),
            (
                "gcmSeal",
                { (call) throws(NativeFault) in
                    let key = try CryptoNatives.aesKey(try call.bytes(1))
                    let (bytes, iv, header) = (try call.bytes(0), try call.bytes(2), try call.bytes(3))
                    guard let nonce = try? AES.GCM.Nonce(data: iv),
                        let box = try? AES.GCM.seal(bytes, using: key, nonce: nonce, authenticating: header)
                    else { throw NativeFault("Invalid initialization vector") }
                    return call.make(Array(box.ciphertext) + Array(box.tag))
                }
            ),
            (
                "gcmOpen",
                { (call) throws(NativeFault) in
                    let key = try CryptoNatives.aesKey(try call.bytes(1))
                    let (sealed, iv, header) = (try call.bytes(0), try call.bytes(2), try call.bytes(3))
                    guard sealed.count >= 16, let nonce = try? AES.GCM.Nonce(data: iv),
                        let box = try? AES.GCM.SealedBox(
                            nonce: nonce,
                            ciphertext: sealed.dropLast(16),
                            tag: sealed.suffix(16)
                        ), let bytes = try? AES.GCM.open(box, using: key, authenticating: header)
                    else { throw NativeFault("Unsupported state or unable to authenticate data") }
                    return call.make(Array(bytes))
                }
            ),
            (
                "pbkdf2",
                { (call) throws(NativeFault) in
                    guard let hash = hashes[try call.text(0)] else {
                        throw NativeFault("Digest method not supported")
                    }
                    let (password, salt) = (try call.bytes(1), try call.bytes(2))
                    let rounds = try whole(try call.number(3), "iterations", 1...100_000_000)
                    let size = try whole(try call.number(4), "keylen", 1...mostKeyBytes)
                    let key = try? KDF.Insecure.PBKDF2.deriveKey(
                        from: password,
                        salt: salt,
                        using: hash,
                        outputByteCount: size,
                        unsafeUncheckedRounds: rounds
                    )
                    guard let key else { throw NativeFault("the key could not be made") }
                    return call.make(key.withUnsafeBytes { Array($0) })
                }
            ),
            (
                "scrypt",
                { (call) throws(NativeFault) in
                    let (password, salt) = (try call.bytes(0), try call.bytes(1))
                    let size = try whole(try call.number(2), "keylen", 1...mostKeyBytes)
                    let cost = try whole(try call.number(3), "N", 2...(1 << 20))
                    let blockSize = try whole(try call.number(4), "r", 1...1024)
                    let parallelism = try whole(try call.number(5), "p", 1...1024)
                    // As in Node: 32 MiB, so that one call cannot take what the process has.
                    guard cost & (cost - 1) == 0, 128 * cost * blockSize <= 32 << 20 else {
                        throw NativeFault("Invalid scrypt params: memory limit exceeded")
                    }
                    let key = try? KDF.Scrypt.deriveKey(
                        from: password,
                        salt: salt,
                        outputByteCount: size,
                        rounds: cost,
                        blockSize: blockSize,
                        parallelism: parallelism
                    )
                    guard let key else { throw NativeFault("Invalid scrypt params") }
                    return call.make(key.withUnsafeBytes { Array($0) })
                }
            ),
        ]
    }

    private static let mostKeyBytes = 1_048_576

    private static var hashes: [String: KDF.Insecure.PBKDF2.HashFunction] {
        [
            "md5": .insecureMD5, "sha1": .insecureSHA1, "sha256": .sha256, "sha384": .sha384,
            "sha512": .sha512,
        ]
    }

    private static func whole(_ number: Double, _ name: String, _ range: ClosedRange<Int>) throws(NativeFault)
        -> Int
    {
        guard let number = Int(exactly: number), range.contains(number) else {
            throw NativeFault("The value of \"\(name)\" is out of range")
        }
        return number
    }

    private static func cbc(
        _ bytes: [UInt8],
        _ key: SymmetricKey,
        iv: [UInt8],
        seals: Bool,
        pads: Bool,
        _ call: NativeArguments
    ) throws(NativeFault) -> JSValueRef? {
        guard let iv = try? AES._CBC.IV(ivBytes: iv) else {
            throw NativeFault("Invalid initialization vector")
        }
        let result =
            seals
            ? try? AES._CBC.encrypt(bytes, using: key, iv: iv, noPadding: !pads)
            : try? AES._CBC.decrypt(bytes, using: key, iv: iv, noPadding: !pads)
        guard let result else { throw NativeFault("bad decrypt") }
        return call.make(Array(result))
    }
}

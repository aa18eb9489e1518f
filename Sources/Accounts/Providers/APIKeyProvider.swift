import Crypto

/// API keys: how they are made, and how they are stored.
///
/// A key holds 64 characters of 62, some 381 bits, so that one plain SHA-256 is enough to store it and to
/// look it up by: there is nothing to guess. `tidegate.create_api_key` makes them of 64 hexadecimal
/// digits (256 bits).
public enum APIKeyProvider {
    /// Characters in a key.
    public static let keyLength = 64
    /// Server keys of one app.
    public static let maximumServerKeys = 100
    /// Keys of one user.
    public static let maximumUserKeys = 20

    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8
    )

    /// A new key.
    ///
    /// - Parameter random: A cryptographic source.
    /// - Returns: ``keyLength`` characters.
    public static func makeKey(random: inout some RandomNumberGenerator) -> String {
        var key: [UInt8] = []
        key.reserveCapacity(keyLength)
        for _ in 0..<keyLength { key.append(alphabet[Int.random(in: 0..<alphabet.count, using: &random)]) }
        return String(decoding: key, as: UTF8.self)
    }

    /// The 32 bytes that a key is found by; nil for what cannot be a key.
    public static func digest(_ key: String) -> [UInt8]? {
        guard (1...256).contains(key.utf8.count) else { return nil }
        return Array(SHA256.hash(data: Array(key.utf8)))
    }

    /// Whether a key's name holds nothing but ASCII letters, digits, underscores and hyphens.
    public static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}

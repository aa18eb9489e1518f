import Crypto

/// The token of a confirmation or reset mail: 256 random bits in 64 hexadecimal digits.
///
/// The database holds its SHA-256 alone; there is nothing to guess, so that a plain hash is enough.
public enum UserToken {
    /// 30 minutes.
    ///
    /// Source: `reference/client-api.md` §3.2.
    public static let lifetimeSeconds = 1800

    /// A new token.
    ///
    /// - Parameter random: A cryptographic source.
    /// - Returns: 64 hexadecimal digits.
    public static func make(random: inout some RandomNumberGenerator) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(64)
        for _ in 0..<64 { text.append(digits[Int.random(in: 0..<16, using: &random)]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// The 32 bytes that a token is found by; nil for what is no token.
    public static func digest(_ token: String) -> [UInt8]? {
        let bytes = Array(token.utf8)
        let isToken =
            bytes.count == 64
            && bytes.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            }
        return isToken ? Array(SHA256.hash(data: bytes)) : nil
    }
}

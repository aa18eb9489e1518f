/// Base64 without padding, in the plain and the URL alphabet.
///
/// Decoding is strict: no padding, no other characters, no stray bits at the end, so that one value has
/// one text and a token cannot be changed without its signature noticing.
enum Base64 {
    enum Alphabet {
        case plain
        case url
    }

    private static let plainDigits = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
    )
    private static let urlDigits = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8
    )
    private static let plainValues = values(plainDigits)
    private static let urlValues = values(urlDigits)

    private static func values(_ digits: [UInt8]) -> [UInt8] {
        var values = [UInt8](repeating: 0xFF, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }

    static func encode(_ bytes: some Collection<UInt8>, _ alphabet: Alphabet = .plain) -> String {
        String(decoding: encodeBytes(bytes, alphabet), as: UTF8.self)
    }

    static func encodeBytes(_ bytes: some Collection<UInt8>, _ alphabet: Alphabet) -> [UInt8] {
        let digits = alphabet == .plain ? plainDigits : urlDigits
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count / 3 * 4 + 4)
        var buffer: UInt32 = 0
        var bits: UInt32 = 0
        for byte in bytes {
            buffer = buffer << 8 | UInt32(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(digits[Int(buffer >> bits & 63)])
            }
            buffer &= (1 << bits) - 1
        }
        if bits > 0 { text.append(digits[Int(buffer << (6 - bits) & 63)]) }
        return text
    }

    static func decode(_ text: some StringProtocol, _ alphabet: Alphabet = .plain) -> [UInt8]? {
        decode(bytes: text.utf8, alphabet)
    }

    static func decode(bytes text: some Collection<UInt8>, _ alphabet: Alphabet) -> [UInt8]? {
        let values = alphabet == .plain ? plainValues : urlValues
        let count = text.count
        guard count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count / 4 * 3 + 3)
        var buffer: UInt32 = 0
        var bits: UInt32 = 0
        for digit in text {
            let value = values[Int(digit)]
            guard value != 0xFF else { return nil }
            buffer = buffer << 6 | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: buffer >> bits))
                buffer &= (1 << bits) - 1
            }
        }
        guard buffer == 0 else { return nil }
        return bytes
    }
}

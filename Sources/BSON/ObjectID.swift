/// Twelve bytes: four of seconds since 1970, five of process identity, three of a counter.
public struct ObjectID: Sendable, Hashable {
    /// The first four bytes, big-endian.
    let seconds: UInt32
    /// The other eight bytes, big-endian.
    let rest: UInt64

    /// Exactly twelve bytes, or nil.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 12 else { return nil }
        seconds = bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
        rest = bytes.dropFirst(4).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// An id made at a given time, with eight bytes that are unique to the caller.
    public init(seconds: UInt32, unique: UInt64) {
        self.seconds = seconds
        rest = unique
    }

    /// Exactly 24 hexadecimal digits of either case, or nil.
    public init?(hex: some StringProtocol) {
        var seconds: UInt32 = 0
        var rest: UInt64 = 0
        var count = 0
        for character in hex.utf8 {
            guard count < 24, let digit = hexadecimalDigit(character) else { return nil }
            if count < 8 { seconds = seconds << 4 | UInt32(digit) } else { rest = rest << 4 | UInt64(digit) }
            count += 1
        }
        guard count == 24 else { return nil }
        self.init(seconds: seconds, unique: rest)
    }

    /// The twelve bytes.
    public var bytes: [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: seconds >> (24 - 8 * $0)) }
            + (0..<8).map { UInt8(truncatingIfNeeded: rest >> (56 - 8 * $0)) }
    }

    /// 24 lower-case hexadecimal digits.
    public var hex: String {
        var digits: [UInt8] = []
        digits.reserveCapacity(24)
        appendHex(to: &digits)
        return String(decoding: digits, as: UTF8.self)
    }
}

let hexadecimalDigits = Array("0123456789abcdef".utf8)

/// The value of an ASCII hexadecimal digit, or nil.
func hexadecimalDigit(_ character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
    default: nil
    }
}

extension Decimal128: CustomStringConvertible {
    /// Reads a decimal literal, rounding half to even at the 34th digit.
    ///
    /// Takes an optional sign, digits with an optional point, an optional exponent; or `inf`, `infinity`,
    /// `nan` in any case. Nil for anything else. Past the largest number it is infinity.
    public init?(_ text: some StringProtocol) {
        guard let (value, _) = Self.parse(text.utf8) else { return nil }
        self = value
    }

    /// Reads a decimal literal that needs no rounding; nil where digits would be lost.
    ///
    /// Source: the BSON decimal128 specification, which makes inexact text a parse error.
    public init?(exactly text: some StringProtocol) {
        guard let (value, isExact) = Self.parse(text.utf8), isExact else { return nil }
        self = value
    }

    private static func parse(_ text: some Collection<UInt8>) -> (value: Decimal128, isExact: Bool)? {
        var rest = text[...]
        let negative = rest.first == UInt8(ascii: "-")
        if negative || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
        guard let first = rest.first else { return nil }
        if first | 0x20 == UInt8(ascii: "i") || first | 0x20 == UInt8(ascii: "n") {
            guard rest.count <= 8 else { return nil }
            switch String(decoding: rest.map { $0 | 0x20 }, as: UTF8.self) {
            case "inf", "infinity": return (negative ? negativeInfinity : infinity, true)
            case "nan": return (nan, true)
            default: return nil
            }
        }
        return parseFinite(rest, negative: negative)
    }

    private static func parseFinite(
        _ text: some Collection<UInt8>,
        negative: Bool
    ) -> (value: Decimal128, isExact: Bool)? {
        var coefficient: UInt128 = 0
        var exponent = 0
        var sticky = false
        var hasDigit = false
        var hasPoint = false
        var index = text.startIndex
        let room = powersOfTen[36]
        scan: while index < text.endIndex {
            let byte = text[index]
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                hasDigit = true
                if coefficient < room {
                    coefficient = coefficient * 10 + UInt128(byte - UInt8(ascii: "0"))
                    if hasPoint { exponent -= 1 }
                } else {
                    sticky = sticky || byte != UInt8(ascii: "0")
                    if !hasPoint { exponent += 1 }
                }
            case UInt8(ascii: "."):
                if hasPoint { return nil }
                hasPoint = true
            default: break scan
            }
            index = text.index(after: index)
        }
        guard hasDigit else { return nil }
        if index < text.endIndex {
            guard let written = parseExponent(text[index...]) else { return nil }
            exponent += written
        }
        return rounding(coefficient, exponent: exponent, negative: negative, sticky: sticky)
    }

    /// `e`, an optional sign and digits; far beyond the range it stops counting.
    private static func parseExponent(_ text: some Collection<UInt8>) -> Int? {
        var rest = text[...]
        guard let mark = rest.popFirst(), mark | 0x20 == UInt8(ascii: "e") else { return nil }
        let negative = rest.first == UInt8(ascii: "-")
        if negative || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
        guard !rest.isEmpty else { return nil }
        var value = 0
        for byte in rest {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            if value < 1 << 40 { value = value * 10 + Int(byte - UInt8(ascii: "0")) }
        }
        return negative ? -value : value
    }

    /// The specification's text: plain where the exponent is small, otherwise `1.05E+3`.
    public var description: String {
        switch parts {
        case .nan: return "NaN"
        case .infinity(let negative): return negative ? "-Infinity" : "Infinity"
        case .finite(let negative, let coefficient, let exponent):
            let digits = String(coefficient)
            let sign = negative ? "-" : ""
            let adjusted = exponent + digits.utf8.count - 1
            if exponent > 0 || adjusted < -6 {
                let mantissa = digits.utf8.count == 1 ? digits : "\(digits.prefix(1)).\(digits.dropFirst())"
                return "\(sign)\(mantissa)E\(adjusted < 0 ? "" : "+")\(adjusted)"
            }
            if exponent == 0 { return sign + digits }
            let point = digits.utf8.count + exponent
            if point > 0 { return "\(sign)\(digits.prefix(point)).\(digits.dropFirst(point))" }
            return "\(sign)0.\(String(repeating: "0", count: -point))\(digits)"
        }
    }
}

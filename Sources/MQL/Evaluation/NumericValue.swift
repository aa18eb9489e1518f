import BSON

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A number of one of the four numeric types, ordered by width: int, long, double, decimal.
enum NumericValue {
    case int(Int32)
    case long(Int64)
    case double(Double)
    case decimal(Decimal128)

    /// Nil for what is no number.
    init?(_ value: BSONValue?) {
        switch value {
        case .int32(let number): self = .int(number)
        case .int64(let number): self = .long(number)
        case .double(let number): self = .double(number)
        case .decimal128(let number): self = .decimal(number)
        default: return nil
        }
    }

    /// The number as a value of its own type.
    var value: BSONValue {
        switch self {
        case .int(let number): .int32(number)
        case .long(let number): .int64(number)
        case .double(let number): .double(number)
        case .decimal(let number): .decimal128(number)
        }
    }

    var doubleValue: Double {
        switch self {
        case .int(let number): Double(number)
        case .long(let number): Double(number)
        case .double(let number): number
        case .decimal(let number): number.doubleValue
        }
    }

    /// The number as a decimal; doubles with the 15 digits that MongoDB keeps.
    var decimalValue: Decimal128 {
        switch self {
        case .int(let number): Decimal128(Int64(number))
        case .long(let number): Decimal128(number)
        case .double(let number): Decimal128(fifteenDigits: number)
        case .decimal(let number): number
        }
    }

    var isDecimal: Bool { if case .decimal = self { true } else { false } }

    /// The number where it is an int or a long.
    var integer: Int64? {
        switch self {
        case .int(let number): Int64(number)
        case .long(let number): number
        case .double, .decimal: nil
        }
    }

    /// The number where it is integral and within 64 bits, whatever its type.
    var exactInt64: Int64? { value.exactInt64 }

    /// The number where it is integral and within 32 bits, whatever its type.
    var exactInt32: Int32? { exactInt64.flatMap { Int32(exactly: $0) } }

    /// The number without its fraction, where it is within 64 bits.
    var truncatedInt64: Int64? {
        switch self {
        case .int(let number): Int64(number)
        case .long(let number): number
        case .double(let number): Int64(exactly: number.rounded(.towardZero))
        case .decimal(let number): number.rounded(toPlaces: 0, .towardZero).exactInt64
        }
    }

    /// The number as an integer of 64 bits: doubles cut off, decimals rounded to even.
    var roundedInt64: Int64? {
        if case .decimal(let number) = self {
            return number.rounded(toPlaces: 0, .toNearestOrEven).exactInt64
        }
        return truncatedInt64
    }

    var isNaN: Bool {
        switch self {
        case .int, .long: false
        case .double(let number): number.isNaN
        case .decimal(let number): number.isNaN
        }
    }

    var isInfinite: Bool {
        switch self {
        case .int, .long: false
        case .double(let number): number.isInfinite
        case .decimal(let number): number.isInfinite
        }
    }

    /// Whether it is less than zero; not so for NaN and negative zero.
    var isBelowZero: Bool {
        switch self {
        case .int(let number): number < 0
        case .long(let number): number < 0
        case .double(let number): number < 0
        case .decimal(let number): number.isNegative && !number.isZero && !number.isNaN
        }
    }

    var isZero: Bool {
        switch self {
        case .int(let number): number == 0
        case .long(let number): number == 0
        case .double(let number): number == 0
        case .decimal(let number): number.isZero
        }
    }

    /// The number as a message writes it.
    var text: String {
        switch self {
        case .int(let number): String(number)
        case .long(let number): String(number)
        case .double(let number): NumberText.of(number)
        case .decimal(let number): number.description
        }
    }
}

/// The text of numbers as `$toString` gives it.
enum NumberText {
    /// The shortest text that reads back as the same double, in the manner of C's `%g`:
    /// `1`, `1.5`, `1e+21`, `NaN`, `Infinity`.
    static func of(_ number: Double) -> String {
        if number.isNaN { return "NaN" }
        if number.isInfinite { return number < 0 ? "-Infinity" : "Infinity" }
        let text = number.description
        // Swift changes to exponents at 2^53, MongoDB at 10^16.
        if let whole = Int64(exactly: number), whole.magnitude < 10_000_000_000_000_000, whole != 0 {
            return String(whole)
        }
        guard let mark = text.firstIndex(of: "e") else {
            return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
        }
        var mantissa = String(text[..<mark])
        if mantissa.hasSuffix(".0") { mantissa.removeLast(2) }
        let exponent = text[text.index(after: mark)...]
        let negative = exponent.hasPrefix("-")
        let digits = exponent.drop { $0 == "-" || $0 == "+" || $0 == "0" }
        let padded =
            digits.count < 2 ? String(repeating: "0", count: 2 - digits.count) + digits : String(digits)
        return "\(mantissa)e\(negative ? "-" : "+")\(padded)"
    }

    /// The text at six significant digits, C's `%g`: `1.23457`, `1e+06`, `nan`, `-inf`.
    ///
    /// The text operators of old read doubles so.
    static func short(_ number: Double) -> String {
        if number.isNaN { return "nan" }
        if number.isInfinite { return number < 0 ? "-inf" : "inf" }
        var buffer = [CChar](repeating: 0, count: 32)
        let count = withVaList([number]) { vsnprintf(&buffer, buffer.count, "%g", $0) }
        return String(decoding: buffer.prefix(Int(count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

internal import Errors

/// A number of JSON text, with what is needed to give it a type.
struct JSONNumber {
    var start: Int
    var end: Int
    var isNegative: Bool
    /// All digits as one integer, the point left out; meaningless when there are more than 19.
    var mantissa: UInt64
    /// How many digits there are, leading zeros left out.
    var digits: Int
    /// How many of them stand behind the point, zeros included.
    var fractionDigits: Int
    var hasExponent: Bool
    var exponent: Int

    /// Whether there is neither point nor exponent.
    @inline(__always)
    var isInteger: Bool { fractionDigits == 0 && !hasExponent }

    /// The mantissa with its sign, if 64 bits hold it.
    @inline(__always)
    var signedMantissa: Int64? {
        guard digits <= 19 else { return nil }
        if isNegative {
            return mantissa <= 1 << 63 ? Int64(truncatingIfNeeded: 0 &- mantissa) : nil
        }
        return Int64(exactly: mantissa)
    }

    private static let powers: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
        1e19, 1e20, 1e21, 1e22,
    ]

    /// The nearest double; infinite when out of range.
    func double(in base: UnsafePointer<UInt8>) -> Double {
        let power = exponent - fractionDigits
        // Both the mantissa and the power of ten are exact doubles, so one operation rounds once.
        if digits <= 19, mantissa < 1 << 53, power >= -22, power <= 22 {
            let whole = Double(mantissa)
            let value = power < 0 ? whole / Self.powers[-power] : whole * Self.powers[power]
            return isNegative ? -value : value
        }
        let text = String(
            decoding: UnsafeBufferPointer(start: base + start, count: end - start),
            as: UTF8.self
        )
        return Double(text) ?? .nan
    }
}

extension JSONScanner {
    /// Takes a number; the cursor is at its sign or first digit.
    @inline(__always)
    mutating func number() throws(ServiceError) -> JSONNumber {
        var number = JSONNumber(
            start: position,
            end: position,
            isNegative: false,
            mantissa: 0,
            digits: 0,
            fractionDigits: 0,
            hasExponent: false,
            exponent: 0
        )
        if next == UInt8(ascii: "-") {
            number.isNegative = true
            position &+= 1
        }
        let first = position
        takeDigits(&number)
        if position == first { throw unexpected("a digit") }
        if base[first] == UInt8(ascii: "0"), position - first > 1 {
            throw Self.fault(first, "a number must not begin with 0")
        }
        if next == UInt8(ascii: ".") {
            position &+= 1
            let fraction = position
            takeDigits(&number)
            if position == fraction { throw unexpected("a digit") }
            number.fractionDigits = position - fraction
        }
        if next | 0x20 == UInt8(ascii: "e") { try takeExponent(&number) }
        number.end = position
        return number
    }

    @inline(__always)
    private mutating func takeDigits(_ number: inout JSONNumber) {
        while position < count {
            let digit = base[position] &- UInt8(ascii: "0")
            guard digit <= 9 else { return }
            if number.digits != 0 || digit != 0 {
                number.digits &+= 1
                if number.digits <= 19 { number.mantissa = number.mantissa &* 10 &+ UInt64(digit) }
            }
            position &+= 1
        }
    }

    private mutating func takeExponent(_ number: inout JSONNumber) throws(ServiceError) {
        position += 1
        number.hasExponent = true
        let isNegative = next == UInt8(ascii: "-")
        if isNegative || next == UInt8(ascii: "+") { position += 1 }
        let first = position
        var exponent = 0
        while position < count, base[position] &- UInt8(ascii: "0") <= 9 {
            // Past this the value is zero or infinite whatever follows.
            if exponent < 1 << 30 { exponent = exponent * 10 + Int(base[position] - UInt8(ascii: "0")) }
            position += 1
        }
        if position == first { throw unexpected("a digit") }
        number.exponent = isNegative ? -exponent : exponent
    }
}

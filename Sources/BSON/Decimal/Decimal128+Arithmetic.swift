extension Decimal128 {
    /// The sum, rounded half to even at 34 digits; infinities of opposite sign give NaN.
    public static func + (left: Decimal128, right: Decimal128) -> Decimal128 {
        switch (left.parts, right.parts) {
        case (.nan, _), (_, .nan): return nan
        case (.infinity(let first), .infinity(let second)): return first == second ? left : nan
        case (.infinity, _): return left
        case (_, .infinity): return right
        case (.finite(let first, let a, let e), .finite(let second, let b, let f)):
            // The term with the larger exponent comes first.
            return e >= f
                ? sum(first, a, e, second, b, f)
                : sum(second, b, f, first, a, e)
        }
    }

    /// The difference, rounded as the sum.
    public static func - (left: Decimal128, right: Decimal128) -> Decimal128 { left + -right }

    /// The same number with the other sign.
    public static prefix func - (value: Decimal128) -> Decimal128 {
        value.isNaN ? value : Decimal128(high: value.high ^ 1 << 63, low: value.low)
    }

    private static func sum(
        _ negative: Bool,
        _ coefficient: UInt128,
        _ exponent: Int,
        _ otherNegative: Bool,
        _ other: UInt128,
        _ otherExponent: Int
    ) -> Decimal128 {
        let zeroSign = negative && otherNegative
        guard coefficient != 0 else {
            if other == 0 { return Decimal128(packing: 0, exponent: otherExponent, negative: zeroSign) }
            return rounding(other, exponent: otherExponent, negative: otherNegative).value
        }
        // Widen the larger term to 37 digits at most; below that the other one is a matter of rounding.
        let shift = min(exponent - otherExponent, 37 - digitCount(coefficient))
        let wide = coefficient * powersOfTen[shift]
        let common = exponent - shift
        let cut = common - otherExponent
        var narrow = other
        var lost = false
        if cut > 0 {
            let divisor = cut < powersOfTen.count ? powersOfTen[cut] : 0
            narrow = divisor == 0 ? 0 : other / divisor
            lost = divisor == 0 ? other != 0 : other % divisor != 0
        }
        if negative == otherNegative {
            return rounding(wide + narrow, exponent: common, negative: negative, sticky: lost).value
        }
        if lost {
            // The true difference lies just below; borrow one and say that something is left.
            return rounding(wide - narrow - 1, exponent: common, negative: negative, sticky: true).value
        }
        if wide == narrow { return rounding(0, exponent: common, negative: zeroSign).value }
        return wide > narrow
            ? rounding(wide - narrow, exponent: common, negative: negative).value
            : rounding(narrow - wide, exponent: common, negative: otherNegative).value
    }

    /// The product, rounded half to even at 34 digits; zero times infinity is NaN.
    public static func * (left: Decimal128, right: Decimal128) -> Decimal128 {
        let negative = left.isNegative != right.isNegative
        switch (left.parts, right.parts) {
        case (.nan, _), (_, .nan): return nan
        case (.infinity, _), (_, .infinity):
            if left.isZero || right.isZero { return nan }
            return negative ? negativeInfinity : infinity
        case (.finite(_, let a, let e), .finite(_, let b, let f)):
            let (high, low) = a.multipliedFullWidth(by: b)
            if high == 0 { return rounding(low, exponent: e + f, negative: negative).value }
            // Down to 36 or 37 digits, which is more than the rounding that follows keeps.
            let cut = digitCount(a) + digitCount(b) - 37
            let (quotient, remainder) = powersOfTen[cut].dividingFullWidth((high, low))
            return rounding(quotient, exponent: e + f + cut, negative: negative, sticky: remainder != 0).value
        }
    }

    /// The quotient, rounded half to even at 34 digits; 0/0 is NaN, x/0 infinity.
    public static func / (left: Decimal128, right: Decimal128) -> Decimal128 {
        let negative = left.isNegative != right.isNegative
        switch (left.parts, right.parts) {
        case (.nan, _), (_, .nan), (.infinity, .infinity): return nan
        case (.infinity, _): return negative ? negativeInfinity : infinity
        case (_, .infinity): return Decimal128(packing: 0, exponent: minimumExponent, negative: negative)
        case (.finite(_, let a, let e), .finite(_, let b, let f)):
            if b == 0 { return a == 0 ? nan : (negative ? negativeInfinity : infinity) }
            if a == 0 { return rounding(0, exponent: e - f, negative: negative).value }
            return quotient(a, b, exponent: e - f, negative: negative)
        }
    }

    private static func quotient(_ a: UInt128, _ b: UInt128, exponent: Int, negative: Bool) -> Decimal128 {
        // So many zeros behind the dividend that the quotient has 36 or 37 digits.
        let scale = 36 + digitCount(b) - digitCount(a)
        let first = min(scale, 38)
        let (low, small) = (powersOfTen[first], powersOfTen[scale - first])
        let product = a.multipliedFullWidth(by: low)
        let wide = (
            high: product.high * small + product.low.multipliedFullWidth(by: small).high,
            low: product.low &* small
        )
        let division = b.dividingFullWidth(wide)
        let remainder = division.remainder
        var quotient = division.quotient
        var place = exponent - scale
        if remainder == 0 {
            // An exact quotient keeps the exponent that the operands suggest, as far as digits allow.
            while place < exponent && quotient % 10 == 0 {
                quotient /= 10
                place += 1
            }
        }
        return rounding(quotient, exponent: place, negative: negative, sticky: remainder != 0).value
    }

    /// What is left after subtracting the divisor a whole number of times; it has the dividend's sign.
    ///
    /// Exact for any two exponents. A divisor of zero, or an infinite dividend, gives NaN.
    public func remainder(dividingBy divisor: Decimal128) -> Decimal128 {
        guard case .finite(let negative, let a, let e) = parts else { return Self.nan }
        guard case .finite(_, let b, let f) = divisor.parts else { return divisor.isNaN ? Self.nan : self }
        guard b != 0 else { return Self.nan }
        if e >= f {
            let power = Self.powerOfTen(e - f, modulo: b)
            let product = (a % b).multipliedFullWidth(by: power)
            let rest = b.dividingFullWidth(product).remainder
            return Self.rounding(rest, exponent: f, negative: negative).value
        }
        // A divisor scaled past 35 digits is larger than any dividend.
        let shift = f - e
        guard Self.digitCount(b) + shift <= 36 else { return self }
        return Self.rounding(a % (b * Self.powersOfTen[shift]), exponent: e, negative: negative).value
    }

    private static func powerOfTen(_ exponent: Int, modulo modulus: UInt128) -> UInt128 {
        var result: UInt128 = 1 % modulus
        var base: UInt128 = 10 % modulus
        var rest = exponent
        while rest > 0 {
            if rest & 1 == 1 {
                result = modulus.dividingFullWidth(result.multipliedFullWidth(by: base)).remainder
            }
            base = modulus.dividingFullWidth(base.multipliedFullWidth(by: base)).remainder
            rest >>= 1
        }
        return result
    }
}

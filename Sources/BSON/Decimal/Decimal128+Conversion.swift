extension Decimal128 {
    /// Whether this is not a number.
    public var isNaN: Bool { parts == .nan }

    /// Whether the sign bit is set; also for negative zero.
    public var isNegative: Bool { high >> 63 == 1 }

    /// Whether this is an infinity of either sign.
    public var isInfinite: Bool {
        if case .infinity = parts { true } else { false }
    }

    /// Whether this is neither an infinity nor NaN.
    public var isFinite: Bool {
        if case .finite = parts { true } else { false }
    }

    /// Whether this is zero of either sign.
    public var isZero: Bool {
        if case .finite(_, 0, _) = parts { true } else { false }
    }

    /// The number without its sign.
    public var magnitude: Decimal128 { isNaN ? self : Decimal128(high: high & ~(1 << 63), low: low) }

    /// The integer, exactly.
    public init(_ value: Int64) {
        self.init(packing: UInt128(value.magnitude), exponent: 0, negative: value < 0)
    }

    /// The integer, exactly.
    public init(_ value: Int) {
        self.init(Int64(value))
    }

    /// The decimal nearest to the double's exact value: `0.1` becomes `0.1000000000000000055511151231257827`.
    public init(_ value: Double) {
        self.init(value, digits: nil)
    }

    /// The double at fifteen significant digits, all of them written: `5.5` becomes `5.50000000000000`.
    ///
    /// This is what MongoDB makes of a double that meets a decimal in an expression, and of `$toDecimal`.
    public init(fifteenDigits value: Double) {
        self.init(value, digits: 15)
    }

    private init(_ value: Double, digits limit: Int?) {
        guard value.isFinite else {
            self = value.isNaN ? Self.nan : (value < 0 ? Self.negativeInfinity : Self.infinity)
            return
        }
        let negative = value.sign == .minus
        guard value != 0 else {
            self.init(packing: 0, exponent: 0, negative: negative)
            return
        }
        let expansion = DoubleExpansion(value)
        var coefficient: UInt128 = 0
        for digit in expansion.digits.prefix(37) { coefficient = coefficient * 10 + UInt128(digit) }
        let used = min(expansion.digits.count, 37)
        let sticky = expansion.digits.count > used
        let exponent = expansion.exponent - used
        guard let limit else {
            self = Self.rounding(coefficient, exponent: exponent, negative: negative, sticky: sticky).value
            return
        }
        let excess = used - limit
        if excess < 0 {
            self.init(
                packing: coefficient * Self.powersOfTen[-excess],
                exponent: exponent + excess,
                negative: negative
            )
            return
        }
        let divisor = Self.powersOfTen[excess]
        var kept = coefficient / divisor
        let rest = coefficient % divisor
        let half = divisor / 2
        if excess > 0, rest > half || (rest == half && (sticky || kept & 1 == 1)) { kept += 1 }
        var place = exponent + excess
        if kept == Self.powersOfTen[limit] {
            kept /= 10
            place += 1
        }
        self.init(packing: kept, exponent: place, negative: negative)
    }

    /// The nearest double.
    public var doubleValue: Double {
        switch parts {
        case .nan: .nan
        case .infinity(let negative): negative ? -.infinity : .infinity
        case .finite(let negative, 0, _): negative ? -0.0 : 0
        case .finite: Double(description) ?? .nan
        }
    }

    /// The integer, if this is one and fits.
    public var exactInt64: Int64? {
        guard case .finite(let negative, let coefficient, let exponent) = parts else { return nil }
        if coefficient == 0 { return 0 }
        var magnitude = coefficient
        if exponent > 0 {
            guard exponent < 20, magnitude <= UInt128(UInt64.max) else { return nil }
            magnitude *= Self.powersOfTen[exponent]
        } else if exponent < 0 {
            guard -exponent < Self.digitLimit, magnitude % Self.powersOfTen[-exponent] == 0 else {
                return nil
            }
            magnitude /= Self.powersOfTen[-exponent]
        }
        guard magnitude <= UInt128(1) << 63 else { return nil }
        return negative ? Int64(exactly: -Int128(magnitude)) : Int64(exactly: magnitude)
    }

    /// Whether this is a whole number, however large.
    public var isIntegral: Bool {
        guard case .finite(_, let coefficient, let exponent) = parts else { return false }
        if exponent >= 0 || coefficient == 0 { return true }
        return -exponent < Self.digitLimit && coefficient % Self.powersOfTen[-exponent] == 0
    }

    /// -1, 0 or 1 by value; NaN is equal to itself and below everything.
    public static func compare(_ left: Decimal128, _ right: Decimal128) -> Int {
        switch (left.parts, right.parts) {
        case (.nan, .nan): return 0
        case (.nan, _): return -1
        case (_, .nan): return 1
        case (.infinity(let first), .infinity(let second)): return first == second ? 0 : (first ? -1 : 1)
        case (.infinity(let negative), _): return negative ? -1 : 1
        case (_, .infinity(let negative)): return negative ? 1 : -1
        case (.finite(let first, let a, let e), .finite(let second, let b, let f)):
            if a == 0 || b == 0 {
                if a == 0 && b == 0 { return 0 }
                return a == 0 ? (second ? 1 : -1) : (first ? -1 : 1)
            }
            if first != second { return first ? -1 : 1 }
            let order = compareMagnitudes(a, e, b, f)
            return first ? -order : order
        }
    }

    private static func compareMagnitudes(_ a: UInt128, _ e: Int, _ b: UInt128, _ f: Int) -> Int {
        let left = digitCount(a) + e
        let right = digitCount(b) + f
        if left != right { return left < right ? -1 : 1 }
        // Of the same magnitude, so the exponents are less than 34 apart.
        let scaled = e >= f ? (a * powersOfTen[e - f], b) : (a, b * powersOfTen[f - e])
        return scaled.0 == scaled.1 ? 0 : (scaled.0 < scaled.1 ? -1 : 1)
    }
}

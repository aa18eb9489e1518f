/// A number with 320 bits behind the point, for functions of decimals.
///
/// 320 bits are 96 digits: a result as small as 10^-35 still has 60 of them, so that rounding to 34
/// errs only where 26 digits in a row are nines or zeros.
struct FixedPoint {
    static let fractionBits = 320
    /// The absolute value times 2^320.
    private(set) var scaled: WideInteger
    private(set) var isNegative: Bool

    init(scaled: WideInteger, isNegative: Bool = false) {
        self.scaled = scaled
        self.isNegative = isNegative && !scaled.isZero
    }

    init(_ value: Int) {
        self.init(scaled: WideInteger(UInt128(value.magnitude)) << Self.fractionBits, isNegative: value < 0)
    }

    /// A coefficient times a power of ten; zero where that is below the last bit.
    ///
    /// The caller keeps the exponent below 100.
    init(_ coefficient: UInt128, exponent: Int, isNegative: Bool = false) {
        let wide = WideInteger(coefficient) << Self.fractionBits
        if exponent >= 0 {
            self.init(scaled: wide * .powerOfTen(exponent), isNegative: isNegative)
        } else if exponent < -140 {
            self.init(scaled: .zero)
        } else {
            let quotient = wide.quotientAndRemainder(dividingBy: .powerOfTen(-exponent)).quotient
            self.init(scaled: quotient, isNegative: isNegative)
        }
    }

    /// A double's exact value; its magnitude is below 2^100.
    init(_ value: Double) {
        guard value.isFinite, value != 0 else {
            self.init(scaled: .zero)
            return
        }
        let significand = WideInteger(UInt128(value.significandBitPattern | (value.isNormal ? 1 << 52 : 0)))
        let shift = Int(value.exponent) - 52 + Self.fractionBits
        self.init(scaled: shift >= 0 ? significand << shift : significand >> -shift, isNegative: value < 0)
    }

    static let zero = FixedPoint(0)
    static let one = FixedPoint(1)

    var isZero: Bool { scaled.isZero }
    var magnitude: FixedPoint { FixedPoint(scaled: scaled) }

    /// The nearest double, or one beside it.
    var approximation: Double {
        let excess = Swift.max(scaled.bitWidth - 64, 0)
        let number = Double((scaled >> excess).low) * Self.powerOfTwo(excess - Self.fractionBits)
        return isNegative ? -number : number
    }

    private static func powerOfTwo(_ exponent: Int) -> Double {
        Double(sign: .plus, exponent: exponent, significand: 1)
    }

    static func < (left: FixedPoint, right: FixedPoint) -> Bool {
        if left.isNegative != right.isNegative { return left.isNegative }
        return left.isNegative ? right.scaled < left.scaled : left.scaled < right.scaled
    }

    static prefix func - (value: FixedPoint) -> FixedPoint {
        FixedPoint(scaled: value.scaled, isNegative: !value.isNegative)
    }

    static func + (left: FixedPoint, right: FixedPoint) -> FixedPoint {
        if left.isNegative == right.isNegative {
            return FixedPoint(scaled: left.scaled + right.scaled, isNegative: left.isNegative)
        }
        return left.scaled < right.scaled
            ? FixedPoint(scaled: right.scaled - left.scaled, isNegative: right.isNegative)
            : FixedPoint(scaled: left.scaled - right.scaled, isNegative: left.isNegative)
    }

    static func - (left: FixedPoint, right: FixedPoint) -> FixedPoint { left + -right }

    static func * (left: FixedPoint, right: FixedPoint) -> FixedPoint {
        FixedPoint(
            scaled: (left.scaled * right.scaled) >> fractionBits,
            isNegative: left.isNegative != right.isNegative
        )
    }

    /// The quotient; the divisor is not zero.
    static func / (left: FixedPoint, right: FixedPoint) -> FixedPoint {
        FixedPoint(
            scaled: (left.scaled << fractionBits).quotientAndRemainder(dividingBy: right.scaled).quotient,
            isNegative: left.isNegative != right.isNegative
        )
    }

    func divided(by divisor: UInt64) -> FixedPoint {
        FixedPoint(scaled: scaled.divided(by: divisor), isNegative: isNegative)
    }

    /// Half of the number, so many times over.
    func halved(_ times: Int) -> FixedPoint {
        FixedPoint(scaled: scaled >> times, isNegative: isNegative)
    }

    func doubled(_ times: Int) -> FixedPoint {
        FixedPoint(scaled: scaled << times, isNegative: isNegative)
    }

    /// The root of a number that is not negative.
    var squareRoot: FixedPoint { FixedPoint(scaled: (scaled << Self.fractionBits).squareRoot) }

    /// The nearest whole number; the magnitude is below 2^62.
    var rounded: Int {
        let whole = ((scaled + (WideInteger(1) << (Self.fractionBits - 1))) >> Self.fractionBits).low
        let number = Int(truncatingIfNeeded: whole)
        return isNegative ? -number : number
    }
}

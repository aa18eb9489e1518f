/// Roots, powers, exponentials and logarithms at 34 digits, half to even.
///
/// What is inexact shows all of its 34 digits, as MongoDB does. Source: IEEE 754-2019 §9.2;
/// `documentdb/functional-tests`, `expressions/arithmetic`.
extension Decimal128 {
    static let one = Decimal128(packing: 1, exponent: 0, negative: false)
    /// Zero with the smallest exponent.
    static let leastZero = Decimal128(packing: 0, exponent: minimumExponent, negative: false)

    /// The square root; NaN below zero.
    ///
    /// An exact root is written as short as the operand allows.
    public func squareRoot() -> Decimal128 {
        switch parts {
        case .nan, .finite(_, 0, _): break
        case .infinity(let negative): return negative ? Self.nan : self
        case .finite(true, _, _): return Self.nan
        case .finite(false, let coefficient, let exponent): return Self.root(coefficient, exponent)
        }
        guard case .finite(let negative, _, let exponent) = parts else { return self }
        return Decimal128(packing: 0, exponent: exponent >> 1, negative: negative)
    }

    private static func root(_ coefficient: UInt128, _ exponent: Int) -> Decimal128 {
        // An even exponent, and so many zeros behind the coefficient that the root has 36 or 37 digits.
        var zeros = 73 - digitCount(coefficient)
        if (exponent - zeros) & 1 != 0 { zeros -= 1 }
        let square = WideInteger(coefficient) * .powerOfTen(zeros)
        let root = square.squareRoot
        var digits = root.low
        var place = (exponent - zeros) / 2
        guard root * root == square else {
            return rounding(digits, exponent: place, negative: false, sticky: true).value
        }
        let ideal = exponent >> 1
        while place < ideal && digits % 10 == 0 {
            digits /= 10
            place += 1
        }
        return rounding(digits, exponent: place, negative: false).value
    }

    /// e to this power.
    public func exponential() -> Decimal128 {
        switch parts {
        case .nan: return Self.nan
        case .infinity(let negative): return negative ? Decimal128(0) : Self.infinity
        case .finite(let negative, let coefficient, let exponent):
            let magnitude = Self.digitCount(coefficient) + exponent
            if coefficient == 0 || magnitude < -36 { return Self.one }
            if magnitude > 5 { return negative ? Self.leastZero : Self.infinity }
            return Self.exponential(
                FixedPoint(coefficient, exponent: exponent, isNegative: negative),
                negative: false
            )
        }
    }

    /// e to a power below a million, with a sign of its own.
    static func exponential(_ power: FixedPoint, negative: Bool) -> Decimal128 {
        let tens = (power / FixedPoint.logarithmOfTen).rounded
        let rest = power - FixedPoint.logarithmOfTen * FixedPoint(tens)
        return Decimal128(rest.exponential, exponent: tens, negative: negative)
    }

    /// The natural logarithm; negative infinity for zero, NaN below.
    public func naturalLogarithm() -> Decimal128 {
        guard let logarithm = fixedLogarithm else { return logarithmOfOther }
        return logarithm.isZero ? Decimal128(0) : Decimal128(logarithm)
    }

    /// The logarithm to base 10, without fraction where 34 digits show none; otherwise as ``naturalLogarithm()``.
    public func decimalLogarithm() -> Decimal128 {
        guard let logarithm = fixedLogarithm else { return logarithmOfOther }
        if logarithm.isZero { return Decimal128(0) }
        let result = Decimal128(logarithm / FixedPoint.logarithmOfTen)
        return result.isIntegral ? result.rounded(toPlaces: 0, .toNearestOrEven) : result
    }

    /// The natural logarithm of a positive finite number.
    var fixedLogarithm: FixedPoint? {
        guard case .finite(false, let coefficient, let exponent) = parts, coefficient != 0 else { return nil }
        // Of a power of ten the logarithm is exact but for the factor.
        var mantissa = coefficient
        var tens = exponent
        while mantissa % 10 == 0 {
            mantissa /= 10
            tens += 1
        }
        let logarithm = FixedPoint.logarithmOfTen * FixedPoint(tens)
        return mantissa == 1 ? logarithm : FixedPoint(mantissa, exponent: 0).logarithm + logarithm
    }

    private var logarithmOfOther: Decimal128 {
        if isZero { return Self.negativeInfinity }
        return isInfinite && !isNegative ? self : Self.nan
    }

    /// This number to a power.
    ///
    /// All 34 digits are written. As in MongoDB, whose library computes powers in binary of 128 bits, there is
    /// infinity above 1.19 × 10^4932, and so for a base beyond that.
    public func raised(to power: Decimal128) -> Decimal128 { rawPower(power) + Self.leastZero }

    private func rawPower(_ power: Decimal128) -> Decimal128 {
        if power.isZero { return Self.one }
        if case .finite(false, _, _) = parts, Self.compare(self, Self.one) == 0 { return Self.one }
        if isNaN || power.isNaN { return Self.nan }
        let isOdd = power.isIntegral && !power.remainder(dividingBy: Decimal128(2)).isZero
        let isNegativeResult = isNegative && isOdd
        let order = Self.compare(magnitude, Self.one)
        let grows = power.isNegative ? order < 0 : order > 0
        let limit =
            grows ? (isNegativeResult ? Self.negativeInfinity : Self.infinity) : Self.leastZero
        if isZero || isInfinite || Self.compare(magnitude, Self.largestBinary) > 0 { return limit }
        if isNegative && power.isFinite && !power.isIntegral { return Self.nan }
        if order == 0, power.isInfinite { return Self.one }
        guard let logarithm = magnitude.fixedLogarithm, case .finite(let negative, let b, let f) = power.parts
        else { return limit }
        if logarithm.isZero { return isNegativeResult ? -Self.one : Self.one }
        // The logarithm of what is not 1 is above 10^-34: a power of 41 digits reaches any limit.
        let digits = Self.digitCount(b) + f
        if digits > 40 { return limit }
        if digits < -60 { return Self.one }
        let product = FixedPoint(b, exponent: f, isNegative: negative) * logarithm
        if FixedPoint(15_000) < product.magnitude { return limit }
        let result = Self.exponential(product, negative: isNegativeResult)
        return Self.compare(result.magnitude, Self.largestBinary) > 0 ? limit : result
    }

    /// The largest binary number of 128 bits.
    private static let largestBinary = Decimal128(
        packing: 1_189_731_495_357_231_765_085_759_326_628_007,
        exponent: 4899,
        negative: false
    )

    /// A fixed-point number times a power of ten, rounded and with all digits written.
    init(_ number: FixedPoint, exponent: Int = 0, negative: Bool? = nil) {
        let sign = negative ?? number.isNegative
        guard !number.isZero else {
            self.init(packing: 0, exponent: 0, negative: sign)
            return
        }
        // So many decimal places that 36 to 38 digits remain; log10(2) is about 0.30103.
        let bits = number.scaled.bitWidth - FixedPoint.fractionBits
        let places = 37 - (bits * 30_103) / 100_000
        let shifted: WideInteger
        if places >= 0 {
            shifted = (number.scaled * .powerOfTen(places)) >> FixedPoint.fractionBits
        } else {
            let whole = number.scaled >> FixedPoint.fractionBits
            shifted = whole.quotientAndRemainder(dividingBy: .powerOfTen(-places)).quotient
        }
        self = Self.rounding(shifted.low, exponent: exponent - places, negative: sign, sticky: true).value
    }
}

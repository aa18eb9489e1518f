/// Circular and hyperbolic functions at 34 digits, half to even, all digits written.
extension Decimal128 {
    /// π/180 at 34 digits.
    private static let piOver180 = Decimal128(
        packing: 1_745_329_251_994_329_576_923_690_768_488_613,
        exponent: -35,
        negative: false
    )
    /// 180/π at 34 digits.
    private static let piUnder180 = Decimal128(
        packing: 5_729_577_951_308_232_087_679_815_481_410_517,
        exponent: -32,
        negative: false
    )

    /// These degrees as radians: the product with π/180 at 34 digits.
    public var radians: Decimal128 { self * Self.piOver180 }

    /// These radians as degrees: the product with 180/π at 34 digits.
    public var degrees: Decimal128 { self * Self.piUnder180 }

    /// The sine of this angle; NaN for infinity.
    public func sine() -> Decimal128 {
        odd { _ in Self.quadrant(self).map { Decimal128($0.sine) } ?? Self.nan }
    }

    /// The cosine of this angle; NaN for infinity.
    public func cosine() -> Decimal128 {
        if isZero { return Self.one }
        return Self.quadrant(self).map { Decimal128($0.cosine) } ?? Self.nan
    }

    /// The tangent of this angle; NaN for infinity.
    public func tangent() -> Decimal128 {
        odd { _ in Self.quadrant(self).map { Decimal128($0.sine / $0.cosine) } ?? Self.nan }
    }

    /// The angle with this sine; NaN beyond 1.
    public func arcSine() -> Decimal128 {
        odd { fixed in
            guard let fixed, let cosine = Self.leg(fixed) else { return Self.nan }
            if cosine.isZero { return Decimal128(FixedPoint.halfPi, negative: isNegative) }
            return Decimal128((fixed / cosine).arcTangent)
        }
    }

    /// The angle with this cosine; NaN beyond 1.
    public func arcCosine() -> Decimal128 {
        if isZero { return Decimal128(FixedPoint.halfPi) }
        guard let fixed = fixedPoint, let sine = Self.leg(fixed) else { return Self.nan }
        if sine.isZero { return isNegative ? Decimal128(FixedPoint.pi) : Decimal128(0) }
        // Near 1 the angle is small: by its sine, then.
        let angle = (sine / fixed.magnitude).arcTangent
        return Decimal128(isNegative ? FixedPoint.pi - angle : angle)
    }

    /// The angle with this tangent.
    public func arcTangent() -> Decimal128 {
        odd { fixed in
            isNaN ? Self.nan : Decimal128(fixed?.arcTangent ?? (isNegative ? -.halfPi : .halfPi))
        }
    }

    /// The angle from -π to π of the point with these coordinates.
    public static func arcTangent(y: Decimal128, x: Decimal128) -> Decimal128 {
        if y.isNaN || x.isNaN { return nan }
        if y.isZero { return x.isNegative ? Decimal128(.pi, negative: y.isNegative) : y }
        let angle: FixedPoint
        if x.isZero || y.isInfinite && !x.isInfinite {
            angle = .halfPi
        } else if y.isInfinite {
            angle = x.isNegative ? .pi - FixedPoint.pi.halved(2) : FixedPoint.pi.halved(2)
        } else {
            let ratio = y.magnitude / x.magnitude
            if !x.isNegative, x.isInfinite || compare(ratio, small) < 0 {
                return y.isNegative ? -ratio : ratio
            }
            let small = ratio.arcTangentOfQuotient(y, x)
            angle = x.isNegative ? .pi - small : small
        }
        return Decimal128(angle, negative: y.isNegative)
    }

    /// The angle of a quotient that was rounded, from its exact parts.
    private func arcTangentOfQuotient(_ y: Decimal128, _ x: Decimal128) -> FixedPoint {
        guard case .finite(_, let a, let e) = y.parts, case .finite(_, let b, let f) = x.parts,
            abs(e - f) < 80, b != 0
        else {
            return isZero || Self.compare(self, Self.one) < 0 ? .zero : .halfPi
        }
        let place = Swift.min(e, f)
        return (FixedPoint(a, exponent: e - place) / FixedPoint(b, exponent: f - place)).arcTangent
    }

    /// The hyperbolic sine.
    public func hyperbolicSine() -> Decimal128 {
        odd { fixed in
            guard let fixed, fixed.magnitude < FixedPoint(100) else { return largeHyperbolic(isNegative) }
            let growth = fixed.magnitude.exponential
            return Decimal128((growth - FixedPoint.one / growth).halved(1), negative: isNegative)
        }
    }

    /// The hyperbolic cosine.
    public func hyperbolicCosine() -> Decimal128 {
        if isZero { return Self.one }
        guard let fixed = fixedPoint, fixed.magnitude < FixedPoint(100) else { return largeHyperbolic(false) }
        let growth = fixed.exponential
        return Decimal128((growth + FixedPoint.one / growth).halved(1))
    }

    /// Half of e^|x|, where e^-|x| is too small to be seen.
    private func largeHyperbolic(_ negative: Bool) -> Decimal128 {
        guard case .finite(_, let coefficient, let exponent) = parts,
            Self.digitCount(coefficient) + exponent <= 5
        else {
            return isNaN ? Self.nan : (negative ? Self.negativeInfinity : Self.infinity)
        }
        let power = FixedPoint(coefficient, exponent: exponent) - .logarithmOfTwo
        return Self.exponential(power, negative: negative)
    }

    /// The hyperbolic tangent.
    public func hyperbolicTangent() -> Decimal128 {
        odd { fixed in
            if isNaN { return Self.nan }
            guard let fixed, fixed.magnitude < FixedPoint(100) else {
                return isNegative ? -Self.one : Self.one
            }
            let growth = fixed.magnitude.doubled(1).exponential
            return Decimal128((growth - .one) / (growth + .one), negative: isNegative)
        }
    }

    /// The number with this hyperbolic sine.
    public func inverseHyperbolicSine() -> Decimal128 {
        odd { fixed in
            guard let size = fixed?.magnitude else { return largeInverse(isNegative) }
            return Decimal128((size + (size * size + .one).squareRoot).logarithm, negative: isNegative)
        }
    }

    /// The number of at least zero with this hyperbolic cosine; NaN below 1.
    public func inverseHyperbolicCosine() -> Decimal128 {
        let order = Self.compare(self, Self.one)
        if order == 0 { return Decimal128(0) }
        if order < 0 { return Self.nan }
        guard let fixed = fixedPoint else { return largeInverse(false) }
        return Decimal128((fixed + (fixed * fixed - .one).squareRoot).logarithm)
    }

    /// ln 2|x|, which both inverses approach.
    private func largeInverse(_ negative: Bool) -> Decimal128 {
        guard let logarithm = magnitude.fixedLogarithm else {
            return isNaN ? Self.nan : (negative ? Self.negativeInfinity : Self.infinity)
        }
        return Decimal128(logarithm + .logarithmOfTwo, negative: negative)
    }

    /// The number with this hyperbolic tangent; infinite at 1, NaN beyond.
    public func inverseHyperbolicTangent() -> Decimal128 {
        odd { fixed in
            guard let size = fixed?.magnitude, !(FixedPoint.one < size) else { return Self.nan }
            let rest = FixedPoint.one - size
            if rest.isZero { return isNegative ? Self.negativeInfinity : Self.infinity }
            return Decimal128(((.one + size) / rest).logarithm.halved(1), negative: isNegative)
        }
    }

    // MARK: Arguments

    private static let small = Decimal128(packing: 1, exponent: -20, negative: false)

    /// This number with its 320 bits; nil where it is infinite, NaN, or 10^40 and more.
    private var fixedPoint: FixedPoint? {
        guard case .finite(let negative, let coefficient, let exponent) = parts,
            Self.digitCount(coefficient) + exponent <= 40
        else { return nil }
        return FixedPoint(coefficient, exponent: exponent, isNegative: negative)
    }

    /// A function with f(x) ≈ x near zero, where 320 bits hold too few digits of x.
    ///
    /// Below 10^-20 the next term, of x³, is beyond 34 digits.
    private func odd(_ function: (FixedPoint?) -> Decimal128) -> Decimal128 {
        if isZero { return self }
        if isFinite, Self.compare(magnitude, Self.small) < 0 { return self + Self.leastZero }
        return function(fixedPoint)
    }

    /// √(1 - x²); nil beyond 1.
    private static func leg(_ fixed: FixedPoint) -> FixedPoint? {
        let size = fixed.magnitude
        return FixedPoint.one < size ? nil : ((.one - size) * (.one + size)).squareRoot
    }

    /// Sine and cosine of any finite angle.
    private static func quadrant(_ angle: Decimal128) -> (sine: FixedPoint, cosine: FixedPoint)? {
        guard case .finite(let negative, let coefficient, let exponent) = angle.parts else { return nil }
        // As many more bits as the angle has before its point, four for each digit.
        let bits = FixedPoint.fractionBits + 4 * Swift.max(digitCount(coefficient) + exponent, 0)
        let wide = WideInteger(coefficient) << bits
        let scaled: WideInteger
        if exponent >= 0 {
            scaled = wide * .powerOfTen(exponent)
        } else if exponent > -500 {
            scaled = wide.quotientAndRemainder(dividingBy: .powerOfTen(-exponent)).quotient
        } else {
            scaled = .zero
        }
        let longPi = bits > 1024 ? longestPi : longPi
        let turn = longPi.value >> (longPi.bits - bits - 1)
        let rest = scaled.quotientAndRemainder(dividingBy: turn).remainder
        var small = FixedPoint(scaled: rest >> (bits - FixedPoint.fractionBits))
        if FixedPoint.pi < small { small = small - FixedPoint.pi.doubled(1) }
        let (sine, cosine) = small.sineAndCosine
        return (negative ? -sine : sine, cosine)
    }

    private static let longPi = (bits: 1100, value: FixedPoint.pi(bits: 1100))
    /// For angles up to the largest decimal; computed when one is first met.
    private static let longestPi = (bits: 25_000, value: FixedPoint.pi(bits: 25_000))
}

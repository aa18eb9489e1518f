extension Decimal128 {
    /// Brings any coefficient and exponent into range: half to even, once.
    ///
    /// With `sticky`, nonzero digits below the coefficient were cut off; then it must have at least 35 digits.
    /// The result is the nearest decimal, infinity past the largest, and whether it is exact.
    static func rounding(
        _ coefficient: UInt128,
        exponent: Int,
        negative: Bool,
        sticky: Bool = false
    ) -> (value: Decimal128, isExact: Bool) {
        var exponent = exponent
        if coefficient == 0 && !sticky {
            let clamped = min(max(exponent, minimumExponent), maximumExponent)
            return (Decimal128(packing: 0, exponent: clamped, negative: negative), true)
        }
        var kept = coefficient
        var isExact = !sticky
        let excess = max(digitCount(coefficient) - digitLimit, minimumExponent - exponent)
        if excess > 0 {
            let (quotient, dropped) = droppingDigits(coefficient, excess, sticky: sticky)
            kept = quotient
            isExact = isExact && dropped
            exponent += excess
            if kept == coefficientBound {
                kept /= 10
                exponent += 1
            }
        }
        while exponent > maximumExponent && kept < coefficientBound / 10 && kept != 0 {
            kept *= 10
            exponent -= 1
        }
        if exponent > maximumExponent {
            return (negative ? negativeInfinity : infinity, false)
        }
        return (Decimal128(packing: kept, exponent: exponent, negative: negative), isExact)
    }

    /// Cuts off the last digits, half to even.
    private static func droppingDigits(
        _ coefficient: UInt128,
        _ count: Int,
        sticky: Bool
    ) -> (quotient: UInt128, isExact: Bool) {
        // 2^128 is below half of 10^39.
        guard count < powersOfTen.count else { return (0, coefficient == 0) }
        let divisor = powersOfTen[count]
        let (quotient, remainder) = coefficient.quotientAndRemainder(dividingBy: divisor)
        let half = divisor / 2
        let isUp = remainder > half || (remainder == half && (sticky || quotient & 1 == 1))
        return (isUp ? quotient + 1 : quotient, remainder == 0)
    }

    /// Rounds to a number of digits behind the point (before it, when negative); the result is a multiple
    /// of 10^-places and written with that exponent where 34 digits allow.
    ///
    /// Source: `$round`, `$trunc`, `$floor`, `$ceil`.
    public func rounded(toPlaces places: Int, _ rule: FloatingPointRoundingRule) -> Decimal128 {
        guard case .finite(let negative, let coefficient, let exponent) = parts else { return self }
        let (target, overflow) = 0.subtractingReportingOverflow(places)
        guard !overflow, exponent < target else { return self }
        let (count, tooFar) = target.subtractingReportingOverflow(exponent)
        let isHuge = tooFar || count >= Self.powersOfTen.count
        let divisor = isHuge ? UInt128.max : Self.powersOfTen[count]
        let quotient = isHuge ? 0 : coefficient / divisor
        let remainder = isHuge ? coefficient : coefficient % divisor
        let half = divisor / 2
        let isUp =
            switch rule {
            case .towardZero: false
            case .awayFromZero: remainder != 0
            case .down: negative && remainder != 0
            case .up: !negative && remainder != 0
            case .toNearestOrAwayFromZero: remainder != 0 && remainder >= half && !isHuge
            case .toNearestOrEven:
                !isHuge && (remainder > half || (remainder == half && remainder != 0 && quotient & 1 == 1))
            @unknown default: false
            }
        let clamped = min(max(target, Self.minimumExponent), Self.maximumExponent)
        return Self.rounding(quotient + (isUp ? 1 : 0), exponent: isUp ? target : clamped, negative: negative)
            .value
    }
}

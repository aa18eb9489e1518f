/// What the bits of a decimal say.
///
/// A coefficient of more than 34 digits is not canonical and means zero, with the exponent kept.
enum DecimalParts: Equatable {
    /// `coefficient` × 10^`exponent`.
    case finite(negative: Bool, coefficient: UInt128, exponent: Int)
    case infinity(negative: Bool)
    case nan
}

extension Decimal128 {
    static let digitLimit = 34
    static let minimumExponent = -6176
    static let maximumExponent = 6111
    private static let exponentBias = 6176

    /// 10^0 to 10^38, all that fit.
    static let powersOfTen: [UInt128] = {
        var powers: [UInt128] = [1]
        for index in 0..<38 { powers.append(powers[index] * 10) }
        return powers
    }()

    /// The largest coefficient plus one.
    static let coefficientBound: UInt128 = powersOfTen[digitLimit]

    static let nan = Decimal128(high: 0x7C00_0000_0000_0000, low: 0)
    static let infinity = Decimal128(high: 0x7800_0000_0000_0000, low: 0)
    static let negativeInfinity = Decimal128(high: 0xF800_0000_0000_0000, low: 0)

    /// Sign, coefficient and exponent, or what stands in their place.
    var parts: DecimalParts {
        let negative = high >> 63 == 1
        let combination = (high >> 58) & 0x1F
        if combination == 0x1F { return .nan }
        if combination == 0x1E { return .infinity(negative: negative) }
        if (high >> 61) & 3 == 3 {
            // The long form of the significand begins at 2^113, above every 34-digit number.
            let exponent = Int((high >> 47) & 0x3FFF) - Self.exponentBias
            return .finite(negative: negative, coefficient: 0, exponent: exponent)
        }
        let exponent = Int((high >> 49) & 0x3FFF) - Self.exponentBias
        let coefficient = UInt128(high & 0x1_FFFF_FFFF_FFFF) << 64 | UInt128(low)
        return .finite(
            negative: negative,
            coefficient: coefficient < Self.coefficientBound ? coefficient : 0,
            exponent: exponent
        )
    }

    /// Packs a coefficient of at most 34 digits and an exponent in range; both are the caller's promise.
    init(packing coefficient: UInt128, exponent: Int, negative: Bool) {
        let biased = UInt64(truncatingIfNeeded: exponent &+ Self.exponentBias)
        self.init(
            high: (negative ? 1 << 63 : 0) | biased << 49 | UInt64(truncatingIfNeeded: coefficient >> 64),
            low: UInt64(truncatingIfNeeded: coefficient)
        )
    }

    /// How many decimal digits a number has; zero has one.
    static func digitCount(_ value: UInt128) -> Int {
        if value == 0 { return 1 }
        // log10(2) ≈ 1233/4096 gives the count or one less.
        let estimate = ((128 - value.leadingZeroBitCount) * 1233) >> 12
        return estimate < powersOfTen.count && value >= powersOfTen[estimate]
            ? estimate + 1 : max(estimate, 1)
    }
}

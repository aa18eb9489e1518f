/// The exact decimal digits of a finite, nonzero double, which has at most 767 of them.
///
/// A double is an integer times a power of two, and so a decimal of finite length. Order and keys
/// compare doubles with decimals by these digits, so that no rounding can call different numbers equal.
struct DoubleExpansion {
    /// The significant digits, 0 to 9, without zeros at either end.
    let digits: [UInt8]
    /// The value is 0.d₁d₂d₃… × 10^exponent.
    let exponent: Int

    /// Expands the magnitude; the sign is the caller's.
    init(_ value: Double) {
        var significand = value.significandBitPattern
        var power = Int(value.exponentBitPattern)
        if power == 0 { power = 1 } else { significand |= 1 << 52 }
        power -= 1075
        let zeros = significand.trailingZeroBitCount
        significand >>= UInt64(zeros)
        power += zeros
        // Little-endian limbs in base 10^9, so that the digits can be read off.
        var limbs = [UInt32(significand % 1_000_000_000), UInt32(significand / 1_000_000_000)]
        if power >= 0 {
            Self.multiply(&limbs, by: 2, times: power, chunk: (29, 1 << 29))
        } else {
            // m × 2^-p = m × 5^p × 10^-p
            Self.multiply(&limbs, by: 5, times: -power, chunk: (12, 244_140_625))
        }
        self.init(limbs: limbs, scale: min(power, 0))
    }

    /// Expands an integer times a power of ten.
    init(_ value: UInt128, scale: Int) {
        var limbs: [UInt32] = []
        var rest = value
        repeat {
            limbs.append(UInt32(rest % 1_000_000_000))
            rest /= 1_000_000_000
        } while rest > 0
        self.init(limbs: limbs, scale: scale)
    }

    private init(limbs: [UInt32], scale: Int) {
        var digits: [UInt8] = []
        digits.reserveCapacity(limbs.count * 9)
        for limb in limbs.reversed() {
            var divisor: UInt32 = 100_000_000
            while divisor > 0 {
                let digit = UInt8(limb / divisor % 10)
                if digit != 0 || !digits.isEmpty { digits.append(digit) }
                divisor /= 10
            }
        }
        exponent = digits.count + scale
        while digits.last == 0 { digits.removeLast() }
        self.digits = digits
    }

    private static func multiply(
        _ limbs: inout [UInt32],
        by factor: UInt64,
        times: Int,
        chunk: (count: Int, value: UInt64)
    ) {
        var rest = times
        while rest > 0 {
            let isChunk = rest >= chunk.count
            let multiplier = isChunk ? chunk.value : factor
            rest -= isChunk ? chunk.count : 1
            var carry: UInt64 = 0
            for index in limbs.indices {
                let product = UInt64(limbs[index]) * multiplier + carry
                limbs[index] = UInt32(product % 1_000_000_000)
                carry = product / 1_000_000_000
            }
            if carry > 0 { limbs.append(UInt32(carry)) }
        }
    }

    /// Compares two magnitudes: -1, 0 or 1.
    static func compare(_ left: DoubleExpansion, _ right: DoubleExpansion) -> Int {
        if left.exponent != right.exponent { return left.exponent < right.exponent ? -1 : 1 }
        for (first, second) in zip(left.digits, right.digits) where first != second {
            return first < second ? -1 : 1
        }
        let difference = left.digits.count - right.digits.count
        return difference == 0 ? 0 : (difference < 0 ? -1 : 1)
    }
}

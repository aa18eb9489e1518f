#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Elementary functions by series, each after its argument was made small.
///
/// Source: Brent and Zimmermann, Modern Computer Arithmetic, chapter 4.
extension FixedPoint {
    /// e^x for |x| below 200.
    var exponential: FixedPoint {
        // e^x = 2^k e^r, and e^r = (e^(r/256))^256.
        let power = (self / Self.logarithmOfTwo).rounded
        let small = (self - Self.logarithmOfTwo * FixedPoint(power)).halved(8)
        var term = Self.one
        var sum = Self.one
        var count: UInt64 = 1
        while !term.isZero {
            term = (term * small).divided(by: count)
            sum = sum + term
            count += 1
        }
        for _ in 0..<8 { sum = sum * sum }
        return power >= 0 ? sum.doubled(power) : sum.halved(-power)
    }

    /// ln x for a positive x.
    var logarithm: FixedPoint {
        // x = 2^k m with m from 0.75 to 1.5, so that nothing cancels near 1.
        var power = scaled.bitWidth - 1 - Self.fractionBits
        var mantissa = power >= 0 ? halved(power) : doubled(-power)
        if Self.threeHalves < mantissa {
            mantissa = mantissa.halved(1)
            power += 1
        }
        // Each step of Halley's method gives three times as many digits as the one before.
        var result = FixedPoint(log(mantissa.approximation))
        for _ in 0..<2 {
            let exponential = result.exponential
            result = result + ((mantissa - exponential) / (mantissa + exponential)).doubled(1)
        }
        return power == 0 ? result : result + Self.logarithmOfTwo * FixedPoint(power)
    }

    /// atan x.
    var arcTangent: FixedPoint {
        if isNegative { return -(-self).arcTangent }
        if Self.one < self { return Self.halfPi - (Self.one / self).arcTangent }
        // tan(a/2) = x / (1 + sqrt(1 + x^2))
        var small = self
        for _ in 0..<5 { small = small / (Self.one + (Self.one + small * small).squareRoot) }
        let square = small * small
        var power = small
        var sum = small
        var count: UInt64 = 1
        while !power.isZero {
            power = -(power * square)
            count += 2
            sum = sum + power.divided(by: count)
        }
        return sum.doubled(5)
    }

    /// Sine and cosine of an angle from -4 to 4.
    var sineAndCosine: (sine: FixedPoint, cosine: FixedPoint) {
        // By the double angle; 1 - cos is used in place of cos, which would lose digits.
        let small = halved(6)
        let square = small * small
        var term = small
        var sine = small
        var count: UInt64 = 1
        while !term.isZero {
            term = -(term * square).divided(by: (count + 1) * (count + 2))
            count += 2
            sine = sine + term
        }
        // versine = 1 - cos = sin^2 / (1 + cos)
        var versine = sine * sine / (Self.one + (Self.one - sine * sine).squareRoot)
        for _ in 0..<6 {
            let cosine = Self.one - versine
            versine = (sine * sine).doubled(1)
            sine = (sine * cosine).doubled(1)
        }
        return (sine, Self.one - versine)
    }

    static let threeHalves = one + one.halved(1)
    static let halfPi = FixedPoint(scaled: pi(bits: fractionBits) >> 1)
    static let pi = FixedPoint(scaled: pi(bits: fractionBits))

    /// ln 2 = 18 artanh(1/26) - 2 artanh(1/4801) + 8 artanh(1/8749).
    static let logarithmOfTwo = FixedPoint(
        scaled: hyperbolicSeries(26, bits: fractionBits) * WideInteger(18)
            + hyperbolicSeries(8749, bits: fractionBits) * WideInteger(8)
            - hyperbolicSeries(4801, bits: fractionBits) * WideInteger(2)
    )

    /// ln 10.
    static let logarithmOfTen = FixedPoint(10).logarithm

    /// π at so many bits behind the point: 16 atan(1/5) - 4 atan(1/239).
    static func pi(bits: Int) -> WideInteger {
        // What 64 more bits hold covers the errors of all terms.
        let wide = bits + 64
        let sum =
            circularSeries(5, bits: wide) * WideInteger(16) - circularSeries(239, bits: wide) * WideInteger(4)
        return sum >> 64
    }

    /// artanh(1/n).
    private static func hyperbolicSeries(_ number: UInt64, bits: Int) -> WideInteger {
        var power = (WideInteger(1) << bits).divided(by: number)
        var sum = power
        var count: UInt64 = 1
        while !power.isZero {
            power = power.divided(by: number * number)
            count += 2
            sum = sum + power.divided(by: count)
        }
        return sum
    }

    /// atan(1/n).
    private static func circularSeries(_ number: UInt64, bits: Int) -> WideInteger {
        var power = (WideInteger(1) << bits).divided(by: number)
        var positive = power
        var negative = WideInteger.zero
        var count: UInt64 = 1
        while !power.isZero {
            power = power.divided(by: number * number)
            count += 2
            if count & 2 == 0 {
                positive = positive + power.divided(by: count)
            } else {
                negative = negative + power.divided(by: count)
            }
        }
        return positive - negative
    }
}

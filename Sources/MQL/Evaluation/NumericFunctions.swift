import BSON
import Errors

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Functions of one number, and powers, logarithms and rounding.
///
/// Transcendental functions of decimals are computed as doubles and rounded to 15 digits.
enum NumericFunctions {
    /// A number for an operator that refuses other types with code 28765.
    private static func number(_ value: BSONValue, of name: String, code: Int = 28765)
        throws(ServiceError) -> NumericValue
    {
        guard let number = NumericValue(value) else {
            throw .mongo(code, "\(name) only supports numeric types, not \(known: TypeName.of(value))")
        }
        return number
    }

    /// - Throws: ``ServiceError`` with server code 28680 for the least long.
    static func absolute(_ value: BSONValue) throws(ServiceError) -> BSONValue {
        switch try number(value, of: "$abs") {
        case .int(let number):
            return number == .min ? .int64(Int64(number.magnitude)) : .int32(Swift.abs(number))
        case .long(let number):
            if number == .min { throw .mongo(28680, "can't take $abs of long long min") }
            return .int64(Swift.abs(number))
        case .double(let number): return .double(number.magnitude)
        case .decimal(let number): return .decimal128(number.magnitude)
        }
    }

    /// `$ceil` and `$floor`: the type stays.
    static func rounded(_ value: BSONValue, _ name: String, _ rule: FloatingPointRoundingRule)
        throws(ServiceError) -> BSONValue
    {
        switch try number(value, of: name) {
        case .int, .long: value
        case .double(let number): .double(number.rounded(rule))
        case .decimal(let number): .decimal128(whole(number.rounded(toPlaces: 0, rule)))
        }
    }

    /// A whole decimal with all of its digits written; NaN where there are more than 34, as MongoDB has it.
    private static func whole(_ number: Decimal128) -> Decimal128 {
        guard number.isFinite, Decimal128.compare(number.magnitude, tooLong) < 0 else {
            return Decimal128(Double.nan)
        }
        return number + Decimal128(Int64(0))
    }

    private static let tooLong = Decimal128("1E+34") ?? Decimal128(Double.nan)

    /// `$round` (half to even) and `$trunc`, to a decimal place from -20 to 100.
    ///
    /// - Throws: ``ServiceError`` with server code 16004, 31109 or 51081 to 51083; 51080 past 64 bits.
    static func rounded(
        _ value: BSONValue,
        place: BSONValue?,
        _ name: String,
        _ rule: FloatingPointRoundingRule
    ) throws(ServiceError) -> BSONValue {
        let number = try number(value, of: name, code: 51081)
        var places: Int64 = 0
        if let place {
            guard let exact = try self.number(place, of: name, code: 16004).exactInt64 else {
                if case .double(let double) = place, !double.isFinite {
                    throw .mongo(31109, "Can't coerce out of range value \(NumberText.of(double)) to long")
                }
                throw .mongo(51082, "precision argument to  \(name) must be a integral value")
            }
            places = exact
        }
        guard (-20...100).contains(places) else {
            throw .mongo(
                51083,
                "cannot apply \(name) with precision value \(places) value must be in [-20, 100]"
            )
        }
        switch number {
        case .int, .long:
            if places >= 0 { return value }
            guard let result = number.decimalValue.rounded(toPlaces: Int(places), rule).exactInt64 else {
                throw .mongo(51080, "invalid conversion from Decimal128 result in \(name)")
            }
            return NumericArithmetic.integer(result, number, number).value
        case .double(let double):
            if !double.isFinite { return value }
            if places == 0 { return .double(double.rounded(rule)) }
            return .double(Decimal128(double).rounded(toPlaces: Int(places), rule).doubleValue)
        case .decimal(let decimal):
            let result = decimal.rounded(toPlaces: Int(places), rule)
            // `$trunc` shows as many places as were asked for.
            guard rule == .towardZero, places > 0, result.isFinite, let zero = Decimal128("0E-\(places)")
            else {
                return .decimal128(result)
            }
            return .decimal128(result + zero)
        }
    }

    /// - Throws: ``ServiceError`` with server code 28762, 28763 or 28764.
    static func power(_ base: BSONValue, _ exponent: BSONValue) throws(ServiceError) -> BSONValue {
        guard let a = NumericValue(base) else {
            throw .mongo(28762, "$pow's base must be numeric, not \(known: TypeName.of(base))")
        }
        guard let b = NumericValue(exponent) else {
            throw .mongo(28763, "$pow's exponent must be numeric, not \(known: TypeName.of(exponent))")
        }
        if a.isZero, b.doubleValue < 0 {
            throw .mongo(28764, "$pow cannot take a base of 0 and a negative exponent")
        }
        if a.isDecimal || b.isDecimal { return .decimal128(power(a.decimalValue, b)) }
        if let base = a.integer, let exponent = b.integer, let exact = power(base, exponent) {
            return NumericArithmetic.integer(exact, a, b).value
        }
        return .double(pow(a.doubleValue, b.doubleValue))
    }

    /// The power where it is an integer of 64 bits.
    private static func power(_ base: Int64, _ exponent: Int64) -> Int64? {
        switch base {
        case 1: return 1
        case -1: return exponent & 1 == 0 ? 1 : -1
        case 0: return exponent == 0 ? 1 : 0
        default: break
        }
        guard (0..<64).contains(exponent) else { return nil }
        var result: Int64 = 1
        for _ in 0..<exponent {
            let (product, overflow) = result.multipliedReportingOverflow(by: base)
            if overflow { return nil }
            result = product
        }
        return result
    }

    /// By repeated squaring for whole exponents, through doubles for the rest.
    private static func power(_ base: Decimal128, _ exponent: NumericValue) -> Decimal128 {
        guard base.isFinite, let whole = exponent.exactInt64, whole.magnitude <= 1 << 20 else {
            return Decimal128(fifteenDigits: pow(base.doubleValue, exponent.doubleValue))
        }
        var result = Decimal128(Int64(1))
        var square = base
        var rest = whole.magnitude
        while rest > 0 {
            if rest & 1 == 1 { result = result * square }
            square = square * square
            rest >>= 1
        }
        return whole < 0 ? Decimal128(Int64(1)) / result : result
    }

    /// - Throws: ``ServiceError`` with server code 28714 below zero.
    static func squareRoot(_ value: BSONValue) throws(ServiceError) -> BSONValue {
        let number = try number(value, of: "$sqrt")
        if number.doubleValue < 0 {
            throw .mongo(28714, "$sqrt's argument must be greater than or equal to 0")
        }
        guard case .decimal(let decimal) = number else { return .double(number.doubleValue.squareRoot()) }
        guard decimal.isFinite, !decimal.isZero else {
            return .decimal128(decimal.isInfinite || decimal.isZero ? decimal : Decimal128(Double.nan))
        }
        return .decimal128(squareRoot(decimal))
    }

    /// The root of a positive decimal; one beyond the range of doubles is scaled by a square.
    private static func squareRoot(_ decimal: Decimal128) -> Decimal128 {
        let estimate = decimal.doubleValue.squareRoot()
        if !estimate.isNormal, let scale = Decimal128("1E+300"), let root = Decimal128("1E+150") {
            return estimate.isInfinite
                ? squareRoot(decimal / scale) * root : squareRoot(decimal * scale) / root
        }
        if let short = Decimal128(NumberText.of(estimate)), Decimal128.compare(short * short, decimal) == 0 {
            return short
        }
        // Two steps of Newton's method take 16 digits to more than 34.
        let two = Decimal128(Int64(2))
        var root = Decimal128(fifteenDigits: estimate)
        for _ in 0..<3 { root = (root + decimal / root) / two }
        return root
    }

    /// `$exp`, `$sigmoid` and others that are defined everywhere.
    static func apply(
        _ value: BSONValue,
        _ name: String,
        code: Int = 28765,
        _ function: (Double) -> Double
    ) throws(ServiceError) -> BSONValue {
        let number = try number(value, of: name, code: code)
        let result = function(number.doubleValue)
        return number.isDecimal ? .decimal128(Decimal128(fifteenDigits: result)) : .double(result)
    }

    static func exponential(_ value: BSONValue) throws(ServiceError) -> BSONValue {
        try apply(value, "$exp") { exp($0) }
    }

    static func sigmoid(_ value: BSONValue) throws(ServiceError) -> BSONValue {
        try apply(value, "$sigmoid", code: 14) { 1 / (1 + exp(-$0)) }
    }

    /// - Throws: ``ServiceError`` with server code 28766 at and below zero.
    static func naturalLogarithm(_ value: BSONValue) throws(ServiceError) -> BSONValue {
        try logarithm(value, "$ln", code: 28766) { log($0) }
    }

    /// - Throws: ``ServiceError`` with server code 28761 at and below zero.
    static func decimalLogarithm(_ value: BSONValue) throws(ServiceError) -> BSONValue {
        try logarithm(value, "$log10", code: 28761) { log10($0) }
    }

    private static func logarithm(
        _ value: BSONValue,
        _ name: String,
        code: Int,
        _ function: (Double) -> Double
    ) throws(ServiceError) -> BSONValue {
        let number = try number(value, of: name)
        if number.doubleValue <= 0 {
            throw .mongo(code, "\(name)'s argument must be a positive number, but is \(number.text)")
        }
        return try apply(value, name, function)
    }

    /// - Throws: ``ServiceError`` with server code 28756 to 28759.
    static func logarithm(_ value: BSONValue, base: BSONValue) throws(ServiceError) -> BSONValue {
        guard let a = NumericValue(value) else {
            throw .mongo(28756, "$log's argument must be numeric, not \(known: TypeName.of(value))")
        }
        guard let b = NumericValue(base) else {
            throw .mongo(28757, "$log's base must be numeric, not \(known: TypeName.of(base))")
        }
        if a.doubleValue <= 0 {
            throw .mongo(28758, "$log's argument must be a positive number, but is \(a.text)")
        }
        if b.doubleValue <= 0 || b.doubleValue == 1 {
            throw .mongo(28759, "$log's base must be a positive number not equal to 1, but is \(b.text)")
        }
        let result = log(a.doubleValue) / log(b.doubleValue)
        return a.isDecimal || b.isDecimal ? .decimal128(Decimal128(fifteenDigits: result)) : .double(result)
    }

    /// Sines, cosines and their relatives, with the interval outside of which code 50989 is raised.
    static func trigonometric(_ op: ExpressionOperator, _ value: BSONValue) throws(ServiceError) -> BSONValue
    {
        let name = op.rawValue
        let x = try number(value, of: name).doubleValue
        let allowed =
            switch op {
            case .sine, .cosine, .tangent: !x.isInfinite
            case .arcSine, .arcCosine, .inverseHyperbolicTangent: x.isNaN || (-1...1).contains(x)
            case .inverseHyperbolicCosine: x.isNaN || x >= 1
            default: true
            }
        if !allowed {
            throw .mongo(50989, "cannot apply \(name) to \(NumberText.of(x)), value is out of bounds")
        }
        return try apply(value, name) { x in
            switch op {
            case .sine: sin(x)
            case .cosine: cos(x)
            case .tangent: tan(x)
            case .arcSine: asin(x)
            case .arcCosine: acos(x)
            case .arcTangent: atan(x)
            case .hyperbolicSine: sinh(x)
            case .hyperbolicCosine: cosh(x)
            case .hyperbolicTangent: tanh(x)
            case .inverseHyperbolicSine: asinh(x)
            case .inverseHyperbolicCosine: acosh(x)
            case .inverseHyperbolicTangent: atanh(x)
            case .degreesToRadians: x * (.pi / 180)
            default: x * (180 / .pi)
            }
        }
    }

    /// - Throws: ``ServiceError`` with server code 51044 or 51045 for other types.
    static func arcTangent2(_ y: BSONValue, _ x: BSONValue) throws(ServiceError) -> BSONValue {
        guard let a = NumericValue(y) else {
            throw .mongo(51044, "$atan2 only supports numeric types, not \(known: TypeName.of(y))")
        }
        guard let b = NumericValue(x) else {
            throw .mongo(51045, "$atan2 only supports numeric types, not \(known: TypeName.of(x))")
        }
        let angle = atan2(a.doubleValue, b.doubleValue)
        return a.isDecimal || b.isDecimal ? .decimal128(Decimal128(fifteenDigits: angle)) : .double(angle)
    }

    /// `$bitAnd`, `$bitOr`, `$bitXor` over ints and longs.
    ///
    /// - Throws: ``ServiceError`` with server code 14 for other types.
    static func bitwise(_ op: ExpressionOperator, _ operands: [BSONValue?]) throws(ServiceError) -> BSONValue
    {
        var result = NumericValue.int(op == .bitAnd ? -1 : 0)
        for operand in operands {
            guard let operand, !operand.isNullish else { return .null }
            guard let number = NumericValue(operand), let bits = number.integer, let before = result.integer
            else {
                throw .mongo(
                    .typeMismatch,
                    "\(op.rawValue) only supports int and long operands."
                )
            }
            let after =
                switch op {
                case .bitAnd: before & bits
                case .bitOr: before | bits
                default: before ^ bits
                }
            result = NumericArithmetic.integer(after, result, number)
        }
        return result.value
    }

    /// - Throws: ``ServiceError`` with server code 28765 for other types.
    static func bitNot(_ value: BSONValue) throws(ServiceError) -> BSONValue {
        switch value {
        case .int32(let bits): .int32(~bits)
        case .int64(let bits): .int64(~bits)
        default: throw .mongo(28765, "$bitNot only supports int and long, not: \(known: TypeName.of(value)).")
        }
    }
}

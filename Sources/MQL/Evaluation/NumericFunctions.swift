import BSON
import Errors

/// Functions of one number, and rounding.
enum NumericFunctions {
    /// A number for an operator that refuses other types with code 28765.
    static func number(_ value: BSONValue, of name: String, code: Int = 28765)
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
        if number.isZero { return number.isNegative ? -Decimal128(Int64(0)) : Decimal128(Int64(0)) }
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

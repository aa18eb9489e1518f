import BSON
import Errors

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Powers, roots, exponentials and logarithms.
///
/// Decimals have functions of their own, at 34 digits. Source: MongoDB manual; `documentdb/functional-tests`,
/// `expressions/arithmetic`.
extension NumericFunctions {
    /// - Throws: ``ServiceError`` with server code 28762, 28763 or 28764.
    static func power(_ base: BSONValue, _ exponent: BSONValue) throws(ServiceError) -> BSONValue {
        guard let a = NumericValue(base) else {
            throw .mongo(28762, "$pow's base must be numeric, not \(known: TypeName.of(base))")
        }
        guard let b = NumericValue(exponent) else {
            throw .mongo(28763, "$pow's exponent must be numeric, not \(known: TypeName.of(exponent))")
        }
        if a.isZero, b.isBelowZero {
            throw .mongo(28764, "$pow cannot take a base of 0 and a negative exponent")
        }
        if a.isDecimal || b.isDecimal { return .decimal128(a.decimalValue.raised(to: b.decimalValue)) }
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

    /// - Throws: ``ServiceError`` with server code 28714 below zero.
    static func squareRoot(_ value: BSONValue) throws(ServiceError) -> BSONValue {
        let number = try number(value, of: "$sqrt")
        if number.isBelowZero {
            throw .mongo(28714, "$sqrt's argument must be greater than or equal to 0")
        }
        if case .decimal(let decimal) = number { return .decimal128(decimal.squareRoot()) }
        return .double(number.doubleValue.squareRoot())
    }

    static func exponential(_ value: BSONValue) throws(ServiceError) -> BSONValue {
        let number = try number(value, of: "$exp")
        if case .decimal(let decimal) = number { return .decimal128(decimal.exponential()) }
        return .double(exp(number.doubleValue))
    }

    /// 1 / (1 + e^-x).
    ///
    /// - Throws: ``ServiceError`` with server code 14 for what is no number.
    static func sigmoid(_ value: BSONValue) throws(ServiceError) -> BSONValue {
        let number = try number(value, of: "$sigmoid", code: 14)
        guard case .decimal(let decimal) = number else {
            return .double(1 / (1 + exp(-number.doubleValue)))
        }
        let one = Decimal128(1)
        return .decimal128(one / (one + (-decimal).exponential()))
    }

    /// - Throws: ``ServiceError`` with server code 28766 at and below zero.
    static func naturalLogarithm(_ value: BSONValue) throws(ServiceError) -> BSONValue {
        try logarithm(value, "$ln", code: 28766, { log($0) }, { $0.naturalLogarithm() })
    }

    /// - Throws: ``ServiceError`` with server code 28761 at and below zero.
    static func decimalLogarithm(_ value: BSONValue) throws(ServiceError) -> BSONValue {
        try logarithm(value, "$log10", code: 28761, { log10($0) }, { $0.decimalLogarithm() })
    }

    private static func logarithm(
        _ value: BSONValue,
        _ name: String,
        code: Int,
        _ function: (Double) -> Double,
        _ decimalFunction: (Decimal128) -> Decimal128
    ) throws(ServiceError) -> BSONValue {
        let number = try number(value, of: name)
        // NaN, of a decimal too, gives the double.
        if number.isNaN { return .double(.nan) }
        if number.isBelowZero || number.isZero {
            throw .mongo(code, "\(name)'s argument must be a positive number, but is \(number.text)")
        }
        if case .decimal(let decimal) = number { return .decimal128(decimalFunction(decimal)) }
        return .double(function(number.doubleValue))
    }

    /// - Throws: ``ServiceError`` with server code 28756 to 28759.
    static func logarithm(_ value: BSONValue, base: BSONValue) throws(ServiceError) -> BSONValue {
        guard let a = NumericValue(value) else {
            throw .mongo(28756, "$log's argument must be numeric, not \(known: TypeName.of(value))")
        }
        guard let b = NumericValue(base) else {
            throw .mongo(28757, "$log's base must be numeric, not \(known: TypeName.of(base))")
        }
        if a.isBelowZero || a.isZero {
            throw .mongo(28758, "$log's argument must be a positive number, but is \(a.text)")
        }
        if b.isBelowZero || b.isZero || Decimal128.compare(b.decimalValue, Decimal128(1)) == 0 {
            throw .mongo(28759, "$log's base must be a positive number not equal to 1, but is \(b.text)")
        }
        if a.isNaN || b.isNaN { return .double(.nan) }
        guard a.isDecimal || b.isDecimal else { return .double(log(a.doubleValue) / log(b.doubleValue)) }
        // Two rounded logarithms, as MongoDB divides them: log 64 to base 2 is not quite 6.
        return .decimal128(a.decimalValue.naturalLogarithm() / b.decimalValue.naturalLogarithm())
    }
}

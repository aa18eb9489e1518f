import BSON
import Errors

/// Arithmetic with MongoDB's promotion: int → long → double, and decimal over all.
///
/// Integer results that leave 64 bits become doubles. Source: `reference/mql.md` §9.
enum NumericArithmetic {
    /// The sum of numbers, and of at most one date with milliseconds.
    ///
    /// - Throws: ``ServiceError`` with server code 14 for other types, 16612 for a second date.
    static func add(_ operands: [BSONValue?]) throws(ServiceError) -> BSONValue {
        var total = NumericValue.int(0)
        var date: Int64?
        for operand in operands {
            guard let operand, !operand.isNullish else { return .null }
            if case .date(let milliseconds) = operand {
                if date != nil { throw .mongo(16612, "only one date allowed in an $add expression") }
                date = milliseconds
            } else if let number = NumericValue(operand) {
                total = add(total, number)
            } else {
                throw .mongo(
                    .typeMismatch,
                    "$add only supports numeric or date types, not \(known: TypeName.of(operand))"
                )
            }
        }
        guard let date else { return total.value }
        let (sum, overflow) = date.addingReportingOverflow(try milliseconds(total, of: "$add"))
        if overflow { throw .mongo(.overflow, "date overflow in $add") }
        return .date(sum)
    }

    static func add(_ left: NumericValue, _ right: NumericValue) -> NumericValue {
        if let a = left.integer, let b = right.integer {
            let (sum, overflow) = a.addingReportingOverflow(b)
            return overflow ? .double(Double(a) + Double(b)) : integer(sum, left, right)
        }
        if left.isDecimal || right.isDecimal { return .decimal(left.decimalValue + right.decimalValue) }
        return .double(left.doubleValue + right.doubleValue)
    }

    /// - Throws: ``ServiceError`` with server code 14 for types that cannot be subtracted.
    static func subtract(_ left: BSONValue?, _ right: BSONValue?) throws(ServiceError) -> BSONValue {
        guard let left, let right, !left.isNullish, !right.isNullish else { return .null }
        switch (left, right) {
        case (.date(let a), .date(let b)):
            let (difference, overflow) = a.subtractingReportingOverflow(b)
            if overflow { throw .mongo(.overflow, "overflow in $subtract of two dates") }
            return .int64(difference)
        case (.date(let a), _):
            if let number = NumericValue(right) {
                let (date, overflow) = a.subtractingReportingOverflow(
                    try milliseconds(number, of: "$subtract")
                )
                if overflow { throw .mongo(.overflow, "date overflow in $subtract") }
                return .date(date)
            }
        default:
            if let a = NumericValue(left), let b = NumericValue(right) { return subtract(a, b).value }
        }
        throw .mongo(
            .typeMismatch,
            "can't $subtract \(known: TypeName.of(right)) from \(known: TypeName.of(left))"
        )
    }

    static func subtract(_ left: NumericValue, _ right: NumericValue) -> NumericValue {
        if let a = left.integer, let b = right.integer {
            let (difference, overflow) = a.subtractingReportingOverflow(b)
            return overflow ? .double(Double(a) - Double(b)) : integer(difference, left, right)
        }
        if left.isDecimal || right.isDecimal { return .decimal(left.decimalValue - right.decimalValue) }
        return .double(left.doubleValue - right.doubleValue)
    }

    /// - Throws: ``ServiceError`` with server code 14 for other types.
    static func multiply(_ operands: [BSONValue?]) throws(ServiceError) -> BSONValue {
        var product = NumericValue.int(1)
        for operand in operands {
            guard let operand, !operand.isNullish else { return .null }
            guard let number = NumericValue(operand) else {
                throw .mongo(
                    .typeMismatch,
                    "$multiply only supports numeric types, not \(known: TypeName.of(operand))"
                )
            }
            product = multiply(product, number)
        }
        return product.value
    }

    static func multiply(_ left: NumericValue, _ right: NumericValue) -> NumericValue {
        if let a = left.integer, let b = right.integer {
            let (product, overflow) = a.multipliedReportingOverflow(by: b)
            return overflow ? .double(Double(a) * Double(b)) : integer(product, left, right)
        }
        if left.isDecimal || right.isDecimal { return .decimal(left.decimalValue * right.decimalValue) }
        return .double(left.doubleValue * right.doubleValue)
    }

    /// Always a double, or a decimal.
    ///
    /// - Throws: ``ServiceError`` with server code `zero` for a zero divisor, 14 for other types.
    static func divide(_ left: BSONValue?, _ right: BSONValue?, zero: Int = 2) throws(ServiceError)
        -> BSONValue
    {
        guard let left, let right, !left.isNullish, !right.isNullish else { return .null }
        guard let a = NumericValue(left), let b = NumericValue(right) else {
            throw .mongo(
                .typeMismatch,
                "$divide only supports numeric types, not \(known: TypeName.of(left)) and \(known: TypeName.of(right))"
            )
        }
        if b.isZero { throw .mongo(zero, "can't $divide by zero") }
        if a.isDecimal || b.isDecimal { return .decimal128(a.decimalValue / b.decimalValue) }
        return .double(a.doubleValue / b.doubleValue)
    }

    /// The remainder, with the sign of the dividend.
    ///
    /// - Throws: ``ServiceError`` with server code `zero`, or else 16610 or 5733415, for a zero divisor; 16611 for
    ///   other types.
    static func remainder(_ left: BSONValue?, _ right: BSONValue?, zero: Int? = nil) throws(ServiceError)
        -> BSONValue
    {
        guard let left, let right, !left.isNullish, !right.isNullish else { return .null }
        guard let a = NumericValue(left), let b = NumericValue(right) else {
            throw .mongo(
                16611,
                "$mod only supports numeric types, not \(known: TypeName.of(left)) and \(known: TypeName.of(right))"
            )
        }
        if b.isZero {
            throw .mongo(zero ?? (a.isDecimal || b.isDecimal ? 5_733_415 : 16610), "can't $mod by zero")
        }
        if let dividend = a.integer, let divisor = b.integer {
            return integer(dividend.remainderReportingOverflow(dividingBy: divisor).partialValue, a, b).value
        }
        if a.isDecimal || b.isDecimal {
            return .decimal128(a.decimalValue.remainder(dividingBy: b.decimalValue))
        }
        return .double(a.doubleValue.truncatingRemainder(dividingBy: b.doubleValue))
    }

    /// An integer result: an int when both operands are ints and it fits.
    static func integer(_ value: Int64, _ left: NumericValue, _ right: NumericValue) -> NumericValue {
        if case .int = left, case .int = right, let small = Int32(exactly: value) { return .int(small) }
        return .long(value)
    }

    /// A number as milliseconds, doubles rounded away from zero and decimals to even.
    private static func milliseconds(_ number: NumericValue, of name: String) throws(ServiceError) -> Int64 {
        let rounded: Int64? =
            switch number {
            case .int(let value): Int64(value)
            case .long(let value): value
            case .double(let value): Int64(exactly: value.rounded())
            case .decimal(let value): value.rounded(toPlaces: 0, .toNearestOrEven).exactInt64
            }
        guard let rounded else { throw .mongo(.overflow, "date overflow in \(name)") }
        return rounded
    }
}

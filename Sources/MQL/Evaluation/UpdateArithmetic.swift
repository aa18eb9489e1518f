import BSON

/// Arithmetic of `$inc`, `$mul` and `$bit`: int widens to long, anything with a double is a double,
/// anything with a decimal a decimal; what leaves 64 bits fails.
enum UpdateArithmetic {
    /// nil when the sum of longs overflows, or an operand is no number.
    static func add(_ left: BSONValue, _ right: BSONValue) -> BSONValue? {
        apply(
            left,
            right,
            integers: { $0.addingReportingOverflow($1) },
            doubles: { $0 + $1 },
            decimals: { $0 + $1 }
        )
    }

    /// nil when the product of longs overflows, or an operand is no number.
    static func multiply(_ left: BSONValue, _ right: BSONValue) -> BSONValue? {
        apply(
            left,
            right,
            integers: { $0.multipliedReportingOverflow(by: $1) },
            doubles: { $0 * $1 },
            decimals: { $0 * $1 }
        )
    }

    private static func apply(
        _ left: BSONValue,
        _ right: BSONValue,
        integers: (Int64, Int64) -> (partialValue: Int64, overflow: Bool),
        doubles: (Double, Double) -> Double,
        decimals: (Decimal128, Decimal128) -> Decimal128
    ) -> BSONValue? {
        guard let one = NumericValue(left), let other = NumericValue(right) else { return nil }
        if let a = one.integer, let b = other.integer {
            let (result, overflow) = integers(a, b)
            if overflow { return nil }
            if case .int = one, case .int = other, let narrow = Int32(exactly: result) {
                return .int32(narrow)
            }
            return .int64(result)
        }
        // A zero that stays zero stays as it is: -0.0 plus 0.0 changes nothing.
        if case .decimal(let old) = one {
            let result = decimals(old, other.decimalValue)
            return old.isZero && result.isZero ? left : .decimal128(result)
        }
        if other.isDecimal { return .decimal128(decimals(one.decimalValue, other.decimalValue)) }
        let result = doubles(one.doubleValue, other.doubleValue)
        if case .double(let old) = one, old == 0, result == 0 { return left }
        return .double(result)
    }

    /// nil when the value is neither an int nor a long.
    static func combine(_ value: BSONValue, _ operation: BitOperation) -> BSONValue? {
        switch (value, operation.operand) {
        case (.int32(let one), .int32(let other)): .int32(combine(one, other, operation.bitOperator))
        case (.int32(let one), .int64(let other)): .int64(combine(Int64(one), other, operation.bitOperator))
        case (.int64(let one), .int32(let other)): .int64(combine(one, Int64(other), operation.bitOperator))
        case (.int64(let one), .int64(let other)): .int64(combine(one, other, operation.bitOperator))
        default: nil
        }
    }

    private static func combine<T: FixedWidthInteger>(_ one: T, _ other: T, _ bitOperator: BitOperator) -> T {
        switch bitOperator {
        case .and: one & other
        case .or: one | other
        case .xor: one ^ other
        }
    }
}

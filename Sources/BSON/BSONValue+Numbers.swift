extension BSONValue {
    /// Whether this is an int, long, double or decimal.
    public var isNumber: Bool {
        switch self {
        case .double, .int32, .int64, .decimal128: true
        default: false
        }
    }

    /// The nearest double, for numbers only.
    public var doubleValue: Double? {
        switch self {
        case .double(let value): value
        case .int32(let value): Double(value)
        case .int64(let value): Double(value)
        case .decimal128(let value): value.doubleValue
        default: nil
        }
    }

    /// The number as a 64-bit integer, if it is integral, of whatever type, and in range.
    public var exactInt64: Int64? {
        switch self {
        case .double(let value): Int64(exactly: value)
        case .int32(let value): Int64(value)
        case .int64(let value): value
        case .decimal128(let value): value.exactInt64
        default: nil
        }
    }

    /// What an aggregation takes for true: everything but false, null, undefined and zero.
    ///
    /// NaN is true.
    public var isTruthy: Bool {
        switch self {
        case .bool(let value): value
        case .null, .undefined: false
        case .double(let value): value != 0
        case .int32(let value): value != 0
        case .int64(let value): value != 0
        case .decimal128(let value): !value.isZero
        default: true
        }
    }
}

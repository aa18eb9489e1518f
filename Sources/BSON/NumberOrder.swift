/// Exact comparison of numbers of any two types; NaN equals NaN and lies below everything.
enum NumberOrder {
    /// -1, 0 or 1; both must be numbers.
    static func compare(_ left: BSONValue, _ right: BSONValue) -> Int {
        switch (left, right) {
        case (.double(let left), .double(let right)): return compare(left, right)
        case (.double(let left), .decimal128(let right)): return compare(left, right)
        case (.decimal128(let left), .double(let right)): return -compare(right, left)
        case (.decimal128(let left), .decimal128(let right)): return Decimal128.compare(left, right)
        case (.double(let left), _):
            return integer(right).map { -compare($0, left) } ?? 0
        case (_, .double(let right)):
            return integer(left).map { compare($0, right) } ?? 0
        case (.decimal128(let left), _):
            return integer(right).map { Decimal128.compare(left, Decimal128($0)) } ?? 0
        case (_, .decimal128(let right)):
            return integer(left).map { Decimal128.compare(Decimal128($0), right) } ?? 0
        default:
            guard let first = integer(left), let second = integer(right) else { return 0 }
            return BSONOrdering.order(first, second)
        }
    }

    private static func integer(_ value: BSONValue) -> Int64? {
        switch value {
        case .int32(let value): Int64(value)
        case .int64(let value): value
        default: nil
        }
    }

    private static func compare(_ left: Double, _ right: Double) -> Int {
        if left < right { return -1 }
        if left > right { return 1 }
        if left == right { return 0 }
        return left.isNaN ? (right.isNaN ? 0 : -1) : 1
    }

    private static func compare(_ left: Int64, _ right: Double) -> Int {
        if right.isNaN { return 1 }
        // 2^63 and its negative are doubles; between them the integral part is an Int64.
        if right >= 0x1p63 { return -1 }
        if right < -0x1p63 { return 1 }
        let whole = right.rounded(.towardZero)
        let integral = Int64(whole)
        if left != integral { return left < integral ? -1 : 1 }
        return right == whole ? 0 : (right > whole ? -1 : 1)
    }

    private static func compare(_ left: Double, _ right: Decimal128) -> Int {
        if left.isNaN || right.isNaN { return left.isNaN ? (right.isNaN ? 0 : -1) : 1 }
        // Rounding is monotone: where the nearest double differs, so does the decimal, the same way.
        let nearest = right.doubleValue
        if left != nearest { return left < nearest ? -1 : 1 }
        guard left.isFinite, right.isFinite else {
            // A decimal past the largest double rounds to infinity, yet is below it.
            if left.isInfinite && right.isInfinite { return 0 }
            return left > 0 ? 1 : -1
        }
        guard case .finite(let negative, let coefficient, let exponent) = right.parts, coefficient != 0 else {
            return 0
        }
        // A decimal too small for a double rounds to zero.
        if left == 0 { return negative ? 1 : -1 }
        let order = DoubleExpansion.compare(
            DoubleExpansion(left),
            DoubleExpansion(coefficient, scale: exponent)
        )
        return negative ? -order : order
    }
}

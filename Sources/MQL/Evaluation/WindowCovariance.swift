import BSON
import Errors

/// `$covariancePop` and `$covarianceSamp`.
extension WindowPartition {
    func covariances(
        _ operand: AggregationExpression,
        isSample: Bool,
        _ frames: [Range<Int>]
    ) throws(ServiceError) -> [BSONValue] {
        let pairs = try evaluate(operand).map(RunningCovariance.pair)
        var running = RunningCovariance()
        var covered = 0..<0
        var values: [BSONValue] = []
        values.reserveCapacity(frames.count)
        for frame in frames {
            try context.meter.spend()
            if frame.lowerBound >= covered.upperBound {
                running = RunningCovariance()
                covered = frame.lowerBound..<frame.lowerBound
            }
            for place in covered.upperBound..<max(frame.upperBound, covered.upperBound) {
                if let pair = pairs[place] { try running.add(pair) }
            }
            for place in covered.lowerBound..<frame.lowerBound {
                if let pair = pairs[place] { try running.remove(pair) }
            }
            covered = frame.lowerBound..<max(frame.upperBound, covered.upperBound)
            values.append(try running.value(isSample: isSample))
        }
        return values
    }
}

/// A covariance of pairs of numbers that come and go, in doubles or, where one of them is a decimal, in decimals.
///
/// Sums and products are taken in the order in which MongoDB takes them, so that what overflows there does here.
struct RunningCovariance {
    typealias Pair = (x: NumericValue, y: NumericValue)

    private var count = 0
    private var sumX = NumericValue.int(0)
    private var sumY = NumericValue.int(0)
    private var moment = NumericValue.int(0)
    /// Pairs that are not finite, which decide as soon as there is one; they are no part of the sums.
    private var positive = 0
    private var negative = 0
    private var undefined = 0
    private var oddDecimals = 0

    /// What is no array of two numbers counts nothing.
    static func pair(_ value: BSONValue?) -> Pair? {
        guard case .array(let pair)? = value, pair.count == 2, let x = NumericValue(pair[0]),
            let y = NumericValue(pair[1])
        else { return nil }
        return (x, y)
    }

    // Ints and longs count as doubles among doubles, and as they are among decimals.

    private static func add(_ left: NumericValue, _ right: NumericValue) -> NumericValue {
        guard left.isDecimal || right.isDecimal else { return .double(left.doubleValue + right.doubleValue) }
        return NumericArithmetic.add(left, right)
    }

    private static func subtract(_ left: NumericValue, _ right: NumericValue) -> NumericValue {
        guard left.isDecimal || right.isDecimal else { return .double(left.doubleValue - right.doubleValue) }
        return NumericArithmetic.subtract(left, right)
    }

    private static func multiply(_ left: NumericValue, _ right: NumericValue) -> NumericValue {
        guard left.isDecimal || right.isDecimal else { return .double(left.doubleValue * right.doubleValue) }
        return NumericArithmetic.multiply(left, right)
    }

    mutating func add(_ pair: Pair) throws(ServiceError) {
        if note(pair, 1) { return }
        count += 1
        let before = count == 1 ? pair.x : try mean(sumX, count - 1)
        sumX = Self.add(sumX, pair.x)
        sumY = Self.add(sumY, pair.y)
        if count == 1 { return }
        let change = try product(pair, before, try mean(sumY, count))
        moment = Self.add(moment, change)
    }

    mutating func remove(_ pair: Pair) throws(ServiceError) {
        if note(pair, -1) { return }
        count -= 1
        if count == 0 {
            (sumX, sumY, moment) = (.int(0), .int(0), .int(0))
            return
        }
        let meanY = try mean(sumY, count + 1)
        sumX = Self.subtract(sumX, pair.x)
        sumY = Self.subtract(sumY, pair.y)
        moment = Self.subtract(moment, try product(pair, try mean(sumX, count), meanY))
    }

    private func product(
        _ pair: Pair,
        _ meanX: NumericValue,
        _ meanY: NumericValue
    ) throws(ServiceError) -> NumericValue {
        Self.multiply(
            Self.subtract(pair.x, meanX),
            Self.subtract(pair.y, meanY)
        )
    }

    private func mean(_ sum: NumericValue, _ count: Int) throws(ServiceError) -> NumericValue {
        NumericValue(try NumericArithmetic.divide(sum.value, .double(Double(count)))) ?? .int(0)
    }

    /// Counts a pair that is not finite; false for one that is.
    private mutating func note(_ pair: Pair, _ change: Int) -> Bool {
        if pair.x.isFinite, pair.y.isFinite { return false }
        if pair.x.isDecimal || pair.y.isDecimal { oddDecimals += change }
        let odd = (pair.x.isFinite ? 0 : pair.x.doubleValue) + (pair.y.isFinite ? 0 : pair.y.doubleValue)
        if odd.isNaN {
            undefined += change
        } else if odd > 0 {
            positive += change
        } else {
            negative += change
        }
        return true
    }

    func value(isSample: Bool) throws(ServiceError) -> BSONValue {
        if count < (isSample ? 2 : 1) { return .null }
        if count == 1 { return .double(0) }
        if positive > 0 || negative > 0 || undefined > 0 {
            let isUndefined = undefined > 0 || positive > 0 && negative > 0
            let odd: Double = isUndefined ? .nan : positive > 0 ? .infinity : -.infinity
            return oddDecimals > 0 ? .decimal128(Decimal128(odd)) : .double(odd)
        }
        return try mean(moment, isSample ? count - 1 : count).value
    }
}

extension NumericValue {
    /// Whether it is neither an infinity nor NaN.
    fileprivate var isFinite: Bool {
        if case .decimal(let number) = self { number.isFinite } else { doubleValue.isFinite }
    }
}

import BSON
import Errors

/// Arithmetic and comparison.
extension OperatorEvaluator {
    func arithmetic(_ op: ExpressionOperator, _ values: [BSONValue?]) throws(ServiceError) -> BSONValue {
        switch op {
        case .add: return try NumericArithmetic.add(values)
        case .subtract: return try NumericArithmetic.subtract(values[0], values[1])
        case .multiply: return try NumericArithmetic.multiply(values)
        case .divide:
            return try NumericArithmetic.divide(
                values[0],
                values[1],
                zero: context.isGrouping ? 4_848_401 : 2
            )
        case .modulo:
            return try NumericArithmetic.remainder(
                values[0],
                values[1],
                zero: context.isGrouping ? 4_848_403 : nil
            )
        case .bitAnd, .bitOr, .bitXor: return try NumericFunctions.bitwise(op, values)
        default: break
        }
        guard let first = values[0], !first.isNullish else { return .null }
        var second: BSONValue?
        if values.count > 1 {
            guard let value = values[1], !value.isNullish else { return .null }
            second = value
        }
        return switch op {
        case .absolute: try NumericFunctions.absolute(first)
        case .ceiling: try NumericFunctions.rounded(first, "$ceil", .up)
        case .floor: try NumericFunctions.rounded(first, "$floor", .down)
        case .round: try NumericFunctions.rounded(first, place: second, "$round", .toNearestOrEven)
        case .truncate: try NumericFunctions.rounded(first, place: second, "$trunc", .towardZero)
        case .power: try NumericFunctions.power(first, second ?? .null)
        case .squareRoot: try NumericFunctions.squareRoot(first)
        case .exponential: try NumericFunctions.exponential(first)
        case .naturalLogarithm: try NumericFunctions.naturalLogarithm(first)
        case .decimalLogarithm: try NumericFunctions.decimalLogarithm(first)
        case .logarithm: try NumericFunctions.logarithm(first, base: second ?? .null)
        case .sigmoid: try NumericFunctions.sigmoid(first)
        case .bitNot: try NumericFunctions.bitNot(first)
        case .arcTangent2: try NumericFunctions.arcTangent2(first, second ?? .null)
        default: try NumericFunctions.trigonometric(op, first)
        }
    }

    /// -1, 0 or 1 in the whole order of BSON; missing is below everything.
    static func order(_ left: BSONValue?, _ right: BSONValue?) -> Int {
        switch (left, right) {
        case (nil, nil): 0
        case (nil, _): -1
        case (_, nil): 1
        case (.undefined, .null): -1
        case (.null, .undefined): 1
        case (let left?, let right?): BSONOrdering.compare(left, right)
        }
    }

    func comparison(_ op: ExpressionOperator, _ values: [BSONValue?]) -> BSONValue {
        let order = context.order(values[0], values[1])
        return switch op {
        case .equal: .bool(order == 0)
        case .notEqual: .bool(order != 0)
        case .greater: .bool(order > 0)
        case .greaterOrEqual: .bool(order >= 0)
        case .less: .bool(order < 0)
        case .lessOrEqual: .bool(order <= 0)
        default: .int32(Int32(order))
        }
    }

    /// `$median` and `$percentile`: the input, a number or an array of them, and after it the parts.
    func percentiles(_ op: ExpressionOperator, _ values: [BSONValue?]) -> BSONValue {
        var numbers = Percentiles()
        if case .array(let elements)? = values[0] {
            for element in elements { _ = numbers.add(element) }
        } else {
            _ = numbers.add(values[0])
        }
        let parts = values.dropFirst().compactMap { NumericValue($0)?.doubleValue }
        return numbers.result(at: parts, isMedian: op == .median)
    }

    /// `$sum`, `$avg`, `$min`, `$max` and deviations over operands, or over the one array given.
    func aggregate(_ op: ExpressionOperator, _ values: [BSONValue?]) -> BSONValue {
        var values = values
        if values.count == 1, case .array(let elements)? = values[0] { values = elements }
        switch op {
        case .sum, .average:
            var sum = NumericSum()
            for value in values { sum.add(value) }
            return op == .sum ? sum.value : sum.average
        case .standardDeviationPopulation, .standardDeviationSample:
            var deviation = StandardDeviation()
            for value in values { deviation.add(value) }
            return deviation.value(isSample: op == .standardDeviationSample)
        default:
            var best: BSONValue?
            for case let value? in values where !value.isNullish {
                guard let current = best else {
                    best = value
                    continue
                }
                let order = context.compare(value, current)
                if op == .minimum ? order < 0 : order > 0 { best = value }
            }
            return best ?? .null
        }
    }
}

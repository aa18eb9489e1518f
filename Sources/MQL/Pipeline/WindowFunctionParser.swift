import BSON
import Errors

/// Reads one function of `$setWindowFields`.
enum WindowFunctionParser {
    /// The functions that number documents.
    static let ranks: Set<String> = ["$rank", "$denseRank", "$documentNumber"]

    /// - Throws: ``ServiceError`` with server code 9 for what is malformed, 5371601 to 5371603 for ranks,
    ///   or that of an expression.
    static func parse(
        _ name: String,
        _ operand: BSONValue,
        sort: Sort?,
        hasWindow: Bool,
        _ budget: ParseBudget
    ) throws(ServiceError) -> WindowFunction {
        switch name {
        case "$rank", "$denseRank", "$documentNumber":
            return try parseRank(name, operand, sort: sort, hasWindow: hasWindow)
        case "$shift":
            try refuseWindow(name, hasWindow)
            return try parseShift(operand, sort, budget)
        case "$expMovingAvg":
            try refuseWindow(name, hasWindow)
            return try parseMovingAverage(operand, sort, budget)
        case "$derivative", "$integral":
            return try parseRate(name, operand, sort: sort, hasWindow: hasWindow, budget)
        case "$linearFill":
            try refuseWindow(name, hasWindow)
            guard sort?.keys.count == 1 else {
                throw .mongo(
                    605_001,
                    "$linearFill must be specified with a top level sortBy expression with exactly one element"
                )
            }
            return .linearFill(try ExpressionParser.parse(operand, budget))
        case "$locf":
            try refuseWindow(name, hasWindow)
            return .carryForward(try ExpressionParser.parse(operand, budget))
        case "$covariancePop", "$covarianceSamp":
            return .covariance(
                try ExpressionParser.parse(operand, budget),
                isSample: name == "$covarianceSamp"
            )
        default:
            guard let kind = Accumulator.Kind(rawValue: name) else {
                throw .mongo(.failedToParse, "Unrecognized window function, \(name)")
            }
            return .accumulator(try parseAccumulator(kind, operand, budget))
        }
    }

    /// An accumulator; unlike in `$group`, an array is an operand like any other.
    private static func parseAccumulator(
        _ kind: Accumulator.Kind,
        _ operand: BSONValue,
        _ budget: ParseBudget
    ) throws(ServiceError) -> Accumulator {
        switch kind {
        case .sum, .average, .minimum, .maximum, .first, .last, .push, .addToSet, .mergeObjects,
            .standardDeviationPopulation, .standardDeviationSample, .concatArrays, .setUnion:
            return Accumulator(kind: kind, operand: try ExpressionParser.parse(operand, budget))
        case .count:
            guard case .document(let document) = operand, document.isEmpty else {
                throw .mongo(.failedToParse, "$count only accepts an empty object as an argument")
            }
            return Accumulator(kind: kind, operand: .literal(.null))
        default: return try GroupParser.parse(kind, operand, budget)
        }
    }

    private static func refuseWindow(_ name: String, _ hasWindow: Bool) throws(ServiceError) {
        if hasWindow { throw .mongo(.failedToParse, "\(name) does not accept a 'window' field") }
    }

    private static func parseRank(
        _ name: String,
        _ operand: BSONValue,
        sort: Sort?,
        hasWindow: Bool
    ) throws(ServiceError) -> WindowFunction {
        if hasWindow { throw .mongo(5_371_601, "Rank style window functions take no other arguments") }
        guard case .document(let document) = operand, document.isEmpty else {
            throw .mongo(5_371_603, "\(name) must be specified with '{}' as the value")
        }
        guard sort?.keys.count == 1 else {
            throw .mongo(
                5_371_602,
                "\(name) must be specified with a top level sortBy expression with exactly one element"
            )
        }
        return name == "$rank" ? .rank : name == "$denseRank" ? .denseRank : .documentNumber
    }

    private static func object(_ name: String, _ operand: BSONValue, _ names: [String]) throws(ServiceError)
        -> BSONDocument
    {
        guard case .document(let document) = operand else {
            throw .mongo(
                .failedToParse,
                "Argument to \(name) must be an object; found \(known: TypeName.of(operand))"
            )
        }
        for field in document where !names.contains(field.key) {
            throw .mongo(.failedToParse, "\(name) got unexpected argument: \(field.key)")
        }
        return document
    }

    private static func parseShift(
        _ operand: BSONValue,
        _ sort: Sort?,
        _ budget: ParseBudget
    ) throws(ServiceError) -> WindowFunction {
        let document = try object("$shift", operand, ["output", "by", "default"])
        guard sort != nil else { throw .mongo(.failedToParse, "$shift requires a sortBy") }
        guard let output = document["output"] else {
            throw .mongo(.failedToParse, "$shift requires an 'output' expression.")
        }
        guard let by = document["by"] else {
            throw .mongo(.failedToParse, "$shift requires 'by' as an integer value.")
        }
        guard let distance = NumericValue(by)?.exactInt32 else {
            throw .mongo(
                .failedToParse,
                "'$shift:by' field must be an integer, but found \(MessageText.of(by))"
            )
        }
        var fallback = BSONValue.null
        if let value = document["default"] {
            let expression = try ExpressionParser.parse(value, budget)
            guard expression.isConstant else {
                throw .mongo(.failedToParse, "'$shift:default' expression must yield a constant value.")
            }
            fallback = try expression.evaluate(BSONDocument(), EvaluationContext(now: 0)) ?? .null
        }
        return .shift(try ExpressionParser.parse(output, budget), by: Int(distance), fallback: fallback)
    }

    private static func parseMovingAverage(
        _ operand: BSONValue,
        _ sort: Sort?,
        _ budget: ParseBudget
    ) throws(ServiceError) -> WindowFunction {
        let document = try object("$expMovingAvg", operand, ["input", "N", "alpha"])
        guard sort != nil else {
            throw .mongo(.failedToParse, "$expMovingAvg requires an explicit 'sortBy'")
        }
        guard let input = document["input"] else {
            throw .mongo(.failedToParse, "$expMovingAvg sub object must have an 'input' field")
        }
        let count = document["N"]
        let weight = document["alpha"]
        guard (count == nil) != (weight == nil) else {
            throw .mongo(.failedToParse, "$expMovingAvg sub object must have exactly one of 'N' and 'alpha'")
        }
        let expression = try ExpressionParser.parse(input, budget)
        if let count {
            guard let number = NumericValue(count), let whole = number.exactInt64 else {
                throw .mongo(
                    .failedToParse,
                    "'N' field must be an integer, but found \(MessageText.of(count))"
                )
            }
            guard whole > 0, whole < Int64.max else {
                throw .mongo(.failedToParse, "'N' must be greater than zero. Got \(String(whole))")
            }
            return .movingAverage(expression, alpha: Decimal128(Int64(2)) / Decimal128(whole + 1))
        }
        guard let number = NumericValue(weight), !number.isNaN else {
            throw .mongo(.failedToParse, "'alpha' must be a number")
        }
        guard number.doubleValue > 0, number.doubleValue < 1 else {
            throw .mongo(
                .failedToParse,
                "'alpha' must be between 0 and 1 (exclusive), found alpha: \(number.text)"
            )
        }
        return .movingAverage(expression, alpha: number.decimalValue)
    }

    private static func parseRate(
        _ name: String,
        _ operand: BSONValue,
        sort: Sort?,
        hasWindow: Bool,
        _ budget: ParseBudget
    ) throws(ServiceError) -> WindowFunction {
        let document = try object(name, operand, ["input", "unit"])
        guard let input = document["input"] else {
            throw .mongo(.failedToParse, "\(name) requires an 'input' expression")
        }
        var unit: Int64?
        if let value = document["unit"] {
            guard case .string(let text) = value, let parsed = DateUnit(rawValue: text) else {
                throw .mongo(.failedToParse, "unknown time unit value in \(name)")
            }
            guard let milliseconds = parsed.rateMilliseconds else {
                throw .mongo(
                    5_490_704,
                    "unit must be 'week' or smaller"
                )
            }
            unit = milliseconds
        }
        guard sort?.keys.count == 1 else {
            throw .mongo(.failedToParse, "\(name) requires a sortBy with a single field")
        }
        let expression = try ExpressionParser.parse(input, budget)
        if name == "$integral" { return .integral(expression, unit: unit) }
        guard hasWindow else { throw .mongo(.failedToParse, "$derivative requires explicit window bounds") }
        return .derivative(expression, unit: unit)
    }
}

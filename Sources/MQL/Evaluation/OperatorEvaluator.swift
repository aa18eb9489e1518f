import BSON
import Errors

/// Evaluates operators for one document.
///
/// The families stand in the extensions of this type.
struct OperatorEvaluator {
    let root: BSONDocument
    let context: EvaluationContext

    /// An operator with operands by position.
    func evaluate(_ op: ExpressionOperator, _ operands: [AggregationExpression]) throws(ServiceError)
        -> BSONValue?
    {
        switch op {
        case .and:
            for operand in operands where !(try value(operand)?.isTruthy ?? false) { return .bool(false) }
            return .bool(true)
        case .or:
            // MongoDB looks at constants first.
            if operands.contains(where: \.isTrueLiteral) { return .bool(true) }
            for operand in operands where try value(operand)?.isTruthy ?? false { return .bool(true) }
            return .bool(false)
        case .not: return .bool(!(try value(operands[0])?.isTruthy ?? false))
        case .condition:
            return try value(operands[0])?.isTruthy ?? false ? value(operands[1]) : value(operands[2])
        case .ifNull:
            for operand in operands.dropLast() {
                if let result = try value(operand), !result.isNullish { return result }
            }
            return try value(operands[operands.count - 1])
        case .random: return .double(context.random.nextUnit())
        default: break
        }
        var values: [BSONValue?] = []
        values.reserveCapacity(operands.count)
        for operand in operands { values.append(try value(operand)) }
        try context.meter.spend(values.count)
        let result = try evaluate(op, values: values)
        // Long texts cost what they weigh: repeated concatenation would copy without being counted.
        if case .string(let text)? = result { try context.meter.spend(text.utf8.count >> 5) }
        return result
    }

    func value(_ expression: AggregationExpression) throws(ServiceError) -> BSONValue? {
        try expression.evaluate(root, context)
    }
}

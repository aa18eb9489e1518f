import BSON
import Errors

// MongoDB computes what depends on no document before it looks at one: an error in it shows also where there is none,
// and in operands that no document would ever reach.
extension AggregationExpression {
    /// What all constants of an expression may cost; what takes longer is left to the documents.
    private static let steps = 10_000

    /// Whether it is a constant that holds.
    var isTrueLiteral: Bool {
        if case .literal(let value) = self { value.isTruthy } else { false }
    }

    /// Evaluates the constant parts.
    ///
    /// - Throws: ``ServiceError`` of a part that fails.
    func checkConstants() throws(ServiceError) {
        try checkConstants(EvaluationContext(now: 0, meter: EvaluationMeter(limit: Self.steps)))
    }

    private func checkConstants(_ context: EvaluationContext) throws(ServiceError) {
        switch self {
        case .literal, .path, .variable: return
        case .choose(let branches, let otherwise):
            try otherwise?.checkConstants(context)
            for branch in branches {
                switch try branch.condition.decided(context) {
                case true?: return try branch.result.checkConstants(context)
                case false?: continue
                case nil: try branch.result.checkConstants(context)
                }
            }
        case .call(.condition, let operands) where operands.count == 3:
            switch try operands[0].decided(context) {
            case true?: try operands[1].checkConstants(context)
            case false?: try operands[2].checkConstants(context)
            case nil:
                try operands[1].checkConstants(context)
                try operands[2].checkConstants(context)
            }
        case .call, .namedCall:
            for child in children { try child.checkConstants(context) }
            if isConstant { _ = try constantValue(context) }
        case .document, .array, .bind, .map, .filter, .reduce:
            for child in children { try child.checkConstants(context) }
        }
    }

    /// Whether a condition holds, where that is known.
    private func decided(_ context: EvaluationContext) throws(ServiceError) -> Bool? {
        try checkConstants(context)
        guard isConstant, let value = try constantValue(context) else { return nil }
        return value?.isTruthy ?? false
    }

    /// The value of a constant; nil when it takes too long, `.some(nil)` when it is missing.
    private func constantValue(_ context: EvaluationContext) throws(ServiceError) -> BSONValue?? {
        do throws(ServiceError) {
            return .some(try evaluate(BSONDocument(), context))
        } catch {
            if error.serverCode == .maxTimeMSExpired { return nil }
            throw error
        }
    }
}

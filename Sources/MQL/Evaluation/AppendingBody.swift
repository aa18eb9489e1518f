import BSON
import Errors

/// A body of `$reduce` that only appends to `$$value`: `{$concat: ["$$value", …]}` or the like for arrays.
///
/// Such a body is run in place. Evaluated like any other it would copy the whole value for each element, and
/// the time would grow with the square of the result.
struct AppendingBody {
    private enum Kind {
        case text
        case array
    }

    private let kind: Kind
    private let operands: ArraySlice<AggregationExpression>
    /// What the array so far weighs; nil before it has been looked at.
    private var weight: Int?

    /// Nil for any other body.
    init?(_ body: AggregationExpression) {
        guard case .call(let op, let operands) = body, case .variable("value", let path)? = operands.first,
            path.isEmpty, !operands.dropFirst().contains(where: { $0.mentionsValue })
        else { return nil }
        switch op {
        case .concat: kind = .text
        case .concatArrays: kind = .array
        default: return nil
        }
        self.operands = operands.dropFirst()
    }

    /// Appends what one element gives.
    ///
    /// - Returns: False, with nothing changed, where values are not of the one type that can be appended.
    mutating func append(
        to result: inout BSONValue?,
        _ root: BSONDocument,
        _ context: EvaluationContext
    ) throws(ServiceError) -> Bool {
        switch (kind, result) {
        case (.text, .string(var text)?):
            var pieces: [String] = []
            for operand in operands {
                guard case .string(let piece)? = try operand.evaluate(root, context) else { return false }
                pieces.append(piece)
            }
            // The only reference to the text, so that it grows where it is.
            result = nil
            for piece in pieces {
                try ValueSize.checkText(text.utf8.count + piece.utf8.count)
                try context.meter.spend(piece.utf8.count >> 5)
                text += piece
            }
            result = .string(text)
            return true
        case (.array, .array(var elements)?):
            var pieces: [[BSONValue]] = []
            for operand in operands {
                guard case .array(let piece)? = try operand.evaluate(root, context) else { return false }
                pieces.append(piece)
            }
            var total = weight ?? ValueSize.of(.array(elements))
            result = nil
            for piece in pieces {
                let size = ValueSize.of(.array(piece))
                try ValueSize.checkDepth(.array(piece))
                try context.meter.spend(piece.count + size >> 5)
                total += size
                guard total <= ValueSize.maximum else { throw ValueSize.tooLarge }
                elements += piece
            }
            weight = total
            result = .array(elements)
            return true
        default: return false
        }
    }
}

extension AggregationExpression {
    /// Whether a variable of the name `value` is read anywhere inside.
    fileprivate var mentionsValue: Bool {
        if case .variable("value", _) = self { return true }
        return children.contains(where: \.mentionsValue)
    }
}

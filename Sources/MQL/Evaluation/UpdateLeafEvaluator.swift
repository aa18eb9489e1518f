import BSON
import Errors

/// Applies one operator to one value.
struct UpdateLeafEvaluator {
    /// For messages.
    let root: BSONDocument
    let path: [String]
    let context: EvaluationContext

    /// The value afterwards; nil is a missing one, before and after.
    func apply(_ leaf: UpdateNode.Leaf, to value: BSONValue?) throws(ServiceError) -> BSONValue? {
        switch leaf {
        case .renamedAway: nil
        case .renamedHere(let moved): moved ?? value
        case .action(let action): try apply(action, to: value)
        }
    }

    private func apply(_ action: UpdateAction, to value: BSONValue?) throws(ServiceError) -> BSONValue? {
        switch action {
        case .set(let new), .setOnInsert(let new): return new
        // A rename is two leaves of its own.
        case .unset, .rename: return nil
        case .increment(let operand):
            guard let value else { return operand }
            guard let sum = UpdateArithmetic.add(try number(value, "$inc"), operand) else {
                throw overflow("$inc", value)
            }
            return unlessSame(sum, value)
        case .multiply(let operand):
            let factor = try number(value ?? .int32(0), "$mul")
            guard let product = UpdateArithmetic.multiply(factor, operand) else {
                throw overflow("$mul", factor)
            }
            return value.map { unlessSame(product, $0) } ?? product
        case .minimum(let new):
            guard let value else { return new }
            return context.compare(new, value) < 0 ? new : value
        case .maximum(let new):
            guard let value else { return new }
            return context.compare(new, value) > 0 ? new : value
        case .currentDate(let type):
            return now(type)
        case .push(let arguments):
            return .array(try ArrayUpdates.push(arguments, to: try array(value) ?? [], context))
        case .addToSet(let elements):
            return .array(ArrayUpdates.addToSet(elements, to: try array(value) ?? [], context))
        case .pop(let end):
            guard let value else { return nil }
            guard case .array(var elements) = value else {
                throw .mongo(
                    .typeMismatch,
                    "Path '\(dotted)' contains an element of non-array type '\(known: TypeName.of(value))'"
                )
            }
            if !elements.isEmpty {
                if end == .last { elements.removeLast() } else { elements.removeFirst() }
            }
            return .array(elements)
        case .pull(let condition):
            guard let elements = try array(value) else { return nil }
            return .array(try ArrayUpdates.pull(condition, from: elements, context))
        case .pullAll(let unwanted):
            guard let elements = try array(value) else { return nil }
            return .array(ArrayUpdates.pullAll(unwanted, from: elements, context))
        case .bit(let operations):
            return try bit(operations, value)
        }
    }

    /// The result of a calculation, or the value as it was where that is the same number of the same type: `-0.0`
    /// stays when 0.0 is added.
    private func unlessSame(_ result: BSONValue, _ value: BSONValue) -> BSONValue {
        TypeName.of(result) == TypeName.of(value) && BSONOrdering.equal(result, value) ? value : result
    }

    private func now(_ type: CurrentDateType) -> BSONValue {
        switch type {
        case .date: return .date(context.now)
        case .timestamp:
            let seconds = UInt32(clamping: context.now / 1000)
            return .timestamp(BSONTimestamp(seconds: seconds, increment: 1))
        }
    }

    private func bit(_ operations: [BitOperation], _ value: BSONValue?) throws(ServiceError) -> BSONValue {
        var result = value ?? .int32(0)
        for operation in operations {
            guard let combined = UpdateArithmetic.combine(result, operation) else {
                throw .mongo(
                    .badValue,
                    "Cannot apply $bit to a value of non-integral type.\(identity) has the field \(path.last ?? "") of non-integer type \(known: TypeName.of(result))"
                )
            }
            result = combined
        }
        return result
    }

    private func number(_ value: BSONValue, _ name: String) throws(ServiceError) -> BSONValue {
        guard value.isNumber else {
            throw .mongo(
                .typeMismatch,
                "Cannot apply \(name) to a value of non-numeric type. \(identity) has the field '\(path.last ?? "")' of non-numeric type \(known: TypeName.of(value))"
            )
        }
        return value
    }

    /// The elements of an array; nil for a missing field.
    private func array(_ value: BSONValue?) throws(ServiceError) -> [BSONValue]? {
        guard let value else { return nil }
        guard case .array(let elements) = value else {
            throw .mongo(
                .badValue,
                "The field '\(dotted)' must be an array but is of type \(known: TypeName.of(value)) in document \(identity)"
            )
        }
        return elements
    }

    private func overflow(_ name: String, _ value: BSONValue) -> ServiceError {
        .mongo(
            .badValue,
            "Failed to apply \(name) operations to current value (\(MongoShellText.describe(value))) for document \(identity)"
        )
    }

    private var dotted: String { path.joined(separator: ".") }

    /// How messages name the document: `{_id: 1}`.
    private var identity: String { "{_id: \(MongoShellText.describe(root["_id"] ?? .null))}" }
}

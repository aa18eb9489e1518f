import BSON
import Errors

/// `$map`, `$filter` and `$reduce`.
struct LoopEvaluator {
    let root: BSONDocument
    let context: EvaluationContext

    /// `{$map: {input, as, in}}`; missing results become null.
    func map(_ input: AggregationExpression, _ name: String, _ body: AggregationExpression)
        throws(ServiceError) -> BSONValue
    {
        let value = try input.evaluate(root, context)
        guard let value, !value.isNullish else { return .null }
        guard case .array(let elements) = value else {
            throw .mongo(16883, "input to $map must be an array not \(known: TypeName.of(value))")
        }
        var inner = context
        let slot = inner.depth
        inner.bind(name, to: nil)
        var results: [BSONValue] = []
        results.reserveCapacity(elements.count)
        var size = ValueSize.Sum(context.meter)
        for element in elements {
            try context.meter.spend()
            inner.rebind(slot, to: element)
            let result = try body.evaluate(root, inner) ?? .null
            try size.add(result)
            results.append(result)
        }
        return .array(results)
    }

    /// The elements that satisfy a condition: `{$filter: {input, as, cond, limit}}`.
    func filter(
        _ input: AggregationExpression,
        _ name: String,
        _ condition: AggregationExpression,
        _ limit: AggregationExpression?
    ) throws(ServiceError) -> BSONValue {
        let value = try input.evaluate(root, context)
        guard let value, !value.isNullish else { return .null }
        guard case .array(let elements) = value else {
            throw .mongo(28651, "input to $filter must be an array not \(known: TypeName.of(value))")
        }
        let most = try limit.map { (limit) throws(ServiceError) in try bound(limit) } ?? nil
        var inner = context
        let slot = inner.depth
        inner.bind(name, to: nil)
        var results: [BSONValue] = []
        for element in elements {
            if let most, results.count >= most { break }
            try context.meter.spend()
            inner.rebind(slot, to: element)
            if try condition.evaluate(root, inner)?.isTruthy ?? false { results.append(element) }
        }
        return .array(results)
    }

    /// The `limit` of `$filter`; null is no limit.
    private func bound(_ limit: AggregationExpression) throws(ServiceError) -> Int? {
        let value = try limit.evaluate(root, context)
        guard let value, !value.isNullish else { return nil }
        guard let count = NumericValue(value)?.exactInt32 else {
            throw .mongo(
                327_391,
                "$filter: limit must be represented as a 32-bit integral value: \(MessageText.of(value))"
            )
        }
        if count < 1 { throw .mongo(327_392, "$filter: limit must be greater than 0: \(count)") }
        return Int(count)
    }

    /// Folds an array into one value: `{$reduce: {input, initialValue, in}}`.
    func reduce(
        _ input: AggregationExpression,
        _ initial: AggregationExpression,
        _ body: AggregationExpression
    ) throws(ServiceError) -> BSONValue? {
        let value = try input.evaluate(root, context)
        guard let value, !value.isNullish else { return .null }
        guard case .array(let elements) = value else {
            throw .mongo(
                40080,
                "$reduce requires that 'input' be an array, found: \(known: TypeName.of(value))"
            )
        }
        let deepens = body.deepens
        var inner = context
        let this = inner.depth
        inner.bind("this", to: nil)
        let slot = inner.depth
        var result = try initial.evaluate(root, context)
        inner.bind("value", to: result)
        var appending = AppendingBody(body)
        for (index, element) in elements.enumerated() {
            try context.meter.spend()
            inner.rebind(this, to: element)
            inner.rebind(slot, to: nil)
            if try appending?.append(to: &result, root, inner) == true { continue }
            inner.rebind(slot, to: result)
            result = try body.evaluate(root, inner)
            // A body can nest the value once more with every element; checked before it is deep
            // enough to exhaust the stack.
            if deepens, index & 7 == 7, let result { try ValueSize.checkDepth(result) }
        }
        if deepens, let result { try ValueSize.checkDepth(result) }
        return result
    }
}

extension BSONValue {
    /// Whether this is null or undefined, which expressions treat alike.
    var isNullish: Bool {
        switch self {
        case .null, .undefined: true
        default: false
        }
    }
}

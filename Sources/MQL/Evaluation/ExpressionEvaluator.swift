public import BSON
public import Errors

extension AggregationExpression {
    /// The value of the expression for one document.
    ///
    /// - Parameters:
    ///   - root: The document that paths start from, and `$$ROOT`.
    ///   - context: The time, bound variables, and what may be spent.
    /// - Returns: Nil for a missing value.
    /// - Throws: ``ServiceError`` with MongoDB's code when an operator refuses a value.
    public func evaluate(_ root: BSONDocument, _ context: EvaluationContext) throws(ServiceError)
        -> BSONValue?
    {
        switch self {
        case .literal(let value): return value
        case .path(let path):
            guard let current = context.current else {
                return ExpressionLookup.value(of: path.components[...], in: root)
            }
            return ExpressionLookup.value(of: path.components[...], in: current)
        case .variable(let name, let path):
            guard let value = try ExpressionLookup.variable(name, root, context) else { return nil }
            return path.isEmpty ? value : ExpressionLookup.value(of: path[...], in: value)
        case .document(let fields):
            return try evaluateDocument(fields, root, context)
        case .array(let elements):
            var values: [BSONValue] = []
            values.reserveCapacity(elements.count)
            var size = ValueSize.Sum(context.meter)
            for element in elements {
                let value = try element.evaluate(root, context) ?? .null
                try size.add(value)
                values.append(value)
            }
            return .array(values)
        case .call(let op, let operands):
            return try OperatorEvaluator(root: root, context: context).evaluate(op, operands)
        case .namedCall(let op, let operands):
            return try OperatorEvaluator(root: root, context: context).evaluate(op, named: operands)
        case .bind(let variables, in: let body):
            var inner = context
            for variable in variables {
                inner.bind(variable.name, to: try variable.expression.evaluate(root, context))
            }
            return try body.evaluate(root, inner)
        case .map(let input, let name, let body):
            return try LoopEvaluator(root: root, context: context).map(input, name, body)
        case .filter(let input, let name, let condition, let limit):
            return try LoopEvaluator(root: root, context: context).filter(input, name, condition, limit)
        case .reduce(let input, let initial, let body):
            return try LoopEvaluator(root: root, context: context).reduce(input, initial, body)
        case .choose(let branches, let otherwise):
            for branch in branches
            where try branch.condition.evaluate(root, context)?.isTruthy ?? false {
                return try branch.result.evaluate(root, context)
            }
            if let otherwise { return try otherwise.evaluate(root, context) }
            // MongoDB finds constant branches out before it runs, under a code of its own.
            let constant = branches.allSatisfy { $0.condition.isConstant }
            throw .mongo(
                constant ? 40069 : 40066,
                constant
                    ? "Cannot execute a switch statement where all the cases evaluate to false without a default."
                    : "$switch could not find a matching branch for an input, and no default was specified."
            )
        }
    }

    /// An object of expressions; missing values leave their field out.
    private func evaluateDocument(
        _ fields: [NamedExpression],
        _ root: BSONDocument,
        _ context: EvaluationContext
    ) throws(ServiceError) -> BSONValue {
        var document = BSONDocument()
        document.fields.reserveCapacity(fields.count)
        var size = ValueSize.Sum(context.meter)
        for field in fields {
            guard let value = try field.expression.evaluate(root, context) else { continue }
            try size.add(value)
            document.append(field.name, value)
        }
        return .document(document)
    }
}

/// Paths and variables of expressions.
enum ExpressionLookup {
    /// The value at a path: arrays on the way map the rest over their elements that are objects;
    /// numbers are names.
    static func value(of path: ArraySlice<String>, in document: BSONDocument) -> BSONValue? {
        guard let first = path.first, let value = document[first] else { return nil }
        return self.value(of: path.dropFirst(), in: value)
    }

    static func value(of path: ArraySlice<String>, in value: BSONValue) -> BSONValue? {
        if path.isEmpty { return value }
        switch value {
        case .document(let document): return self.value(of: path, in: document)
        case .array(let elements):
            return .array(
                elements.compactMap { element in
                    element.document.flatMap { self.value(of: path, in: $0) }
                }
            )
        default: return nil
        }
    }

    /// A variable's value; nil when it is missing.
    static func variable(_ name: String, _ root: BSONDocument, _ context: EvaluationContext)
        throws(ServiceError) -> BSONValue?
    {
        if let value = context.variable(name) { return value }
        switch name {
        case "ROOT": return .document(root)
        case "CURRENT": return context.current ?? .document(root)
        case "NOW": return .date(context.now)
        case ExpressionScope.clusterTime:
            return .timestamp(BSONTimestamp(seconds: UInt32(clamping: context.now / 1000), increment: 1))
        case "REMOVE": return nil
        case "DESCEND", "PRUNE", "KEEP": return .string(name.lowercased())
        default: throw .mongo(17276, "Use of undefined variable: \(name)")
        }
    }
}

import BSON
import Errors

/// The fields of `$addFields` and `$set`.
enum FieldAssignments {
    /// Reads `{a: …, "b.c": …, d: {e: …}}` into paths with expressions, in order.
    ///
    /// An object that is no operator assigns each of its fields; an empty one is a value.
    ///
    /// - Throws: ``ServiceError`` with server code 40272, 40176 or that of a bad path.
    static func parse(_ operand: BSONValue, stage: String, _ budget: ParseBudget) throws(ServiceError)
        -> [(path: FieldPath, expression: AggregationExpression)]
    {
        guard case .document(let document) = operand else {
            throw .mongo(
                40272,
                "\(stage) specification stage must be an object, got \(known: TypeName.of(operand))"
            )
        }
        var assignments: [(path: FieldPath, expression: AggregationExpression)] = []
        try collect(document, under: [], depth: 0, into: &assignments, budget)
        try budget.checkFields(assignments.count)
        try checkCollisions(assignments.map(\.path))
        return assignments
    }

    private static func collect(
        _ document: BSONDocument,
        under prefix: [String],
        depth: Int,
        into assignments: inout [(path: FieldPath, expression: AggregationExpression)],
        _ budget: ParseBudget
    ) throws(ServiceError) {
        if depth > ExpressionScope.maximumDepth {
            throw .mongo(.overflow, "The specification is nested too deeply")
        }
        for field in document {
            if !prefix.isEmpty, field.key.utf8.contains(UInt8(ascii: ".")) {
                throw .mongo(
                    40183,
                    "FieldPath field names may not contain '.' in a nested object: '\(field.key)'"
                )
            }
            let path = prefix + (try ExpressionPath.components(field.key))
            guard path.count <= ExpressionPath.maximumComponents else {
                throw .mongo(.overflow, "FieldPath is too long")
            }
            if case .document(let nested) = field.value, nested.count > 1,
                nested.firstKey?.startsWithDollar == true
            {
                throw .mongo(
                    40181,
                    "an expression specification must contain exactly one field, the name of the expression"
                )
            }
            if case .document(let nested) = field.value, let key = nested.firstKey,
                key.utf8.first != UInt8(ascii: "$")
            {
                if nested.keys.contains(where: { $0.utf8.first == UInt8(ascii: "$") }) {
                    throw .mongo(
                        40181,
                        "an expression specification must contain exactly one field, the name of the expression"
                    )
                }
                try collect(nested, under: path, depth: depth + 1, into: &assignments, budget)
            } else {
                assignments.append(
                    (FieldPath(components: path), try ExpressionParser.parseChecked(field.value, budget))
                )
            }
        }
    }

    /// Refuses two paths where one is, or lies above, the other.
    ///
    /// - Throws: ``ServiceError`` with server code 40176.
    static func checkCollisions(_ paths: [FieldPath]) throws(ServiceError) {
        guard let collision = PathCollision(in: paths) else { return }
        throw .mongo(
            40176,
            "specification contains two conflicting paths. Cannot specify both '\(collision.child.dotted)' and '\(collision.parent.dotted)'"
        )
    }
}

/// Two paths of which one is, or lies above, the other; names are compared by their bytes.
struct PathCollision {
    let parent: FieldPath
    let child: FieldPath
    /// Whether the child was written after its parent.
    let childIsLater: Bool

    /// The first collision among paths, or nil.
    init?(in paths: [FieldPath]) {
        let sorted = paths.enumerated().sorted { Self.order($0.element, $1.element) < 0 }
        for (first, second) in zip(sorted, sorted.dropFirst())
        where Self.isPrefix(first.element, of: second.element) {
            parent = first.element
            child = second.element
            childIsLater =
                first.offset < second.offset
                && first.element.components.count < second.element.components.count
            return
        }
        return nil
    }

    private static func isPrefix(_ first: FieldPath, of second: FieldPath) -> Bool {
        first.components.count <= second.components.count
            && zip(first.components, second.components).allSatisfy { TextOrder.equal($0, $1) }
    }

    private static func order(_ first: FieldPath, _ second: FieldPath) -> Int {
        for (left, right) in zip(first.components, second.components) {
            let order = TextOrder.compare(left, right)
            if order != 0 { return order }
        }
        return first.components.count - second.components.count
    }
}

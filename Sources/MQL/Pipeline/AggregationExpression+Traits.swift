/// What can be known of an expression without a document.
extension AggregationExpression {
    /// The expressions directly below.
    var children: [AggregationExpression] {
        switch self {
        case .literal, .path, .variable: []
        case .document(let fields): fields.map(\.expression)
        case .array(let elements): elements
        case .call(_, let operands): operands
        case .namedCall(_, let operands): operands.map(\.expression)
        case .bind(let variables, in: let body): variables.map(\.expression) + [body]
        case .map(let input, _, let body): [input, body]
        case .filter(let input, _, let condition, let limit): [input, condition] + (limit.map { [$0] } ?? [])
        case .reduce(let input, let initial, let body): [input, initial, body]
        case .choose(let branches, let otherwise):
            branches.flatMap { [$0.condition, $0.result] } + (otherwise.map { [$0] } ?? [])
        }
    }

    /// Whether the value is the same for every document and every evaluation.
    var isConstant: Bool {
        switch self {
        case .path, .variable, .call(.random, _): false
        default: children.allSatisfy(\.isConstant)
        }
    }

    /// Whether the value may be nested deeper than the values it is made of, so that repetition
    /// could nest without end.
    var deepens: Bool {
        switch self {
        case .document, .array, .map: true
        case .call(let op, let operands):
            switch op {
            case .objectToArray, .split, .range: true
            default: operands.contains(where: \.deepens)
            }
        case .namedCall(let op, let operands):
            switch op {
            case .setField, .zip: true
            default: operands.contains(where: \.expression.deepens)
            }
        default: children.contains(where: \.deepens)
        }
    }
}

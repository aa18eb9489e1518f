public import BSON

/// The tree of an aggregation expression.
///
/// Source: `reference/mql.md` §9.
public indirect enum AggregationExpression: Sendable, Hashable {
    /// A constant, also `{$literal: …}`.
    case literal(BSONValue)
    /// `"$a.b"`: a path of `$$CURRENT`.
    case path(FieldPath)
    /// `"$$name.a.b"`; `ROOT`, `CURRENT`, `NOW`, `REMOVE` or a user's variable.
    case variable(String, path: [String])
    /// `{a: …, b: …}`
    case document([NamedExpression])
    /// `[…, …]`
    case array([AggregationExpression])
    /// An operator with its operands by position: `{$add: [a, b]}`.
    case call(ExpressionOperator, [AggregationExpression])
    /// An operator with its operands by name: `{$dateToString: {date: …, format: …}}`.
    case namedCall(ExpressionOperator, [NamedExpression])
    /// `{$let: {vars: …, in: …}}`
    case bind([NamedExpression], in: AggregationExpression)
    /// `{$map: {input, as, in}}`
    case map(input: AggregationExpression, name: String, body: AggregationExpression)
    /// `{$filter: {input, as, cond, limit}}`
    case filter(
        input: AggregationExpression,
        name: String,
        condition: AggregationExpression,
        limit: AggregationExpression?
    )
    /// `{$reduce: {input, initialValue, in}}`
    case reduce(
        input: AggregationExpression,
        initial: AggregationExpression,
        body: AggregationExpression
    )
    /// `{$switch: {branches, default}}`; `{$cond: …}` is a `call`.
    case choose([ExpressionBranch], otherwise: AggregationExpression?)
}

/// An expression under a name: a field of a document, a variable, an operand.
public struct NamedExpression: Sendable, Hashable {
    /// The key as written, without `$`.
    public let name: String
    /// What gives the value.
    public let expression: AggregationExpression

    /// Made of its parts.
    public init(name: String, expression: AggregationExpression) {
        self.name = name
        self.expression = expression
    }
}

/// One branch of `$switch`: `{case, then}`.
public struct ExpressionBranch: Sendable, Hashable {
    /// `case`: when it is true, no later branch is looked at.
    public let condition: AggregationExpression
    /// `then`: the value of the whole.
    public let result: AggregationExpression

    /// Made of its parts.
    public init(condition: AggregationExpression, result: AggregationExpression) {
        self.condition = condition
        self.result = result
    }
}

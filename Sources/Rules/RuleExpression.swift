/// A permission, an `apply_when` or a `validate`: a condition on the caller and the document.
///
/// It is true, false or unknown. Unknown comes from a missing expansion or a failed conversion, and
/// stays unknown under every negation, so that nobody is let in by what is not there: with no
/// custom data, `{"owner": {"$ne": "%%user.custom_data.x"}}` is unknown, and unknown is not true.
/// Source: `rules.md` §8.
public indirect enum RuleExpression: Sendable, Hashable {
    /// `true`, `{}`, `"%%false"`
    case constant(Bool)
    /// `{a: 1, b: 2}`, `{"%and": […]}`
    case all([RuleExpression])
    /// `{"%or": […]}`
    case any([RuleExpression])
    /// `{"%not": {…}}`; `%nor` is the negation of ``any(_:)``.
    case not(RuleExpression)
    /// `{"owner": "%%user.id"}`, `{"%%user.id": {"$in": […]}}`
    case comparison(Expansion, RuleTest)
    /// What a faulty expression parses to: never true.
    case refused
}

/// What is asked of the left-hand side.
public indirect enum RuleTest: Sendable, Hashable {
    /// `{$eq: x}` and the plain value; `$ne` is its negation. Equality with an array that an
    /// expansion gave is membership.
    case equal(RuleOperand)
    case greater(RuleOperand)
    case greaterOrEqual(RuleOperand)
    case less(RuleOperand)
    case lessOrEqual(RuleOperand)
    /// `{$in: […]}`; `$nin` is its negation.
    case inside(RuleOperand)
    /// `{$exists: true}`: the one test that a missing left-hand side may pass.
    case exists(Bool)
    /// `{$all: […]}`
    case allOf(RuleOperand)
    /// `{$gt: 0, $lte: 42}`, `{"%and": […]}`
    case all([RuleTest])
    case any([RuleTest])
    case not(RuleTest)
}

extension RuleExpression {
    /// The value when it is the same for every caller and document.
    public var literal: Bool? {
        if case .constant(let value) = self { value } else { nil }
    }

    /// Every expansion in it, left and right, with repetitions.
    public var expansions: [Expansion] {
        switch self {
        case .constant, .refused: []
        case .all(let members), .any(let members): members.flatMap(\.expansions)
        case .not(let member): member.expansions
        case .comparison(let left, let test): [left] + test.expansions
        }
    }

    /// The functions that it asks, with repetitions.
    public var functionNames: [String] {
        switch self {
        case .constant, .refused: []
        case .all(let members), .any(let members): members.flatMap(\.functionNames)
        case .not(let member): member.functionNames
        case .comparison(_, let test): test.functionNames
        }
    }

    /// The document values in it.
    var imageReferences: [ImageReference] { expansions.compactMap(\.imageReference) }
}

extension RuleTest {
    var expansions: [Expansion] {
        switch self {
        case .equal(let operand), .greater(let operand), .greaterOrEqual(let operand), .less(let operand),
            .lessOrEqual(let operand), .inside(let operand), .allOf(let operand):
            operand.expansions
        case .exists: []
        case .all(let tests), .any(let tests): tests.flatMap(\.expansions)
        case .not(let test): test.expansions
        }
    }

    var functionNames: [String] {
        switch self {
        case .equal(let operand), .greater(let operand), .greaterOrEqual(let operand), .less(let operand),
            .lessOrEqual(let operand), .inside(let operand), .allOf(let operand):
            operand.functionNames
        case .exists: []
        case .all(let tests), .any(let tests): tests.flatMap(\.functionNames)
        case .not(let test): test.functionNames
        }
    }
}

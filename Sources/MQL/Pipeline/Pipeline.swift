public import BSON

/// The stages of an aggregation, in order.
public struct Pipeline: Sendable {
    public var stages: [Stage]

    public init(stages: [Stage]) {
        self.stages = stages
    }
}

/// One stage. Source: `reference/mql.md` §8.
public enum Stage: Sendable {
    case match(Filter)
    case project(Projection)
    /// `$addFields`, `$set`: paths with their expressions, in order.
    case addFields([(path: FieldPath, expression: AggregationExpression)])
    case unset([FieldPath])
    case group(GroupArguments)
    case sort(Sort)
    case limit(Int)
    case skip(Int)
    case count(String)
    case unwind(UnwindArguments)
    case sortByCount(AggregationExpression)
    /// `$replaceRoot`, `$replaceWith`.
    case replaceRoot(AggregationExpression)
}

public struct GroupArguments: Sendable {
    public var id: AggregationExpression
    public var fields: [(name: String, accumulator: Accumulator)]

    public init(id: AggregationExpression, fields: [(name: String, accumulator: Accumulator)]) {
        self.id = id
        self.fields = fields
    }
}

public struct UnwindArguments: Sendable {
    public var path: FieldPath
    public var indexField: String?
    public var preservesEmpty: Bool

    public init(path: FieldPath, indexField: String? = nil, preservesEmpty: Bool = false) {
        self.path = path
        self.indexField = indexField
        self.preservesEmpty = preservesEmpty
    }
}

/// One accumulator of `$group` with its operand.
public struct Accumulator: Sendable {
    public enum Kind: String, Sendable, CaseIterable {
        case sum = "$sum"
        case average = "$avg"
        case minimum = "$min"
        case maximum = "$max"
        case first = "$first"
        case last = "$last"
        case push = "$push"
        case addToSet = "$addToSet"
        case count = "$count"
        case mergeObjects = "$mergeObjects"
        case standardDeviationPopulation = "$stdDevPop"
        case standardDeviationSample = "$stdDevSamp"
    }

    public let kind: Kind
    public let operand: AggregationExpression

    public init(kind: Kind, operand: AggregationExpression) {
        self.kind = kind
        self.operand = operand
    }
}

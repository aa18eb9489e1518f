/// One accumulator of `$group` or `$bucket` with its operands.
///
/// Source: `reference/mql.md` §8.1.
public struct Accumulator: Sendable {
    /// Which accumulator it is; the raw value is its name in a pipeline.
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
        case concatArrays = "$concatArrays"
        case setUnion = "$setUnion"
        case firstN = "$firstN"
        case lastN = "$lastN"
        case minimumN = "$minN"
        case maximumN = "$maxN"
        case top = "$top"
        case topN = "$topN"
        case bottom = "$bottom"
        case bottomN = "$bottomN"
        case median = "$median"
        case percentile = "$percentile"
    }

    /// What is done with the values of a group.
    public let kind: Kind
    /// What is evaluated on each document; `input` or `output` of the `…N` family.
    public let operand: AggregationExpression
    /// `n` of the `…N` family; it sees only the group's `_id` fields.
    public let limit: AggregationExpression?
    /// `sortBy` of `$top`, `$bottom` and their `N` forms.
    public let sort: Sort?
    /// The parts from 0 to 1 that `$percentile` asks for; one half for `$median`.
    public let percentiles: [Double]

    /// Made of its parts.
    public init(
        kind: Kind,
        operand: AggregationExpression,
        limit: AggregationExpression? = nil,
        sort: Sort? = nil,
        percentiles: [Double] = []
    ) {
        self.kind = kind
        self.operand = operand
        self.limit = limit
        self.sort = sort
        self.percentiles = percentiles
    }
}

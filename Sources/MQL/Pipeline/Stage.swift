public import BSON

/// One stage of a pipeline.
///
/// Source: `reference/mql.md` §8.
public indirect enum Stage: Sendable {
    /// `{$match: …}`
    case match(Filter)
    /// `{$project: …}`
    case project(Projection)
    /// `$addFields`, `$set`: paths with their expressions, in order.
    case addFields([(path: FieldPath, expression: AggregationExpression)])
    /// `{$unset: ["a", "b.c"]}`
    case unset([FieldPath])
    /// `{$group: {_id: …, total: {$sum: …}}}`
    case group(GroupArguments)
    /// `{$sort: …}`
    case sort(Sort)
    /// `{$limit: n}`, at least 1.
    case limit(Int)
    /// `{$skip: n}`, at least 0.
    case skip(Int)
    /// `{$count: "name"}`
    case count(String)
    /// `{$unwind: …}`
    case unwind(UnwindArguments)
    /// `{$sortByCount: …}`
    case sortByCount(AggregationExpression)
    /// `$replaceRoot`, `$replaceWith`.
    case replaceRoot(AggregationExpression)
    /// `{$sample: {size: n}}`, at least 1.
    case sample(Int)
    /// `{$bucket: …}`
    case bucket(BucketArguments)
    /// `{$bucketAuto: …}`
    case bucketAuto(BucketAutoArguments)
    /// `{$facet: {name: [stages], …}}`
    case facet([(name: String, pipeline: Pipeline)])
    /// `{$redact: …}`
    case redact(AggregationExpression)
    /// `{$setWindowFields: …}`
    case setWindowFields(WindowArguments)
    /// `{$densify: …}`
    case densify(DensifyArguments)
    /// `{$fill: …}`
    case fill(FillArguments)
    /// `{$documents: …}`: an array of objects that takes the place of a collection.
    case documents(AggregationExpression)
    /// `{$lookup: …}`
    case lookup(LookupArguments)
    /// `{$unionWith: …}`
    case unionWith(UnionArguments)
    /// `{$graphLookup: …}`
    case graphLookup(GraphLookupArguments)
    /// `{$merge: …}`, at the end alone.
    case merge(MergeArguments)
    /// `{$out: …}`, at the end alone: the target holds what came in, and nothing else.
    case out(OutputTarget)
}

extension Stage {
    /// Whether an update's pipeline may contain it.
    var isAllowedInUpdate: Bool {
        switch self {
        case .addFields, .unset, .project, .replaceRoot: true
        // With values alone it is `$addFields`.
        case .fill(let arguments): arguments.window == nil
        case .match, .group, .sort, .limit, .skip, .count, .unwind, .sortByCount, .sample, .bucket,
            .bucketAuto, .facet, .redact, .setWindowFields, .densify, .documents, .lookup, .unionWith,
            .graphLookup, .merge, .out:
            false
        }
    }

    /// The stage's name in a pipeline; of the names with the same meaning, the older one.
    public var name: String {
        switch self {
        case .match: "$match"
        case .project: "$project"
        case .addFields: "$addFields"
        case .unset: "$unset"
        case .group: "$group"
        case .sort: "$sort"
        case .limit: "$limit"
        case .skip: "$skip"
        case .count: "$count"
        case .unwind: "$unwind"
        case .sortByCount: "$sortByCount"
        case .replaceRoot: "$replaceRoot"
        case .sample: "$sample"
        case .bucket: "$bucket"
        case .bucketAuto: "$bucketAuto"
        case .facet: "$facet"
        case .redact: "$redact"
        case .setWindowFields: "$setWindowFields"
        case .densify: "$densify"
        case .fill: "$fill"
        case .documents: "$documents"
        case .lookup: "$lookup"
        case .unionWith: "$unionWith"
        case .graphLookup: "$graphLookup"
        case .merge: "$merge"
        case .out: "$out"
        }
    }
}

/// What `$group` groups by, and what it computes for each group.
public struct GroupArguments: Sendable {
    /// What documents of one group agree in; it becomes their `_id`.
    public var id: AggregationExpression
    /// What is computed for each group, in the order of the result.
    public var fields: [(name: String, accumulator: Accumulator)]

    /// Made of its parts.
    public init(id: AggregationExpression, fields: [(name: String, accumulator: Accumulator)]) {
        self.id = id
        self.fields = fields
    }
}

/// Which array `$unwind` opens, and how.
public struct UnwindArguments: Sendable {
    /// The array, by its path.
    public var path: FieldPath
    /// The dotted path that receives the element's index as a long.
    public var indexField: String?
    /// Whether documents without elements stay.
    public var preservesEmpty: Bool

    /// Made of its parts.
    public init(path: FieldPath, indexField: String? = nil, preservesEmpty: Bool = false) {
        self.path = path
        self.indexField = indexField
        self.preservesEmpty = preservesEmpty
    }
}

/// How `$bucket` divides documents: `{groupBy, boundaries, default, output}`.
public struct BucketArguments: Sendable {
    /// What is compared with the boundaries.
    public var groupBy: AggregationExpression
    /// Ascending constants of one type bracket, at least two.
    public var boundaries: [BSONValue]
    /// The `_id` of the bucket for everything outside; nil makes that an error.
    public var fallback: BSONValue?
    /// What is computed for each bucket, in the order of the result.
    public var fields: [(name: String, accumulator: Accumulator)]

    /// Made of its parts.
    public init(
        groupBy: AggregationExpression,
        boundaries: [BSONValue],
        fallback: BSONValue?,
        fields: [(name: String, accumulator: Accumulator)]
    ) {
        self.groupBy = groupBy
        self.boundaries = boundaries
        self.fallback = fallback
        self.fields = fields
    }
}

/// How `$bucketAuto` divides documents: `{groupBy, buckets, output}`.
public struct BucketAutoArguments: Sendable {
    /// What the documents are ordered and divided by.
    public var groupBy: AggregationExpression
    /// At most this many buckets, at least 1.
    public var buckets: Int
    /// The series that bounds are rounded to.
    public var granularity: Granularity?
    /// What is computed for each bucket, in the order of the result.
    public var fields: [(name: String, accumulator: Accumulator)]

    /// Made of its parts.
    public init(
        groupBy: AggregationExpression,
        buckets: Int,
        granularity: Granularity? = nil,
        fields: [(name: String, accumulator: Accumulator)]
    ) {
        self.groupBy = groupBy
        self.buckets = buckets
        self.granularity = granularity
        self.fields = fields
    }
}

public import BSON

/// Which fields a result shows. Source: `reference/mql.md` §5.
public struct Projection: Sendable {
    public enum Mode: Sendable {
        case inclusion
        case exclusion
    }

    public enum Item: Sendable {
        /// Keep (inclusion mode) or drop (exclusion mode) the path.
        case path(FieldPath)
        /// A computed field.
        case computed(FieldPath, AggregationExpression)
        /// `{$slice: n}` or `{$slice: [skip, n]}` of find.
        case slice(FieldPath, skip: Int?, limit: Int)
        /// `{$elemMatch: …}` of find.
        case elementMatch(FieldPath, ElementMatch)
        /// `"arr.$": 1` of find.
        case positional(FieldPath)
    }

    public let mode: Mode
    /// Whether `_id` is shown.
    public let includesID: Bool
    /// Everything but `_id`, in the order of the specification.
    public let items: [Item]

    public init(mode: Mode, includesID: Bool, items: [Item]) {
        self.mode = mode
        self.includesID = includesID
        self.items = items
    }
}

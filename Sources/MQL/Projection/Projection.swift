public import BSON

/// Which fields a result shows.
///
/// Source: `reference/mql.md` §5.
public struct Projection: Sendable {
    /// Whether what is named is kept or dropped.
    public enum Mode: Sendable {
        case inclusion
        case exclusion
    }

    /// One entry of a projection.
    public enum Item: Sendable {
        /// Keep (inclusion mode) or drop (exclusion mode) the path.
        case path(FieldPath)
        /// A computed field.
        case computed(FieldPath, AggregationExpression)
        /// `{$slice: n}` or `{$slice: [skip, n]}` of find. Without `skip`, a negative limit counts from
        /// the end.
        case slice(FieldPath, skip: Int?, limit: Int)
        /// `{$elemMatch: …}` of find.
        case elementMatch(FieldPath, ElementMatch)
        /// `"arr.$": 1` of find; the path is that of the array.
        case positional(FieldPath)
    }

    /// What becomes of the fields that are named.
    public let mode: Mode
    /// Whether `_id` is shown.
    ///
    /// False when an item computes it.
    public let includesID: Bool
    /// Everything but a plain `_id`, in the order of the specification.
    public let items: [Item]
    /// The same as a tree by path, for the evaluator.
    let tree: ProjectionNode

    /// Made of its parts.
    ///
    /// - Parameters:
    ///   - mode: What becomes of the fields that are named.
    ///   - includesID: Whether a plain `_id` is shown.
    ///   - items: Paths that do not collide.
    public init(mode: Mode, includesID: Bool, items: [Item]) {
        self.mode = mode
        self.includesID = includesID
        self.items = items
        tree = ProjectionNode(mode: mode, includesID: includesID, items: items)
    }

    /// The plain paths when the projection consists of nothing else, so that it can be applied
    /// without looking at expressions or at the filter; nil otherwise.
    public var simplePaths: [FieldPath]? {
        var paths: [FieldPath] = []
        for item in items {
            guard case .path(let path) = item else { return nil }
            paths.append(path)
        }
        return paths
    }

    /// Whether the filter is needed to apply it (`"arr.$": 1`).
    public var isPositional: Bool {
        items.contains { if case .positional = $0 { true } else { false } }
    }
}

extension Projection.Item {
    /// The path that the entry concerns.
    public var path: FieldPath {
        switch self {
        case .path(let path), .computed(let path, _), .slice(let path, _, _), .elementMatch(let path, _),
            .positional(let path):
            path
        }
    }
}

public import BSON

/// Whether a filter matched, and by which elements of which arrays.
///
/// The positional `$` of projections and updates takes its index from here.
public struct MatchReport: Sendable {
    /// Whether the document satisfies the filter.
    public let matched: Bool
    private let indexes: [FieldPath: Int]

    init(matched: Bool, indexes: [FieldPath: Int]) {
        self.matched = matched
        self.indexes = indexes
    }

    /// The index of the element that satisfied the filter in the array at a path; nil when the
    /// filter says nothing, or only something negative, about that array.
    public func index(inArrayAt path: FieldPath) -> Int? { indexes[path] }
}

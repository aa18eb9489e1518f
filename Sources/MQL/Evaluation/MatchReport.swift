public import BSON

/// Whether a filter matched, and by which elements of which arrays.
///
/// The positional `$` of projections and updates takes its index from here.
public struct MatchReport: Sendable {
    /// Whether the document satisfies the filter.
    public let matched: Bool
    private let indexes: [FieldPath: Int]
    private let last: Int?

    init(matched: Bool, indexes: [FieldPath: Int], last: Int?) {
        self.matched = matched
        self.indexes = indexes
        self.last = last
    }

    /// The index of the element that satisfied the filter in the array at a path.
    ///
    /// Where the filter says nothing about that array, the index is that of the array that it does speak of, so that
    /// arrays may run parallel; nil when it says nothing, or only something negative, about any.
    public func index(inArrayAt path: FieldPath) -> Int? { indexes[path] ?? last }
}

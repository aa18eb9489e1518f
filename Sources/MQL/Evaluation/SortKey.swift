import BSON

/// What a document is sorted by: one value per key of the sort.
///
/// An array counts by its smallest element where the key ascends and by its largest where it
/// descends. A path through arrays collects the values of all their elements; an element without
/// the field counts as null. Source: `reference/mql.md` §4.
struct SortKey: Sendable {
    /// Of the first key; nil is the empty array, which sorts just below null.
    private let first: BSONValue?
    /// Of the others, which few sorts have.
    private let others: [BSONValue?]

    init(of document: BSONDocument, by sort: Sort) {
        func value(_ key: Sort.Key) -> BSONValue? {
            Self.value(of: .document(document), key.path.components[...], key.ascending, sort.collation)
        }
        first = sort.keys.first.flatMap(value)
        others = sort.keys.count > 1 ? sort.keys.dropFirst().map(value) : []
    }

    /// -1, 0 or 1.
    func compare(_ other: SortKey, by sort: Sort) -> Int {
        guard let key = sort.keys.first else { return 0 }
        let order = Self.compare(first, other.first)
        if order != 0 { return key.ascending ? order : -order }
        for (index, key) in sort.keys.dropFirst().enumerated() {
            let order = Self.compare(others[index], other.others[index])
            if order != 0 { return key.ascending ? order : -order }
        }
        return 0
    }

    private static func compare(_ first: BSONValue?, _ second: BSONValue?) -> Int {
        switch (first, second) {
        case (nil, nil): 0
        case (nil, .minKey?): 1
        case (.minKey?, nil): -1
        case (nil, .some): -1
        case (.some, nil): 1
        case (.some(let first), .some(let second)): BSONOrdering.compare(first, second)
        }
    }

    /// The value that decides, as a key of the collation.
    private static func value(
        of value: BSONValue,
        _ path: ArraySlice<String>,
        _ ascending: Bool,
        _ collation: Collation?
    ) -> BSONValue? {
        guard let component = path.first else {
            let value = collation?.keyed(value) ?? value
            guard case .array(let elements) = value else { return value }
            return extreme(elements.map { .some($0) }, ascending)
        }
        switch value {
        case .document(let document):
            guard let next = document[component] else { return .null }
            return Self.value(of: next, path.dropFirst(), ascending, collation)
        case .array(let elements):
            if let index = component.arrayIndex, index < elements.count {
                return Self.value(of: elements[index], path.dropFirst(), ascending, collation)
            }
            if elements.isEmpty { return .null }
            return extreme(
                elements.map { element in
                    guard case .document = element else { return .null }
                    return Self.value(of: element, path, ascending, collation)
                },
                ascending
            )
        default:
            return .null
        }
    }

    /// The smallest or the largest value; that of an empty array is nil.
    private static func extreme(_ values: [BSONValue?], _ ascending: Bool) -> BSONValue? {
        guard var best = values.first else { return nil }
        for value in values.dropFirst() {
            let order = compare(value, best)
            if ascending ? order < 0 : order > 0 { best = value }
        }
        return best
    }
}

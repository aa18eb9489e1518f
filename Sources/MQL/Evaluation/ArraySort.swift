import BSON
import Errors

/// The `sortBy` of `$sortArray`: a direction for whole values, or fields with directions.
struct ArraySort {
    /// Empty for whole values.
    let keys: [(path: [String], ascending: Bool)]
    let ascending: Bool

    /// Reads `1`, `-1` or `{field: 1, …}`.
    ///
    /// - Throws: ``ServiceError`` with server code 2942505, 2942506 or 2942507.
    init(_ value: BSONValue) throws(ServiceError) {
        switch value {
        case .document(let document):
            if document.isEmpty { throw .mongo(2_942_505, "$sortArray sort pattern must not be empty") }
            var keys: [(path: [String], ascending: Bool)] = []
            for field in document {
                guard let direction = Self.direction(field.value) else {
                    throw .mongo(
                        2_942_505,
                        "$sort key ordering must be 1 (for ascending) or -1 (for descending)"
                    )
                }
                keys.append((FieldPath(field.key).components, direction))
            }
            self.keys = keys
            ascending = true
        case .int32, .int64, .double, .decimal128:
            guard let direction = Self.direction(value) else {
                throw .mongo(
                    2_942_506,
                    "The $sort element value must be either 1 or -1"
                )
            }
            keys = []
            ascending = direction
        default:
            throw .mongo(
                2_942_507,
                "The sortBy argument to $sortArray must be a sort pattern or 1 or -1, found: \(known: TypeName.of(value))"
            )
        }
    }

    /// The elements in order; equal ones keep theirs.
    func sorted(_ elements: [BSONValue], _ context: EvaluationContext) -> [BSONValue] {
        guard !keys.isEmpty else {
            return stable(elements) { context.compare($0, $1) }
        }
        return stable(elements) { left, right in
            for key in keys {
                let order = context.compare(Self.value(left, key.path), Self.value(right, key.path))
                if order != 0 { return key.ascending ? order : -order }
            }
            return 0
        }
    }

    /// What an element is sorted by: arrays count as a whole, and are not opened on the way.
    private static func value(_ element: BSONValue, _ path: [String]) -> BSONValue {
        element.document?.value(at: FieldPath(components: path)) ?? .null
    }

    private func stable(_ elements: [BSONValue], _ compare: (BSONValue, BSONValue) -> Int) -> [BSONValue] {
        elements.enumerated().sorted { left, right in
            let order = compare(left.element, right.element)
            if order == 0 { return left.offset < right.offset }
            return ascending ? order < 0 : order > 0
        }.map(\.element)
    }

    private static func direction(_ value: BSONValue) -> Bool? {
        let number = NumericValue(value)?.doubleValue
        return switch number {
        case 1: true
        case -1: false
        default: nil
        }
    }
}

import BSON
import Errors

/// What `$push`, `$addToSet`, `$pull` and `$pullAll` do to an array.
enum ArrayUpdates {
    /// Up to this many comparisons are made one by one; more go through a hashed set.
    private static let patience = 64

    /// Inserts at the position, then sorts, then slices.
    static func push(
        _ arguments: PushArguments,
        to array: [BSONValue],
        _ context: EvaluationContext
    ) throws(ServiceError) -> [BSONValue] {
        var elements = array
        let end = elements.count
        let place = arguments.position.map { $0 >= 0 ? min($0, end) : max(end + $0, 0) } ?? end
        elements.insert(contentsOf: arguments.elements, at: place)
        if let sort = arguments.sort {
            try context.meter.spend(elements.count)
            elements = sorted(elements, sort, context)
        }
        if let slice = arguments.slice {
            elements = slice >= 0 ? Array(elements.prefix(slice)) : Array(elements.suffix(-slice))
        }
        return elements
    }

    private static func sorted(
        _ elements: [BSONValue],
        _ sort: PushSort,
        _ context: EvaluationContext
    ) -> [BSONValue] {
        switch sort {
        case .value(let ascending):
            return elements.enumerated()
                .sorted { first, second in
                    let order = context.compare(first.element, second.element)
                    if order == 0 { return first.offset < second.offset }
                    return ascending ? order < 0 : order > 0
                }
                .map(\.element)
        case .fields(let fields):
            let fields = Sort(keys: fields.keys, collation: context.collation)
            // An element that is no object sorts as one without fields.
            return elements.enumerated()
                .map {
                    (
                        offset: $0.offset, key: SortKey(of: $0.element.document ?? [:], by: fields),
                        value: $0.element
                    )
                }
                .sorted { first, second in
                    let order = first.key.compare(second.key, by: fields)
                    return order == 0 ? first.offset < second.offset : order < 0
                }
                .map(\.value)
        }
    }

    /// Appends what is not there yet.
    static func addToSet(
        _ new: [BSONValue],
        to array: [BSONValue],
        _ context: EvaluationContext
    ) -> [BSONValue] {
        var elements = array
        if new.count <= 1 || new.count * array.count <= patience && new.count <= 8 {
            for value in new where !elements.contains(where: { isSame($0, value, context) }) {
                elements.append(value)
            }
            return elements
        }
        var known = Set(elements.map { ElementKey($0, context) })
        for value in new where known.insert(ElementKey(value, context)).inserted { elements.append(value) }
        return elements
    }

    /// Removes what satisfies the condition.
    static func pull(
        _ condition: PullCondition,
        from elements: [BSONValue],
        _ context: EvaluationContext
    ) throws(ServiceError) -> [BSONValue] {
        try context.meter.spend(elements.count)
        let evaluator = FilterEvaluator(context: context)
        var kept: [BSONValue] = []
        for element in elements {
            let removes: Bool
            switch condition {
            case .equal(let value): removes = isSame(element, value, context)
            case .tests(let tests): removes = try evaluator.hold(tests, .openedValue(element))
            case .document(let filter):
                if case .document(let document) = element {
                    removes = try filter.matches(document, context)
                } else {
                    removes = false
                }
            }
            if !removes { kept.append(element) }
        }
        return kept
    }

    /// Removes what equals any of the values.
    static func pullAll(
        _ unwanted: [BSONValue],
        from elements: [BSONValue],
        _ context: EvaluationContext
    ) -> [BSONValue] {
        if unwanted.count * elements.count <= patience {
            return elements.filter { element in !unwanted.contains { isSame($0, element, context) } }
        }
        let keys = Set(unwanted.map { ElementKey($0, context) })
        return elements.filter { !keys.contains(ElementKey($0, context)) }
    }

    /// Equality; undefined shares null's place in the order and is not equal to it.
    private static func isSame(
        _ first: BSONValue,
        _ second: BSONValue,
        _ context: EvaluationContext
    ) -> Bool {
        context.compare(first, second) == 0 && first.isNull == second.isNull
    }

    private struct ElementKey: Hashable {
        let key: BSONKey
        let isNull: Bool

        init(_ value: BSONValue, _ context: EvaluationContext) {
            key = context.key(value)
            isNull = value.isNull
        }
    }
}

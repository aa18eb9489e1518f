internal import BSON

extension StraightRun {
    /// A method of a list that hands its elements to a callback.
    mutating func each(
        _ walk: StraightFunction.Walk,
        _ callback: StraightFunction.Callback,
        from start: StraightValue?,
        of list: StraightValue
    ) throws(NotStraight) -> StraightValue {
        guard let array = list.array else { throw NotStraight() }
        if walk == .reduce { return try reduce(array.map { list.part($0) }, callback, from: start) }
        var results: [BSONValue] = []
        for (index, value) in array.enumerated() {
            let element = list.part(value)
            let result = try told(callback, [element, .made(.number(Double(index))), list])
            switch walk {
            case .map: results.append(try data(result))
            case .filter: if try result.isTrue { results.append(value) }
            case .find: if try result.isTrue { return element }
            case .some: if try result.isTrue { return .made(true) }
            case .every: if try !result.isTrue { return .made(false) }
            case .reduce: break
            }
        }
        switch walk {
        case .map: return .made(.array(results))
        // Its elements are those of the list, as they were.
        case .filter: return list.part(.array(results))
        case .some: return .made(false)
        case .every: return .made(true)
        case .find, .reduce: return .undefined
        }
    }

    private mutating func reduce(
        _ elements: [StraightValue],
        _ callback: StraightFunction.Callback,
        from start: StraightValue?
    ) throws(NotStraight) -> StraightValue {
        // Of nothing, and from nothing, it is an error.
        guard var value = start ?? elements.first else { throw NotStraight() }
        for element in elements.dropFirst(start == nil ? 1 : 0) {
            value = try told(callback, [value, element])
        }
        return value
    }

    private mutating func told(_ callback: StraightFunction.Callback, _ values: [StraightValue])
        throws(NotStraight) -> StraightValue
    {
        // A third of `reduce` would be an index.
        guard callback.parameters.count <= values.count else { throw NotStraight() }
        for (slot, value) in zip(callback.parameters, values) { slots[slot] = value }
        return try operand(callback.body)
    }
}

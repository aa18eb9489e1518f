import BSON
import Errors

/// Array operators.
extension OperatorEvaluator {
    func array(_ op: ExpressionOperator, _ values: [BSONValue?]) throws(ServiceError) -> BSONValue? {
        switch op {
        case .isArray: return .bool(values[0]?.array != nil)
        case .size:
            guard case .array(let elements)? = values[0] else {
                throw .mongo(
                    17124,
                    "The argument to $size must be an array, but was of type: \(known: TypeName.of(values[0]))"
                )
            }
            return .int32(Int32(clamping: elements.count))
        case .elementAt: return try element(values[0], at: values[1])
        case .first, .last:
            guard let value = values[0], !value.isNullish else { return .null }
            guard case .array(let elements) = value else {
                throw .mongo(
                    28689,
                    "\(op.rawValue)'s argument must be an array, but is \(known: TypeName.of(value))"
                )
            }
            return op == .first ? elements.first : elements.last
        case .inside:
            guard case .array(let elements)? = values[1] else {
                throw .mongo(
                    40081,
                    "$in requires an array as a second argument, found: \(known: TypeName.of(values[1]))"
                )
            }
            try context.meter.spend(elements.count)
            return .bool(elements.contains { context.order(values[0], $0) == 0 })
        case .slice: return try slice(values)
        case .concatArrays: return try concatArrays(values)
        case .indexOfArray: return try indexOfArray(values)
        case .reverseArray:
            guard let value = values[0], !value.isNullish else { return .null }
            guard case .array(let elements) = value else {
                throw .mongo(
                    34435,
                    "The argument to $reverseArray must be an array, but was of type: \(known: TypeName.of(value))"
                )
            }
            return .array(elements.reversed())
        default: return try range(values)
        }
    }

    private func element(_ value: BSONValue?, at position: BSONValue?) throws(ServiceError) -> BSONValue? {
        guard let value, let position, !value.isNullish, !position.isNullish else { return .null }
        guard case .array(let elements) = value else {
            throw .mongo(
                28689,
                "$arrayElemAt's first argument must be an array, but is \(known: TypeName.of(value))"
            )
        }
        guard let number = NumericValue(position) else {
            throw .mongo(
                28690,
                "$arrayElemAt's second argument must be a numeric value, but is \(known: TypeName.of(position))"
            )
        }
        guard let index = number.exactInt32.map(Int.init) else {
            throw .mongo(
                28691,
                "$arrayElemAt's second argument must be representable as a 32-bit integer: \(number.text)"
            )
        }
        let place = index < 0 ? elements.count + index : index
        guard elements.indices.contains(place) else { return nil }
        return elements[place]
    }

    /// `[array, n]` or `[array, position, n]`.
    private func slice(_ values: [BSONValue?]) throws(ServiceError) -> BSONValue {
        guard let value = values[0], !value.isNullish, let first = values[1], !first.isNullish else {
            return .null
        }
        guard case .array(let elements) = value else {
            throw .mongo(
                28724,
                "First argument to $slice must be an array, but is of type: \(known: TypeName.of(value))"
            )
        }
        let start = try sliceNumber(first, "Second", type: 28725, range: 28726)
        guard values.count > 2 else {
            return .array(Array(start < 0 ? elements.suffix(-start) : elements.prefix(start)))
        }
        guard let third = values[2], !third.isNullish else { return .null }
        let count = try sliceNumber(third, "Third", type: 28725, range: 28726)
        if count <= 0 { throw .mongo(28729, "Third argument to $slice must be positive: \(count)") }
        let lower = start < 0 ? Swift.max(0, elements.count + start) : Swift.min(start, elements.count)
        return .array(Array(elements[lower...].prefix(count)))
    }

    private func sliceNumber(_ value: BSONValue, _ which: String, type: Int, range: Int)
        throws(ServiceError) -> Int
    {
        guard let number = NumericValue(value) else {
            throw .mongo(
                type,
                "\(which) argument to $slice must be a numeric value, but is of type: \(known: TypeName.of(value))"
            )
        }
        guard let whole = number.exactInt32 else {
            throw .mongo(
                range,
                "\(which) argument to $slice can't be represented as a 32-bit integer: \(number.text)"
            )
        }
        return Int(whole)
    }

    private func concatArrays(_ values: [BSONValue?]) throws(ServiceError) -> BSONValue {
        var result: [BSONValue] = []
        var size = ValueSize.Sum(context.meter)
        for value in values {
            guard let value, !value.isNullish else { return .null }
            guard case .array(let elements) = value else {
                throw .mongo(28664, "$concatArrays only supports arrays, not \(known: TypeName.of(value))")
            }
            try size.add(value)
            try context.meter.spend(elements.count)
            result += elements
        }
        return .array(result)
    }

    /// The first index of a value, or -1, from `[array, value, start, end]`.
    private func indexOfArray(_ values: [BSONValue?]) throws(ServiceError) -> BSONValue {
        guard let first = values[0], !first.isNullish else { return .null }
        guard case .array(let elements) = first else {
            throw .mongo(
                40090,
                "$indexOfArray requires an array as a first argument, found: \(known: TypeName.of(first))"
            )
        }
        let start =
            try values.count > 2
            ? bound(values[2], "$indexOfArray", "starting", integral: 9_711_600, negative: 9_711_601) : 0
        let end =
            try values.count > 3
            ? Swift.min(
                bound(values[3], "$indexOfArray", "ending", integral: 9_711_600, negative: 9_711_601),
                elements.count
            ) : elements.count
        guard start < end else { return .int32(-1) }
        try context.meter.spend(end - start)
        let found = elements[start..<end].firstIndex { context.order($0, values[1]) == 0 }
        return .int32(Int32(clamping: found ?? -1))
    }

    /// `[start, end, step]`, ints, at most ``ValueSize/maximum`` bytes of them.
    private func range(_ values: [BSONValue?]) throws(ServiceError) -> BSONValue {
        let start = try rangeNumber(values[0], "starting value", type: 34443, range: 34444)
        let end = try rangeNumber(values[1], "ending value", type: 34445, range: 34446)
        let step = try values.count > 2 ? rangeNumber(values[2], "step value", type: 34447, range: 34448) : 1
        if step == 0 { throw .mongo(34449, "$range requires a non-zero step value") }
        guard step > 0 ? start < end : start > end else { return .array([]) }
        let count = ((end - start).magnitude - 1) / step.magnitude + 1
        let bytes = count * 32
        if bytes > ValueSize.maximum {
            throw .mongo(
                146,
                "$range would use too much memory (\(bytes) bytes) and cannot spill to disk. Memory limit: \(ValueSize.maximum) bytes"
            )
        }
        try context.meter.spend(Int(count))
        return .array(stride(from: start, to: end, by: step).map { .int32(Int32(truncatingIfNeeded: $0)) })
    }

    private func rangeNumber(_ value: BSONValue?, _ which: String, type: Int, range: Int)
        throws(ServiceError) -> Int
    {
        guard let number = NumericValue(value) else {
            throw .mongo(
                type,
                "$range requires a numeric \(which), found value of type: \(known: TypeName.of(value))"
            )
        }
        guard let whole = number.exactInt32 else {
            throw .mongo(
                range,
                "$range requires a \(which) that can be represented as a 32-bit integer, found value: \(number.text)"
            )
        }
        return Int(whole)
    }
}

/// Array operators with named operands.
extension OperatorEvaluator {
    func zip(_ operands: NamedOperands) throws(ServiceError) -> BSONValue {
        guard case .array(let inputs)? = try operands.value("inputs"),
            case .array(let defaults)? = try operands.value("defaults")
        else { return .null }
        let longest = try operands.value("useLongestLength")?.bool ?? false
        var columns: [[BSONValue]] = []
        for input in inputs where input.isNullish { return .null }
        for input in inputs {
            guard case .array(let elements) = input else {
                throw .mongo(34468, "$zip found a non-array expression in input: \(MessageText.of(input))")
            }
            columns.append(elements)
        }
        let lengths = columns.map(\.count)
        let count = (longest ? lengths.max() : lengths.min()) ?? 0
        var rows: [BSONValue] = []
        var size = ValueSize.Sum(context.meter)
        for row in 0..<count {
            try context.meter.spend(columns.count)
            let values = columns.enumerated().map { index, column in
                row < column.count ? column[row] : (index < defaults.count ? defaults[index] : .null)
            }
            try size.add(.array(values))
            rows.append(.array(values))
        }
        return .array(rows)
    }

    /// Some elements of an array: `$firstN`, `$lastN`, `$minN`, `$maxN`.
    func arrayN(_ op: ExpressionOperator, _ operands: NamedOperands) throws(ServiceError) -> BSONValue {
        let name = op.rawValue
        let input = try operands.value("input")
        let count = try Self.groupCount(try operands.value("n"), name)
        guard case .array(let elements)? = input else {
            throw .mongo(
                5_788_200,
                "Argument to \(name) must be an array, but is: \(known: TypeName.of(input))"
            )
        }
        switch op {
        case .firstN: return .array(Array(elements.prefix(count)))
        case .lastN: return .array(Array(elements.suffix(count)))
        default:
            try context.meter.spend(elements.count)
            let present = elements.filter { !$0.isNullish }
            let sorted = present.sorted {
                op == .minimumN ? context.compare($0, $1) < 0 : context.compare($0, $1) > 0
            }
            return .array(Array(sorted.prefix(count)))
        }
    }

    /// The `n` of the `…N` family: a positive integer.
    ///
    /// - Throws: ``ServiceError`` with server code 5787902, 5787903 or 5787908.
    static func groupCount(_ value: BSONValue?, _ name: String) throws(ServiceError) -> Int {
        guard let number = NumericValue(value) else {
            throw .mongo(
                5_787_902,
                "Value for 'n' must be of integral type, but found \(MessageText.of(value)) in \(name)"
            )
        }
        guard let count = number.exactInt64 else {
            throw .mongo(
                5_787_903,
                "Value for 'n' must be of integral type, but found \(number.text) in \(name)"
            )
        }
        if count <= 0 { throw .mongo(5_787_908, "'n' must be greater than 0, found \(count) in \(name)") }
        return Int(count)
    }

    func sortArray(_ operands: NamedOperands) throws(ServiceError) -> BSONValue {
        let input = try operands.value("input")
        guard let input, !input.isNullish else { return .null }
        guard case .array(let elements) = input else {
            throw .mongo(
                2_942_504,
                "The input argument to $sortArray must be an array, but was of type: \(known: TypeName.of(input))"
            )
        }
        let order = try ArraySort(try operands.value("sortBy") ?? .null)
        try context.meter.spend(elements.count)
        return .array(order.sorted(elements, context))
    }
}

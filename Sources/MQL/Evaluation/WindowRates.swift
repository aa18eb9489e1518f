import BSON
import Errors

/// Functions that relate values to the sort value: `$derivative`, `$integral`, `$linearFill`.
extension WindowPartition {
    /// How far apart two sort values are, in units where there is one.
    private func distance(
        _ start: BSONValue?,
        _ end: BSONValue?,
        _ unit: Int64?,
        _ name: String
    ) throws(ServiceError) -> NumericValue {
        if case .date(let first)? = start, case .date(let last)? = end {
            guard unit != nil else {
                throw .mongo(5_624_901, "\(name) where the sortBy is a Date requires an 'unit'")
            }
            let (span, overflow) = last.subtractingReportingOverflow(first)
            return overflow ? .double(Double(last) - Double(first)) : .long(span)
        }
        if unit != nil {
            throw .mongo(5_624_900, "\(name) with 'unit' expects the sortBy field to be a Date")
        }
        guard let first = NumericValue(start), let last = NumericValue(end) else {
            throw .mongo(5_624_902, "\(name) expects the sortBy field to be numeric")
        }
        return NumericArithmetic.subtract(last, first)
    }

    private func number(_ value: BSONValue?, _ name: String) throws(ServiceError) -> NumericValue {
        guard let number = NumericValue(value) else {
            throw .mongo(
                5_624_903,
                "\(name) expects its input to be numeric, found \(known: TypeName.of(value))"
            )
        }
        return number
    }

    func derivatives(
        _ input: AggregationExpression,
        _ unit: Int64?,
        _ frames: [Range<Int>]
    ) throws(ServiceError) -> [BSONValue] {
        let inputs = try evaluate(input)
        let times = try sortValues()
        var values: [BSONValue] = []
        for frame in frames {
            guard frame.count > 1 else {
                values.append(.null)
                continue
            }
            let last = frame.upperBound - 1
            let span = try distance(times[frame.lowerBound], times[last], unit, "$derivative")
            let change = NumericArithmetic.subtract(
                try number(inputs[last], "$derivative"),
                try number(inputs[frame.lowerBound], "$derivative")
            )
            if span.isZero {
                values.append(.null)
                continue
            }
            let scaled = unit.map { NumericArithmetic.multiply(change, .long($0)) } ?? change
            values.append(try NumericArithmetic.divide(scaled.value, span.value))
        }
        return values
    }

    /// The area below the line through the values of a frame.
    func integrals(
        _ input: AggregationExpression,
        _ unit: Int64?,
        _ frames: [Range<Int>]
    ) throws(ServiceError) -> [BSONValue] {
        let inputs = try evaluate(input)
        let times = try sortValues()
        var pieces: [BSONValue] = [.int32(0)]
        for place in inputs.indices {
            let current = try number(inputs[place], "$integral")
            let span = try distance(times[max(place - 1, 0)], times[place], unit, "$integral")
            guard place > 0 else { continue }
            let sides = NumericArithmetic.add(try number(inputs[place - 1], "$integral"), current)
            pieces.append(
                try NumericArithmetic.divide(NumericArithmetic.multiply(span, sides).value, .int32(2))
            )
        }
        // The piece at a place lies between it and the one before, so the first of a frame is left out.
        var window = SlidingMerge(
            empty: NumericSum(),
            combine: { $0.merge($1) },
            single: { place in
                var sum = NumericSum()
                sum.add(pieces[place])
                return sum
            }
        )
        var values: [BSONValue] = []
        for frame in frames {
            guard !frame.isEmpty else {
                values.append(.null)
                continue
            }
            let area = window.value(
                over: (frame.lowerBound + 1)..<max(frame.upperBound, frame.lowerBound + 1)
            )
            let value = area.count == 0 ? BSONValue.int32(0) : area.value
            values.append(
                try unit.map { unit throws(ServiceError) in
                    try NumericArithmetic.divide(value, .int64(unit))
                } ?? value
            )
        }
        return values
    }

    /// Puts the values of the straight line between their neighbours in the place of nulls.
    func interpolated(_ operand: AggregationExpression) throws(ServiceError) -> [BSONValue] {
        let inputs = try evaluate(operand)
        let times = try sortValues()
        var values = inputs.map { $0 ?? .null }
        var previous: Int?
        for (place, value) in inputs.enumerated() {
            guard let value, !value.isNullish else { continue }
            let right = try number(value, "$linearFill")
            defer { previous = place }
            guard let start = previous, place - start > 1 else { continue }
            let left = try number(inputs[start], "$linearFill")
            let span = try lineDistance(times[start], times[place])
            for gap in (start + 1)..<place {
                let part = try lineDistance(times[start], times[gap])
                let slope = NumericArithmetic.multiply(NumericArithmetic.subtract(right, left), part)
                guard !span.isZero else { throw repeated }
                let rise = try NumericArithmetic.divide(slope.value, span.value)
                values[gap] = NumericArithmetic.add(left, NumericValue(rise) ?? .int(0)).value
            }
        }
        for (first, second) in zip(times, times.dropFirst())
        where BSONOrdering.equal(first ?? .null, second ?? .null) { throw repeated }
        return values
    }

    private var repeated: ServiceError {
        .mongo(6_050_106, "There can be no repeated values in the sort field")
    }

    private func lineDistance(_ start: BSONValue?, _ end: BSONValue?) throws(ServiceError) -> NumericValue {
        if case .date = start { return try distance(start, end, 1, "$linearFill") }
        return try distance(start, end, nil, "$linearFill")
    }
}

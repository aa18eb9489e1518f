import BSON
import Errors

/// Which documents of a partition the functions see at each of them.
extension WindowPartition {
    /// One range of places for each document; its ends never move backwards.
    func frames(_ frame: WindowFrame) throws(ServiceError) -> [Range<Int>] {
        switch frame {
        case .documents(let lower, let upper):
            let count = documents.count
            return documents.indices.map { place in
                let start = lower.map { min(max(place + $0, 0), count) } ?? 0
                let end = upper.map { min(max(place + $0 + 1, 0), count) } ?? count
                return start..<max(start, end)
            }
        case .range(let lower, let upper, let unit):
            return try ranges(lower, upper, unit)
        }
    }

    private func ranges(
        _ lower: RangeBound,
        _ upper: RangeBound,
        _ unit: DateUnit?
    ) throws(ServiceError) -> [Range<Int>] {
        let values = try sortValues().map { $0 ?? .null }
        if lower.isOffset || upper.isOffset {
            for value in values { try Self.check(value, unit) }
        }
        var start = 0
        var end = 0
        var frames: [Range<Int>] = []
        frames.reserveCapacity(values.count)
        for value in values {
            if let bound = try Self.bound(lower, at: value, unit) {
                while start < values.count, BSONOrdering.compare(values[start], bound) < 0 { start += 1 }
            }
            if let bound = try Self.bound(upper, at: value, unit) {
                while end < values.count, BSONOrdering.compare(values[end], bound) <= 0 { end += 1 }
            } else {
                end = values.count
            }
            frames.append(start..<max(start, end))
        }
        return frames
    }

    /// The sort value at which a frame begins or ends; nil has no bound.
    private static func bound(
        _ bound: RangeBound,
        at value: BSONValue,
        _ unit: DateUnit?
    ) throws(ServiceError) -> BSONValue? {
        switch bound {
        case .unbounded: return nil
        case .current: return value
        case .offset(let offset):
            guard let unit, case .date(let date) = value else {
                return NumericValue(value).map { NumericArithmetic.add($0, offset).value } ?? value
            }
            guard let moved = DateArithmetic.add(date, unit, offset.exactInt64 ?? 0, .utc) else {
                throw .mongo(.overflow, "the window's bound is beyond the range of dates")
            }
            return .date(moved)
        }
    }

    /// - Throws: ``ServiceError`` with server code 5429413, 5429414 or 5429513.
    private static func check(_ value: BSONValue, _ unit: DateUnit?) throws(ServiceError) {
        if case .date = value {
            if unit != nil { return }
            throw .mongo(
                5_429_413,
                "Invalid range: for windows that involve date or time ranges, a unit must be provided"
            )
        }
        if unit != nil {
            throw .mongo(
                5_429_513,
                "Invalid range: Expected the sortBy field to be a Date, but it was \(known: TypeName.of(value))"
            )
        }
        guard value.isNumber else {
            throw .mongo(
                5_429_414,
                "Invalid range: Expected the sortBy field to be a number, but it was \(known: TypeName.of(value))"
            )
        }
    }
}

import BSON
import Errors

/// Accumulators over frames.
///
/// A frame that only grows is accumulated as it grows. Of frames that slide, small ones are accumulated
/// anew; for large ones there is a way for each kind whose cost does not depend on their size: sums and
/// deviations by ``SlidingMerge``, smallest and largest values by ``RankedWindow``, first and last ones by
/// looking at the ends alone.
extension WindowPartition {
    /// Frames of up to so many documents are accumulated anew, which is exact to the last digit.
    private static let smallFrame = 64

    mutating func accumulated(
        _ accumulator: Accumulator,
        _ frames: [Range<Int>],
        slides: Bool
    ) throws(ServiceError) -> [BSONValue] {
        let isDeviation =
            accumulator.kind == .standardDeviationPopulation || accumulator.kind == .standardDeviationSample
        guard slides else { return try growing(accumulator, frames) }
        var values: [BSONValue]
        if frames.allSatisfy({ $0.count <= Self.smallFrame }) {
            values = try anew(accumulator, frames)
        } else {
            values = try sliding(accumulator, frames)
        }
        if isDeviation { try adjustDeviations(accumulator, frames, &values) }
        return values
    }

    /// Every frame begins at the first document, and holds what the one before it held.
    private mutating func growing(
        _ accumulator: Accumulator,
        _ frames: [Range<Int>]
    ) throws(ServiceError) -> [BSONValue] {
        var state = try AccumulatorState(accumulator, group: .null, context)
        var end = 0
        var result: BSONValue?
        var values: [BSONValue] = []
        values.reserveCapacity(frames.count)
        for frame in frames {
            if frame.upperBound > end { result = nil }
            while end < frame.upperBound {
                try state.add(documents[end], accumulator, context, &memory)
                end += 1
            }
            // Percentiles sort all numbers anew.
            if result == nil, !accumulator.percentiles.isEmpty { try context.meter.spend(end) }
            let value = result ?? state.result
            result = value
            values.append(value)
        }
        return values
    }

    private mutating func anew(
        _ accumulator: Accumulator,
        _ frames: [Range<Int>]
    ) throws(ServiceError) -> [BSONValue] {
        var values: [BSONValue] = []
        values.reserveCapacity(frames.count)
        for frame in frames {
            try context.meter.spend(frame.count)
            var state = try AccumulatorState(accumulator, group: .null, context)
            var scratch = memory
            for place in frame { try state.add(documents[place], accumulator, context, &scratch) }
            values.append(state.result)
        }
        return values
    }

    private mutating func sliding(
        _ accumulator: Accumulator,
        _ frames: [Range<Int>]
    ) throws(ServiceError) -> [BSONValue] {
        switch accumulator.kind {
        case .count: return frames.map { Self.counted($0.count) }
        case .sum, .average:
            let operands = try evaluate(accumulator.operand)
            let isSum = accumulator.kind == .sum
            var window = SlidingMerge(
                empty: NumericSum(),
                combine: { $0.merge($1) },
                single: { place in
                    var sum = NumericSum()
                    sum.add(operands[place])
                    return sum
                }
            )
            return frames.map {
                let sum = window.value(over: $0)
                return isSum ? sum.value : sum.average
            }
        case .standardDeviationPopulation, .standardDeviationSample:
            let operands = try evaluate(accumulator.operand)
            let isSample = accumulator.kind == .standardDeviationSample
            var window = SlidingMerge(
                empty: StandardDeviation(),
                combine: { $0.merge($1) },
                single: { place in
                    var deviation = StandardDeviation()
                    let value = operands[place]
                    // What is not finite is decided for each frame, and must not stay behind here.
                    if value?.doubleValue?.isFinite ?? false { deviation.add(value) }
                    return deviation
                }
            )
            return frames.map { window.value(over: $0).value(isSample: isSample) }
        case .first: return try anew(accumulator, frames.map { $0.prefix(1) })
        case .last: return try anew(accumulator, frames.map { $0.suffix(1) })
        case .firstN:
            let count = try limit(accumulator)
            return try anew(accumulator, frames.map { $0.prefix(count) })
        case .lastN:
            let count = try limit(accumulator)
            return try anew(accumulator, frames.map { $0.suffix(count) })
        case .minimum, .maximum, .minimumN, .maximumN, .top, .topN, .bottom, .bottomN:
            var window = RankedWindow(
                accumulator,
                values: try evaluate(accumulator.operand),
                documents: documents,
                count: try limit(accumulator),
                context: context
            )
            var values: [BSONValue] = []
            for frame in frames {
                try context.meter.spend(1)
                values.append(window.value(over: frame))
            }
            return values
        default: return try anew(accumulator, frames)
        }
    }

    /// `n` of the `…N` family; 1 for the others.
    private func limit(_ accumulator: Accumulator) throws(ServiceError) -> Int {
        guard let limit = accumulator.limit else { return 1 }
        return try OperatorEvaluator.groupCount(
            try limit.evaluate(BSONDocument(), context),
            accumulator.kind.rawValue
        )
    }

    /// A frame that slides has no deviation while something that is not finite is in it; that of a single number is
    /// an int 0.
    private func adjustDeviations(
        _ accumulator: Accumulator,
        _ frames: [Range<Int>],
        _ values: inout [BSONValue]
    ) throws(ServiceError) {
        var odd = [0]
        var numbers = [0]
        odd.reserveCapacity(documents.count + 1)
        numbers.reserveCapacity(documents.count + 1)
        for value in try evaluate(accumulator.operand) {
            let number = NumericValue(value)
            let isOdd = number.map { !$0.doubleValue.isFinite } ?? false
            odd.append((odd.last ?? 0) + (isOdd ? 1 : 0))
            numbers.append((numbers.last ?? 0) + (number == nil ? 0 : 1))
        }
        let isPopulation = accumulator.kind == .standardDeviationPopulation
        for (place, frame) in frames.enumerated() {
            if odd[frame.upperBound] > odd[frame.lowerBound] {
                values[place] = .null
            } else if isPopulation, numbers[frame.upperBound] - numbers[frame.lowerBound] == 1 {
                values[place] = .int32(0)
            }
        }
    }
}

/// A summary of frames whose ends only move forward, at a constant number of merges for each document.
///
/// The frame is cut in two: for the front there is a summary from each place to the cut, for the back one
/// that grows. When the front is used up, the cut moves to the frame's end.
struct SlidingMerge<Summary> {
    private let empty: Summary
    private let combine: (inout Summary, Summary) -> Void
    private let single: (Int) -> Summary
    private var front: [Summary] = []
    private var cut = 0
    private var back: Summary
    private var end = 0

    init(
        empty: Summary,
        combine: @escaping (inout Summary, Summary) -> Void,
        single: @escaping (Int) -> Summary
    ) {
        self.empty = empty
        self.combine = combine
        self.single = single
        back = empty
    }

    mutating func value(over frame: Range<Int>) -> Summary {
        if frame.isEmpty { return empty }
        if frame.lowerBound >= cut {
            front = []
            var summary = empty
            for place in frame.reversed() {
                var joined = single(place)
                combine(&joined, summary)
                summary = joined
                front.append(summary)
            }
            cut = frame.upperBound
            end = cut
            back = empty
            return summary
        }
        while end < frame.upperBound {
            combine(&back, single(end))
            end += 1
        }
        // The front holds the summaries from its last place to its first.
        var result = front[cut - 1 - frame.lowerBound]
        combine(&result, back)
        return result
    }
}

/// The values of a frame kept in order, for accumulators that ask for the smallest, largest or top ones.
struct RankedWindow {
    private let kind: Accumulator.Kind
    private let count: Int
    private let values: [BSONValue?]
    /// For each place its rank among all; nil for values that do not count.
    private var ranks: [Int?]
    private var places: [Int] = []
    /// The ranks in the frame, ascending.
    private var window: [Int] = []
    private var covered = 0..<0

    init(
        _ accumulator: Accumulator,
        values: [BSONValue?],
        documents: [BSONDocument],
        count: Int,
        context: EvaluationContext
    ) {
        kind = accumulator.kind
        self.count = count
        self.values = values
        ranks = values.map { _ in nil }
        if let sort = accumulator.sort {
            let keys = documents.map { SortKey(of: $0, by: sort) }
            places = values.indices.sorted { left, right in
                let order = keys[left].compare(keys[right], by: sort)
                return order == 0 ? left < right : order < 0
            }
        } else {
            let sign = kind == .maximum || kind == .maximumN ? -1 : 1
            let keys = context.collation == nil ? values : values.map { $0.map(context.keyed) }
            places = values.indices.filter { !(values[$0]?.isNullish ?? true) }.sorted { left, right in
                let order = BSONOrdering.compare(keys[left] ?? .null, keys[right] ?? .null) * sign
                return order == 0 ? left < right : order < 0
            }
        }
        for (rank, place) in places.enumerated() { ranks[place] = rank }
    }

    mutating func value(over frame: Range<Int>) -> BSONValue {
        if frame.lowerBound >= covered.upperBound {
            window = []
            covered = frame.lowerBound..<frame.lowerBound
        }
        for place in covered.lowerBound..<frame.lowerBound {
            if let rank = ranks[place] { window.remove(at: window.partitioningIndex { $0 >= rank }) }
        }
        for place in covered.upperBound..<max(frame.upperBound, covered.upperBound) {
            if let rank = ranks[place] { window.insert(rank, at: window.partitioningIndex { $0 > rank }) }
        }
        covered = frame.lowerBound..<max(frame.upperBound, covered.upperBound)
        let keepsEnd = kind == .bottom || kind == .bottomN
        let best = keepsEnd ? window.suffix(count) : window.prefix(count)
        let found = best.map { values[places[$0]] ?? .null }
        switch kind {
        case .minimum, .maximum, .top, .bottom: return found.first ?? .null
        default: return .array(found)
        }
    }
}

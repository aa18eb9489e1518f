import BSON
import Errors

/// What an accumulator knows of one group so far.
///
/// Source: `reference/mql.md` §8.1.
enum AccumulatorState {
    case sum(NumericSum)
    case average(NumericSum)
    case count(Int64)
    /// `$min`, `$max`, `$first`, `$last`; nil before the first value.
    case single(BSONValue?)
    case deviation(StandardDeviation, isSample: Bool)
    case list([BSONValue])
    case set(DistinctValues)
    case merged(OrderedFields)
    case several(LeadingValues)
    case percentiles(Percentiles, parts: [Double], isMedian: Bool)

    /// The state of an empty group.
    ///
    /// - Throws: ``ServiceError`` when the `n` of the `…N` family is no positive integer.
    init(_ accumulator: Accumulator, group: BSONValue, _ context: EvaluationContext) throws(ServiceError) {
        switch accumulator.kind {
        case .sum: self = .sum(NumericSum())
        case .average: self = .average(NumericSum())
        case .count: self = .count(0)
        case .minimum, .maximum, .first, .last: self = .single(nil)
        case .standardDeviationPopulation: self = .deviation(StandardDeviation(), isSample: false)
        case .standardDeviationSample: self = .deviation(StandardDeviation(), isSample: true)
        case .push, .concatArrays: self = .list([])
        case .addToSet, .setUnion: self = .set(DistinctValues())
        case .mergeObjects: self = .merged(OrderedFields())
        case .median, .percentile:
            self = .percentiles(
                Percentiles(),
                parts: accumulator.percentiles,
                isMedian: accumulator.kind == .median
            )
        case .firstN, .lastN, .minimumN, .maximumN, .top, .topN, .bottom, .bottomN:
            var count = 1
            if let limit = accumulator.limit {
                // `n` sees the fields of the group's id, nothing of its documents.
                let value = try limit.evaluate(group.document ?? BSONDocument(), context)
                do {
                    count = try OperatorEvaluator.groupCount(value, accumulator.kind.rawValue)
                } catch {
                    throw .mongo(7_548_606, error.sentence)
                }
            }
            self = .several(LeadingValues(accumulator, count: count))
        }
    }

    /// Takes one document of the group.
    mutating func add(
        _ document: BSONDocument,
        _ accumulator: Accumulator,
        _ context: EvaluationContext,
        _ memory: inout MemoryBound
    ) throws(ServiceError) {
        let value = try accumulator.operand.evaluate(document, context)
        switch self {
        case .sum(var sum):
            sum.add(value)
            self = .sum(sum)
        case .average(var sum):
            sum.add(value)
            self = .average(sum)
        case .count(let count): self = .count(count &+ 1)
        case .single(let current):
            self = .single(try Self.better(accumulator.kind, current, value, context, &memory))
        case .deviation(var deviation, let isSample):
            deviation.add(value)
            self = .deviation(deviation, isSample: isSample)
        case .list(var list):
            // The list must be alone when it grows, or each document would copy it.
            self = .count(0)
            defer { self = .list(list) }
            if accumulator.kind == .push {
                guard let value else { return }
                try memory.add(value)
                list.append(value)
            } else {
                guard let elements = try Self.elements(value, accumulator.kind) else { return }
                try memory.add(.array(elements))
                list += elements
            }
        case .set(var set):
            self = .count(0)
            defer { self = .set(set) }
            if accumulator.kind == .addToSet {
                if let value { try set.insert(value, context, &memory) }
            } else {
                for element in try Self.elements(value, accumulator.kind) ?? [] {
                    try set.insert(element, context, &memory)
                }
            }
        case .merged(var fields):
            self = .count(0)
            defer { self = .merged(fields) }
            guard let value, !value.isNullish else { return }
            guard case .document(let object) = value else {
                throw .mongo(
                    5_911_200,
                    "$mergeObjects requires object inputs, but input \(MessageText.of(value)) is of type \(known: TypeName.of(value))"
                )
            }
            try memory.add(object)
            for field in object { fields.set(field.key, field.value) }
        case .percentiles(var numbers, let parts, let isMedian):
            self = .count(0)
            defer { self = .percentiles(numbers, parts: parts, isMedian: isMedian) }
            if numbers.add(value) { try memory.add(8) }
        case .several(var values):
            self = .count(0)
            defer { self = .several(values) }
            try values.add(value, document, context, &memory)
        }
    }

    /// The accumulator's result for the group.
    var result: BSONValue {
        switch self {
        case .sum(let sum): sum.value
        case .average(let sum): sum.average
        case .count(let count): Int32(exactly: count).map { .int32($0) } ?? .int64(count)
        case .single(let value): value ?? .null
        case .deviation(let deviation, let isSample): deviation.value(isSample: isSample)
        case .list(let values): .array(values)
        case .set(let set): .array(set.values)
        case .merged(let fields): .document(fields.document)
        case .several(let values): values.result
        case .percentiles(let numbers, let parts, let isMedian): numbers.result(at: parts, isMedian: isMedian)
        }
    }

    private static func better(
        _ kind: Accumulator.Kind,
        _ current: BSONValue?,
        _ value: BSONValue?,
        _ context: EvaluationContext,
        _ memory: inout MemoryBound
    ) throws(ServiceError) -> BSONValue? {
        switch kind {
        case .first:
            if let current { return current }
            try memory.add(value ?? .null)
            return value ?? .null
        case .last: return value ?? .null
        default:
            guard let value, !value.isNullish else { return current }
            guard let current else {
                try memory.add(value)
                return value
            }
            let order = context.compare(value, current)
            return (kind == .minimum ? order < 0 : order > 0) ? value : current
        }
    }

    /// The elements of an operand that must be an array; nil for a missing or null one.
    private static func elements(_ value: BSONValue?, _ kind: Accumulator.Kind) throws(ServiceError)
        -> [BSONValue]?
    {
        guard let value else { return nil }
        guard case .array(let elements) = value else {
            throw .mongo(
                .typeMismatch,
                "\(kind.rawValue) requires array inputs, but input is of type \(known: TypeName.of(value))"
            )
        }
        return elements
    }
}

/// Values without repetition, in order of appearance.
struct DistinctValues {
    private(set) var values: [BSONValue] = []
    private var seen = Set<BSONKey>()

    mutating func insert(
        _ value: BSONValue,
        _ context: EvaluationContext,
        _ memory: inout MemoryBound
    ) throws(ServiceError) {
        guard seen.insert(context.key(value)).inserted else { return }
        try memory.add(value)
        values.append(value)
    }
}

/// The values of `$firstN`, `$topN` and their relatives: the best `count` by some order.
struct LeadingValues {
    private struct Entry {
        let key: SortKey?
        let arrival: Int
        let value: BSONValue
        /// What stands for the value in comparisons.
        let compared: BSONValue
    }

    private let kind: Accumulator.Kind
    private let sort: Sort?
    private let count: Int
    private var entries: [Entry] = []
    private var arrivals = 0

    init(_ accumulator: Accumulator, count: Int) {
        kind = accumulator.kind
        sort = accumulator.sort
        self.count = count
    }

    mutating func add(
        _ value: BSONValue?,
        _ document: BSONDocument,
        _ context: EvaluationContext,
        _ memory: inout MemoryBound
    ) throws(ServiceError) {
        switch kind {
        case .firstN: if entries.count >= count { return }
        case .minimumN, .maximumN: if value?.isNullish ?? true { return }
        default: break
        }
        let value = value ?? .null
        try memory.add(value)
        arrivals += 1
        entries.append(
            Entry(
                key: sort.map { SortKey(of: document, by: $0) },
                arrival: arrivals,
                value: value,
                compared: context.keyed(value)
            )
        )
        if entries.count / 2 >= count { shrink() }
    }

    /// Keeps the best `count`, in their order.
    private mutating func shrink() { entries = best }

    private var best: [Entry] {
        let sorted = entries.sorted { order($0, $1) < 0 }
        return Array(keepsEnd ? sorted.suffix(count) : sorted.prefix(count))
    }

    /// Whether the last in order are kept.
    private var keepsEnd: Bool { kind == .lastN || kind == .bottom || kind == .bottomN }

    private func order(_ left: Entry, _ right: Entry) -> Int {
        var order = 0
        if let sort, let first = left.key, let second = right.key {
            order = first.compare(second, by: sort)
        } else if kind == .minimumN {
            order = BSONOrdering.compare(left.compared, right.compared)
        } else if kind == .maximumN {
            order = BSONOrdering.compare(right.compared, left.compared)
        }
        return order == 0 ? (left.arrival < right.arrival ? -1 : 1) : order
    }

    var result: BSONValue {
        let values = best.map(\.value)
        return kind == .top || kind == .bottom ? values.first ?? .null : .array(values)
    }
}

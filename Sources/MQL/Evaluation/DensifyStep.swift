import BSON
import Errors

/// A document that waits for its partition to be whole.
struct DensifyEntry {
    let partition: BSONKey
    let value: BSONValue?
    let arrival: Int
    let document: BSONDocument
}

/// `$densify`: between the documents of a partition, those that lack for even steps.
///
/// The steps are counted from the lower bound, not from the documents that are there. Documents without a
/// value, and those outside explicit bounds, pass as they are.
final class DensifyStep: CollectingStep<DensifyArguments, DensifyEntry> {
    /// Source: MongoDB, `internalQueryMaxAllowedDensifyDocs`.
    private static let mostGenerated = 500_000

    private var generated = 0

    override func accept(_ document: BSONDocument) throws(ServiceError) -> Bool {
        try memory.add(document)
        var partition: [BSONValue] = []
        for path in arguments.partition {
            partition.append(
                ExpressionLookup.value(of: path.components[...], in: document) ?? .undefined
            )
        }
        var value = ExpressionLookup.value(of: arguments.field.components[...], in: document)
        if value?.isNullish ?? true { value = nil }
        if let value { try check(value) }
        entries.append(
            DensifyEntry(
                partition: context.key(.array(partition)),
                value: value,
                arrival: entries.count,
                document: document
            )
        )
        return true
    }

    /// - Throws: ``ServiceError`` with server code 5733201 or 6053600.
    private func check(_ value: BSONValue) throws(ServiceError) {
        if case .date = value {
            guard arguments.unit != nil else {
                throw .mongo(6_053_600, "Encountered date value in collection without a unit")
            }
            return
        }
        guard value.isNumber else {
            throw .mongo(5_733_201, "Densify field type must be numeric or a date")
        }
        if arguments.unit != nil {
            throw .mongo(6_053_600, "Encountered numeric value in collection when unit specified")
        }
    }

    override func finish() throws(ServiceError) {
        entries.sort { first, second in
            let order = BSONOrdering.compare(first.partition.value, second.partition.value)
            if order != 0 { return order < 0 }
            let place = BSONOrdering.compare(first.value ?? .null, second.value ?? .null)
            return place == 0 ? first.arrival < second.arrival : place < 0
        }
        let all = entries.compactMap(\.value)
        var reach: (low: BSONValue, high: BSONValue)?
        switch arguments.bounds {
        case .explicit(let low, let high): reach = (low, high)
        case .full: reach = Self.reach(all)
        case .partition: break
        }
        var start = 0
        while start < entries.count {
            var end = start + 1
            while end < entries.count, entries[end].partition == entries[start].partition { end += 1 }
            let partition = entries[start..<end]
            guard try densify(partition, reach ?? Self.reach(partition.compactMap(\.value))) else { break }
            start = end
        }
        if entries.isEmpty, arguments.partition.isEmpty, case .explicit(let low, let high) = arguments.bounds
        {
            _ = try densify([], (low, high))
        }
        entries = []
        try super.finish()
    }

    private static func reach(_ values: [BSONValue]) -> (low: BSONValue, high: BSONValue)? {
        guard let first = values.first else { return nil }
        var (low, high) = (first, first)
        for value in values {
            if BSONOrdering.compare(value, low) < 0 { low = value }
            if BSONOrdering.compare(value, high) > 0 { high = value }
        }
        return (low, high)
    }

    /// Hands a partition on with what lacks in it; false when no more is wanted.
    private func densify(
        _ partition: ArraySlice<DensifyEntry>,
        _ reach: (low: BSONValue, high: BSONValue)?
    ) throws(ServiceError) -> Bool {
        guard let reach else { return try handOn(partition) }
        var includesHigh = true
        if case .explicit = arguments.bounds { includesHigh = false }
        var step = 0
        var next: BSONValue? = reach.low
        for entry in partition {
            if let value = entry.value {
                while let place = next, BSONOrdering.compare(place, value) < 0,
                    isWithin(place, reach.high, includesHigh)
                {
                    guard try add(place, like: entry) else { return false }
                    step += 1
                    next = try stepped(reach.low, place, step)
                }
                if let place = next, BSONOrdering.equal(place, value) {
                    step += 1
                    next = try stepped(reach.low, place, step)
                }
            }
            guard try super.accept(entry.document) else { return false }
        }
        while let place = next, isWithin(place, reach.high, includesHigh) {
            guard try add(place, like: partition.last) else { return false }
            step += 1
            next = try stepped(reach.low, place, step)
        }
        return true
    }

    private func handOn(_ partition: ArraySlice<DensifyEntry>) throws(ServiceError) -> Bool {
        for entry in partition {
            guard try super.accept(entry.document) else { return false }
        }
        return true
    }

    private func isWithin(_ place: BSONValue, _ high: BSONValue, _ includesHigh: Bool) -> Bool {
        let order = BSONOrdering.compare(place, high)
        return includesHigh ? order <= 0 : order < 0
    }

    /// The value after `place`, the given number of steps from the lower bound.
    private func stepped(_ low: BSONValue, _ place: BSONValue, _ count: Int) throws(ServiceError)
        -> BSONValue?
    {
        try context.meter.spend()
        if let unit = arguments.unit, case .date(let date) = low {
            let (amount, overflow) = (arguments.step.exactInt64 ?? 1).multipliedReportingOverflow(
                by: Int64(count)
            )
            return overflow ? nil : DateArithmetic.add(date, unit, amount, .utc).map { .date($0) }
        }
        guard let number = NumericValue(place) else { return nil }
        let next = NumericArithmetic.add(number, arguments.step).value
        // A step too small to move a large double would never arrive.
        return BSONOrdering.compare(next, place) > 0 ? next : nil
    }

    private func add(_ value: BSONValue, like entry: DensifyEntry?) throws(ServiceError) -> Bool {
        generated += 1
        guard generated <= Self.mostGenerated else {
            throw .mongo(
                5_897_900,
                "Generated \(String(generated)) documents in $densify, which is over the limit of \(String(Self.mostGenerated))"
            )
        }
        var document = BSONDocument()
        if let entry {
            for path in arguments.partition {
                if let shared = ExpressionLookup.value(of: path.components[...], in: entry.document) {
                    document = DocumentEdit.setDirectly(path.components[...], in: document, to: shared)
                }
            }
        }
        return try super.accept(
            DocumentEdit.setDirectly(arguments.field.components[...], in: document, to: value)
        )
    }
}

import BSON
import Errors

/// The groups of `$group` and the buckets of `$bucket`, each with its accumulators' states.
struct Groups {
    private let fields: [(name: String, accumulator: Accumulator)]
    private let context: EvaluationContext
    private var memory: MemoryBound
    private var places: [BSONKey: Int] = [:]
    private var groups: [(id: BSONValue, states: [AccumulatorState])] = []

    init(
        _ fields: [(name: String, accumulator: Accumulator)],
        _ context: EvaluationContext,
        _ memory: MemoryBound
    ) {
        self.fields = fields
        self.context = context
        self.memory = memory
    }

    /// Adds a document to the group of an id; of equal ids, the first one seen is kept.
    mutating func add(_ document: BSONDocument, to id: BSONValue) throws(ServiceError) {
        let key = context.key(id)
        let place: Int
        if let known = places[key] {
            place = known
        } else {
            try memory.add(id)
            try memory.add(64 + 64 * fields.count)
            place = groups.count
            places[key] = place
            var states: [AccumulatorState] = []
            for field in fields {
                states.append(try AccumulatorState(field.accumulator, group: id, context))
            }
            groups.append((id, states))
        }
        for index in fields.indices {
            try groups[place].states[index].add(document, fields[index].accumulator, context, &memory)
        }
    }

    /// The groups as documents, in order of appearance.
    func documents() throws(ServiceError) -> [BSONDocument] {
        var documents: [BSONDocument] = []
        documents.reserveCapacity(groups.count)
        for group in groups {
            var document = BSONDocument()
            document.append("_id", group.id)
            for (field, state) in zip(fields, group.states) { document.append(field.name, state.result) }
            try ValueSize.checkDepth(document)
            documents.append(document)
        }
        return documents
    }
}

/// `$group`: the groups appear in the order of their first documents.
final class GroupStep: PipelineStep {
    private let id: AggregationExpression
    private let context: EvaluationContext
    private var groups: Groups

    init(
        _ next: PipelineStep,
        _ arguments: GroupArguments,
        _ context: EvaluationContext,
        _ memory: MemoryBound
    ) {
        id = arguments.id
        self.context = context.grouping
        groups = Groups(arguments.fields, context.grouping, memory)
        super.init(next)
    }

    override func accept(_ document: BSONDocument) throws(ServiceError) -> Bool {
        try groups.add(document, to: try id.evaluate(document, context) ?? .null)
        return true
    }

    override func finish() throws(ServiceError) {
        for document in try groups.documents() {
            guard try super.accept(document) else { break }
        }
        try super.finish()
    }
}

/// `$bucket`: groups by the lower bound of the interval that a value lies in.
final class BucketStep: PipelineStep {
    private let arguments: BucketArguments
    private let context: EvaluationContext
    private var groups: Groups

    init(
        _ next: PipelineStep,
        _ arguments: BucketArguments,
        _ context: EvaluationContext,
        _ memory: MemoryBound
    ) {
        self.arguments = arguments
        self.context = context
        groups = Groups(arguments.fields, context.grouping, memory)
        super.init(next)
    }

    override func accept(_ document: BSONDocument) throws(ServiceError) -> Bool {
        let value = try arguments.groupBy.evaluate(document, context)
        let boundaries = arguments.boundaries
        let place = boundaries.partitioningIndex { context.order($0, value) > 0 }
        if place > 0, place < boundaries.count {
            try groups.add(document, to: boundaries[place - 1])
        } else if let fallback = arguments.fallback {
            try groups.add(document, to: fallback)
        } else {
            throw .mongo(
                40066,
                "$switch could not find a matching branch for an input, and no default was specified."
            )
        }
        return true
    }

    override func finish() throws(ServiceError) {
        let sorted = try groups.documents().sorted { [context] in
            context.compare($0["_id"] ?? .null, $1["_id"] ?? .null) < 0
        }
        for document in sorted {
            guard try super.accept(document) else { break }
        }
        try super.finish()
    }
}

/// `$bucketAuto`: intervals of about as many documents each; equal values stay together.
final class BucketAutoStep: CollectingStep<BucketAutoArguments, (value: BSONValue, document: BSONDocument)> {
    override func accept(_ document: BSONDocument) throws(ServiceError) -> Bool {
        try memory.add(document)
        entries.append((try arguments.groupBy.evaluate(document, context) ?? .null, document))
        return true
    }

    override func finish() throws(ServiceError) {
        let sorted = entries.enumerated().sorted { left, right in
            let order = context.compare(left.element.value, right.element.value)
            return order == 0 ? left.offset < right.offset : order < 0
        }.map(\.element)
        let size = max(1, Int((Double(sorted.count) / Double(arguments.buckets)).rounded()))
        var start = 0
        var number = 1
        var lower = sorted.first?.value ?? .null
        if let granularity = arguments.granularity, !sorted.isEmpty { lower = try granularity.down(lower) }
        while start < sorted.count {
            var end = number == arguments.buckets ? sorted.count : min(start + size, sorted.count)
            let upper = try upperBound(sorted, &end)
            let bounds: BSONValue = ["min": lower, "max": upper]
            var bucket = Groups(
                arguments.fields,
                context,
                MemoryBound(limit: memory.limit, stage: "$bucketAuto")
            )
            for entry in sorted[start..<end] { try bucket.add(entry.document, to: bounds) }
            for document in try bucket.documents() {
                guard try super.accept(document) else { return try super.finish() }
            }
            start = end
            number += 1
            lower = upper
        }
        try super.finish()
    }

    /// Where a bucket ends that holds at least the values before `end`, which moves past those that belong
    /// to it besides.
    private func upperBound(
        _ sorted: [(value: BSONValue, document: BSONDocument)],
        _ end: inout Int
    ) throws(ServiceError) -> BSONValue {
        let last = sorted[end - 1].value
        guard let granularity = arguments.granularity else {
            while end < sorted.count, context.compare(sorted[end].value, last) == 0 { end += 1 }
            return end < sorted.count ? sorted[end].value : last
        }
        let rounded = try granularity.up(last)
        while end < sorted.count, BSONOrdering.compare(rounded, sorted[end].value) > 0 { end += 1 }
        // Zeros alone round to zero; then the next bucket says where this one ends.
        guard rounded.doubleValue == 0, end < sorted.count else { return rounded }
        return try granularity.down(sorted[end].value)
    }
}

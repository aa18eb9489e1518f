import BSON
import Errors

/// One stage at work: takes documents, hands on what it makes of them.
class PipelineStep {
    let next: PipelineStep?

    init(_ next: PipelineStep?) {
        self.next = next
    }

    /// Takes a document.
    ///
    /// False means that no further one is wanted.
    func accept(_ document: BSONDocument) throws(ServiceError) -> Bool {
        try next?.accept(document) ?? false
    }

    /// The input is over; hands on what was held back.
    func finish() throws(ServiceError) {
        try next?.finish()
    }

    /// The step of a stage.
    ///
    /// - Parameters:
    ///   - stage: What the step does.
    ///   - bound: How many documents a `$sort` must give.
    ///   - next: The step that takes the results.
    ///   - context: The time, variables, and what may be spent.
    ///   - memory: What the step may hold.
    /// - Returns: A step that has seen no document.
    static func make(
        _ stage: Stage,
        bound: Int?,
        _ next: PipelineStep,
        _ context: EvaluationContext,
        _ memory: MemoryBound
    ) -> PipelineStep {
        switch stage {
        case .match(let filter):
            return FilterStep(next) { (document) throws(ServiceError) in try filter.matches(document, context)
            }
        case .project(let projection):
            return TransformStep(next, checksDepth: projection.deepens) { (document) throws(ServiceError) in
                try projection.apply(document, filter: nil, context)
            }
        case .addFields(let assignments):
            return TransformStep(next, checksDepth: true) { (document) throws(ServiceError) in
                try DocumentEdit.assign(assignments, to: document, context)
            }
        case .unset(let paths):
            return TransformStep(next, checksDepth: false) { (document) throws(ServiceError) in
                paths.reduce(document) { DocumentEdit.remove($1.components[...], from: $0) }
            }
        case .replaceRoot(let expression):
            return TransformStep(next, checksDepth: expression.deepens) { (document) throws(ServiceError) in
                try DocumentEdit.replaceRoot(expression, document, context)
            }
        case .redact(let expression):
            return RedactStep(next, expression, context)
        case .group(let arguments):
            return GroupStep(next, arguments, context, memory)
        case .sortByCount(let expression):
            let count = Accumulator(kind: .sum, operand: .literal(.int32(1)))
            let order = Sort(keys: [Sort.Key(path: "count", ascending: false)])
            let sort = SortStep(next, order, bound: nil, memory)
            return GroupStep(
                sort,
                GroupArguments(id: expression, fields: [("count", count)]),
                context,
                memory
            )
        case .bucket(let arguments):
            return BucketStep(next, arguments, context, memory)
        case .bucketAuto(let arguments):
            return BucketAutoStep(next, arguments, context, memory)
        case .sort(let sort): return SortStep(next, sort, bound: bound, memory)
        case .limit(let count): return LimitStep(next, count)
        case .skip(let count): return SkipStep(next, count)
        case .count(let name): return CountStep(next, name)
        case .unwind(let arguments): return UnwindStep(next, arguments, context)
        case .sample(let count): return SampleStep(next, count, context.random, memory)
        case .facet(let facets): return FacetStep(next, facets, context, memory)
        case .setWindowFields(let arguments): return WindowStep(next, arguments, context, memory)
        case .densify(let arguments): return DensifyStep(next, arguments, context, memory)
        case .fill(let arguments):
            let assign = TransformStep(next, checksDepth: true) { (document) throws(ServiceError) in
                try DocumentEdit.assign(arguments.assignments, to: document, context)
            }
            return arguments.window.map { WindowStep(assign, $0, context, memory) } ?? assign
        case .documents(let expression): return DocumentsStep(next, expression, context)
        case .lookup, .unionWith, .graphLookup, .merge, .out: return UnreadStep(next, stage.name)
        }
    }
}

extension Projection {
    /// Whether a computed field may nest values deeper than the document has them.
    var deepens: Bool {
        items.contains { item in
            if case .computed = item { true } else { false }
        }
    }
}

/// The end of a pipeline.
final class CollectStep: PipelineStep {
    private(set) var documents: [BSONDocument] = []
    private var memory: MemoryBound

    init(memory: MemoryBound) {
        self.memory = memory
        super.init(nil)
    }

    override func accept(_ document: BSONDocument) throws(ServiceError) -> Bool {
        try memory.add(document)
        documents.append(document)
        return true
    }
}

/// Hands on what satisfies the filter of a `$match`.
final class FilterStep: PipelineStep {
    private let holds: (BSONDocument) throws(ServiceError) -> Bool

    init(_ next: PipelineStep, _ holds: @escaping (BSONDocument) throws(ServiceError) -> Bool) {
        self.holds = holds
        super.init(next)
    }

    override func accept(_ document: BSONDocument) throws(ServiceError) -> Bool {
        try holds(document) ? super.accept(document) : true
    }
}

/// Stages that make one document of one.
final class TransformStep: PipelineStep {
    private let checksDepth: Bool
    private let transform: (BSONDocument) throws(ServiceError) -> BSONDocument

    init(
        _ next: PipelineStep,
        checksDepth: Bool,
        _ transform: @escaping (BSONDocument) throws(ServiceError) -> BSONDocument
    ) {
        self.checksDepth = checksDepth
        self.transform = transform
        super.init(next)
    }

    override func accept(_ document: BSONDocument) throws(ServiceError) -> Bool {
        let result = try transform(document)
        if checksDepth { try ValueSize.checkDepth(result) }
        return try super.accept(result)
    }
}

/// Hands on the first documents, as many as `$limit` says.
final class LimitStep: PipelineStep {
    private var rest: Int

    init(_ next: PipelineStep, _ count: Int) {
        rest = count
        super.init(next)
    }

    override func accept(_ document: BSONDocument) throws(ServiceError) -> Bool {
        guard rest > 0 else { return false }
        rest -= 1
        return try super.accept(document) && rest > 0
    }
}

/// Hands on all but the first documents, as many as `$skip` says.
final class SkipStep: PipelineStep {
    private var rest: Int

    init(_ next: PipelineStep, _ count: Int) {
        rest = count
        super.init(next)
    }

    override func accept(_ document: BSONDocument) throws(ServiceError) -> Bool {
        guard rest == 0 else {
            rest -= 1
            return true
        }
        return try super.accept(document)
    }
}

/// `$count`: nothing for an empty input.
final class CountStep: PipelineStep {
    private let name: String
    private var count = 0

    init(_ next: PipelineStep, _ name: String) {
        self.name = name
        super.init(next)
    }

    override func accept(_ document: BSONDocument) throws(ServiceError) -> Bool {
        count += 1
        return true
    }

    override func finish() throws(ServiceError) {
        if count > 0 {
            let value = Int32(exactly: count).map { BSONValue.int32($0) } ?? .int64(Int64(count))
            _ = try super.accept(BSONDocument([BSONDocument.Field(key: name, value: value)]))
        }
        try super.finish()
    }
}

/// `$sort`, with a bound where a `$limit` follows.
final class SortStep: PipelineStep {
    private let sort: Sort
    private let bound: Int?
    private var top: TopDocuments?
    private var documents: [BSONDocument] = []
    private var memory: MemoryBound

    init(_ next: PipelineStep, _ sort: Sort, bound: Int?, _ memory: MemoryBound) {
        self.sort = sort
        self.bound = bound
        self.memory = memory
        top = bound.map { TopDocuments(sort: sort, limit: $0) }
        super.init(next)
    }

    override func accept(_ document: BSONDocument) throws(ServiceError) -> Bool {
        let size = ValueSize.of(document, limit: memory.limit)
        if top != nil {
            top?.insert(document)
            if memory.overflows(with: size) {
                // Most of what was counted has been let go; count what is still there.
                memory.reset()
                for kept in top?.documents ?? [] { try memory.add(kept) }
            } else {
                try memory.add(size)
            }
        } else {
            try memory.add(size)
            documents.append(document)
        }
        return true
    }

    override func finish() throws(ServiceError) {
        for document in top?.documents ?? sort.sorted(documents) {
            guard try super.accept(document) else { break }
        }
        documents = []
        try super.finish()
    }
}

/// `$sample`: each document has the same chance (reservoir sampling).
final class SampleStep: PipelineStep {
    private let count: Int
    private let random: RandomSource
    private var seen = 0
    private var kept: [BSONDocument] = []
    private var memory: MemoryBound

    init(_ next: PipelineStep, _ count: Int, _ random: RandomSource, _ memory: MemoryBound) {
        self.count = count
        self.random = random
        self.memory = memory
        super.init(next)
    }

    override func accept(_ document: BSONDocument) throws(ServiceError) -> Bool {
        seen += 1
        if kept.count < count {
            try memory.add(document)
            kept.append(document)
        } else {
            let place = random.next(below: seen)
            if place < count { kept[place] = document }
        }
        return true
    }

    override func finish() throws(ServiceError) {
        for index in kept.indices.reversed() { kept.swapAt(index, random.next(below: index + 1)) }
        for document in kept {
            guard try super.accept(document) else { break }
        }
        try super.finish()
    }
}

/// A stage over another collection, in a place that reads none.
final class UnreadStep: PipelineStep {
    private let name: String

    init(_ next: PipelineStep, _ name: String) {
        self.name = name
        super.init(next)
    }

    override func accept(_ document: BSONDocument) throws(ServiceError) -> Bool {
        throw .mongo(.illegalOperation, "\(name) is not available here")
    }

    override func finish() throws(ServiceError) {
        throw .mongo(.illegalOperation, "\(name) is not available here")
    }
}

/// `$documents`: the objects of an array, whatever the input.
final class DocumentsStep: PipelineStep {
    private let expression: AggregationExpression
    private let context: EvaluationContext

    init(_ next: PipelineStep, _ expression: AggregationExpression, _ context: EvaluationContext) {
        self.expression = expression
        self.context = context
        super.init(next)
    }

    override func accept(_ document: BSONDocument) throws(ServiceError) -> Bool { false }

    override func finish() throws(ServiceError) {
        guard case .array(let elements)? = try expression.evaluate(BSONDocument(), context) else {
            throw .mongo(5_858_203, "an array is expected in $documents")
        }
        for element in elements {
            guard case .document(let document) = element else {
                throw .mongo(40228, "the elements of $documents must be objects")
            }
            guard try super.accept(document) else { break }
        }
        try super.finish()
    }
}

/// `$facet`: every pipeline sees the same documents.
final class FacetStep: PipelineStep {
    private var runs: [(name: String, run: PipelineRun, isOpen: Bool)]

    init(
        _ next: PipelineStep,
        _ facets: [(name: String, pipeline: Pipeline)],
        _ context: EvaluationContext,
        _ memory: MemoryBound
    ) {
        runs = facets.map {
            ($0.name, PipelineRun($0.pipeline, context, memoryLimitBytes: memory.limit), true)
        }
        super.init(next)
    }

    override func accept(_ document: BSONDocument) throws(ServiceError) -> Bool {
        for index in runs.indices where runs[index].isOpen {
            runs[index].isOpen = try runs[index].run.accept(document)
        }
        return runs.contains { $0.isOpen }
    }

    override func finish() throws(ServiceError) {
        var document = BSONDocument()
        for run in runs {
            document.append(run.name, .array(try run.run.finish().map { .document($0) }))
        }
        try ValueSize.checkDepth(document)
        _ = try super.accept(document)
        try super.finish()
    }
}

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

public import BSON
public import Errors

extension Pipeline {
    /// The most bytes that a stage may hold by default.
    public static let standardMemoryLimit = 100 << 20

    /// Runs the stages over documents.
    ///
    /// Documents stream through the stages one by one; `$limit` ends the stream early, and a
    /// `$sort` before it keeps only what the limit lets through.
    ///
    /// - Parameters:
    ///   - input: The documents, in the order in which the first stage sees them.
    ///   - context: The time, variables, and what may be spent.
    ///   - memoryLimitBytes: What each blocking stage, and the result, may hold.
    /// - Returns: What leaves the last stage, in order.
    /// - Throws: ``ServiceError`` with server code 292 past the memory limit, or the code of the
    ///   stage or expression that refuses a value.
    public func run(
        _ input: some Sequence<BSONDocument>,
        _ context: EvaluationContext,
        memoryLimitBytes: Int = Pipeline.standardMemoryLimit
    ) throws(ServiceError) -> [BSONDocument] {
        let run = PipelineRun(self, context, memoryLimitBytes: memoryLimitBytes)
        for document in input {
            guard try run.accept(document) else { break }
        }
        return try run.finish()
    }

    /// As ``run(_:_:memoryLimitBytes:)`` for few documents that are there already, and stages that only put them in
    /// order or leave some out.
    ///
    /// - Returns: nil where there are other stages.
    public func arranged(_ input: [BSONDocument]) -> [BSONDocument]? {
        var documents = input
        for stage in stages {
            switch stage {
            case .sort(let sort): documents = sort.sorted(documents)
            case .skip(let count): documents.removeFirst(Swift.min(count, documents.count))
            case .limit(let count) where count < documents.count: documents.removeSubrange(count...)
            case .limit: break
            default: return nil
            }
        }
        return documents
    }
}

/// A pipeline in progress, for documents that arrive one by one.
///
/// Used by one task at a time; documents go in by ``accept(_:)`` until it answers false, the
/// results come out of ``finish()``.
public final class PipelineRun {
    private let first: PipelineStep
    private let results: CollectStep

    /// As ``Pipeline/run(_:_:memoryLimitBytes:)``.
    public init(
        _ pipeline: Pipeline,
        _ context: EvaluationContext,
        memoryLimitBytes: Int = Pipeline.standardMemoryLimit
    ) {
        results = CollectStep(memory: MemoryBound(limit: memoryLimitBytes, stage: "the pipeline's result"))
        var next: PipelineStep = results
        for (index, stage) in pipeline.stages.enumerated().reversed() {
            let memory = MemoryBound(limit: memoryLimitBytes, stage: stage.name)
            next = PipelineStep.make(
                stage,
                bound: Self.bound(after: index, in: pipeline.stages),
                next,
                context,
                memory
            )
        }
        first = next
    }

    /// Takes one document.
    ///
    /// False means that no further one can change the result.
    public func accept(_ document: BSONDocument) throws(ServiceError) -> Bool {
        try first.accept(document)
    }

    /// Ends the input and gives the results.
    public func finish() throws(ServiceError) -> [BSONDocument] {
        try first.finish()
        return results.documents
    }

    /// How many of its first documents a `$sort` must give when a `$limit` follows, with any
    /// number of `$skip`s before it.
    private static func bound(after index: Int, in stages: [Stage]) -> Int? {
        guard case .sort = stages[index] else { return nil }
        var skipped = 0
        for stage in stages[(index + 1)...] {
            switch stage {
            case .skip(let count):
                let (sum, overflow) = skipped.addingReportingOverflow(count)
                if overflow { return nil }
                skipped = sum
            case .limit(let count):
                let (sum, overflow) = skipped.addingReportingOverflow(count)
                return overflow ? nil : sum
            default: return nil
            }
        }
        return nil
    }
}

/// What one blocking stage holds, and the most it may.
struct MemoryBound {
    let limit: Int
    let stage: String
    private var held = 0

    init(limit: Int, stage: String) {
        self.limit = limit
        self.stage = stage
    }

    /// - Throws: ``ServiceError`` with server code 292 past the limit.
    mutating func add(_ bytes: Int) throws(ServiceError) {
        held &+= bytes
        if held > limit || held < 0 {
            throw .mongo(
                .exceededMemoryLimit,
                "Exceeded memory limit for \(stage) of \(limit) bytes, and disk use is not available"
            )
        }
    }

    mutating func add(_ document: BSONDocument) throws(ServiceError) {
        try add(ValueSize.of(document, limit: limit))
    }

    mutating func add(_ value: BSONValue) throws(ServiceError) {
        try add(ValueSize.of(value, limit: limit))
    }

    /// Whether so many more bytes would pass the limit.
    func overflows(with bytes: Int) -> Bool { held &+ bytes > limit }

    /// Starts anew, after some of what was held has been let go.
    mutating func reset() { held = 0 }
}

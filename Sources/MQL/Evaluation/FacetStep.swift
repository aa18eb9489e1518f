import BSON
import Errors

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

import BSON
import Errors

/// A stage that has to see all of its input before it hands on the first document, within a memory bound.
class CollectingStep<Arguments, Entry>: PipelineStep {
    let arguments: Arguments
    let context: EvaluationContext
    var memory: MemoryBound
    var entries: [Entry] = []

    init(
        _ next: PipelineStep,
        _ arguments: Arguments,
        _ context: EvaluationContext,
        _ memory: MemoryBound
    ) {
        self.arguments = arguments
        self.context = context
        self.memory = memory
        super.init(next)
    }
}

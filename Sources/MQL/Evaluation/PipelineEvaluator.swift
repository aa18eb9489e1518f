public import BSON
public import Errors

extension Pipeline {
    /// The most bytes that a stage may hold by default.
    public static let standardMemoryLimit = 100 << 20

    /// Runs the stages over documents.
    ///
    /// - Parameters:
    ///   - input: The documents, in the order in which the first stage sees them.
    ///   - context: The time, variables, and what may be spent.
    ///   - memoryLimitBytes: What each blocking stage, and the result, may hold.
    /// - Throws: ``ServiceError`` with server code 292 past the memory limit, or the code of the
    ///   stage or expression that refuses a value.
    public func run(
        _ input: [BSONDocument], _ context: EvaluationContext,
        memoryLimitBytes: Int = Pipeline.standardMemoryLimit
    ) throws(ServiceError) -> [BSONDocument] {
        for stage in stages {
            throw .mongo(238, "The pipeline stage '\(stage.name)' is not supported by tidegate")
        }
        return input
    }
}

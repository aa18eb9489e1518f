public import Errors
public import MQL

/// What one operation may bring back and compute.
public struct DataLimits: Sendable {
    /// Bytes of the documents in one answer, as they are written.
    public var resultBytes: Int
    /// Documents in one answer.
    ///
    /// Source: data-api.md §11.
    public var resultDocuments: Int
    /// Steps that the expressions of one operation may take in memory.
    public var evaluationSteps: Int

    /// The defaults, but for what is given.
    public init(
        resultBytes: Int = 64 << 20,
        resultDocuments: Int = OperationParser.maximumLimit,
        evaluationSteps: Int = EvaluationMeter.standardLimit
    ) {
        self.resultBytes = resultBytes
        self.resultDocuments = resultDocuments
        self.evaluationSteps = evaluationSteps
    }

    /// - Throws: `ReadSizeLimitExceeded` for an answer of too many bytes.
    public func check(bytes: Int) throws(ServiceError) {
        guard bytes > resultBytes else { return }
        throw ServiceError(
            .readSizeLimitExceeded,
            "the result is larger than \(resultBytes) bytes (limit max-result-bytes)",
            details: ["limit": "max-result-bytes"]
        )
    }

    /// - Throws: `ReadSizeLimitExceeded` for an answer of too many documents.
    func check(documents: Int) throws(ServiceError) {
        guard documents > resultDocuments else { return }
        throw ServiceError(
            .readSizeLimitExceeded,
            "the result has more than \(resultDocuments) documents (limit max-result-documents)",
            details: ["limit": "max-result-documents"]
        )
    }
}

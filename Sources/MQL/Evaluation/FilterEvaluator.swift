public import BSON
public import Errors

extension Filter {
    /// Whether a document satisfies the filter.
    public func matches(_ document: BSONDocument, _ context: EvaluationContext) throws(ServiceError) -> Bool {
        throw .mongo(.badValue, "unknown operator")
    }
}

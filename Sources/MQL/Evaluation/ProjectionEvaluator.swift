public import BSON
public import Errors

extension Projection {
    /// The document as projected; `filter` serves the positional form.
    public func apply(
        _ document: BSONDocument, filter: Filter?, _ context: EvaluationContext
    ) throws(ServiceError) -> BSONDocument {
        throw .mongo(.badValue, "unknown operator")
    }
}

public import BSON
public import Errors

extension Update {
    /// The document after the update.
    public func apply(
        to document: BSONDocument, filter: Filter, isUpsertInsert: Bool, _ context: EvaluationContext
    ) throws(ServiceError) -> BSONDocument {
        throw .mongo(.badValue, "unknown operator")
    }

    /// The document that an upsert inserts when nothing matched.
    public func upsertDocument(
        filter: Filter, _ context: EvaluationContext, newID: () -> ObjectID
    ) throws(ServiceError) -> BSONDocument {
        throw .mongo(.badValue, "unknown operator")
    }
}

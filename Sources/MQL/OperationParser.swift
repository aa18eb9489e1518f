public import BSON
public import Errors

/// Turns the body of a Data API request into a ``DataOperation``.
public enum OperationParser {
    /// Parses the body of one of the ten actions, named as in the URL.
    public static func parse(action: String, body: BSONDocument) throws(ServiceError) -> DataOperation {
        throw ServiceError(.badRequest, "unknown action")
    }
}

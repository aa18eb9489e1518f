public import BSON
public import Errors

/// Turns an update document or pipeline into an ``Update``.
public enum UpdateParser {
    /// Parses an update.
    public static func parse(
        _ value: BSONValue, arrayFilters: [BSONDocument] = [], multi: Bool
    ) throws(ServiceError) -> Update {
        throw .mongo(.badValue, "unknown operator")
    }
}

public import BSON
public import Errors

/// Turns a filter document into a ``Filter``.
public enum FilterParser {
    /// Parses a filter document.
    public static func parse(
        _ document: BSONDocument, allowsUserRestrictedOperators: Bool = true
    ) throws(ServiceError) -> Filter {
        throw .mongo(.badValue, "unknown operator")
    }
}

public import BSON
public import Errors

/// Turns a sort document into a ``Sort``.
public enum SortParser {
    /// Parses a sort document; `{}` gives a sort without keys.
    public static func parse(_ document: BSONDocument) throws(ServiceError) -> Sort {
        throw .mongo(.badValue, "unknown operator")
    }
}

public import BSON
public import Errors

/// Turns a projection document into a ``Projection``.
public enum ProjectionParser {
    /// Parses a projection; nil for `{}` of a find.
    public static func parse(
        _ document: BSONDocument, inPipeline: Bool
    ) throws(ServiceError) -> Projection? {
        throw .mongo(.badValue, "unknown operator")
    }
}

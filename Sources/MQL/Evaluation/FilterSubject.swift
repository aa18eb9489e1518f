import BSON
import Errors

/// What tests are applied to: a path of a document, or one value.
enum FilterSubject {
    /// The candidates of a path.
    case field(BSONDocument, FieldPath)
    /// An element as it is: an array stays closed.
    case value(BSONValue)
    /// A value as if it were a field: an array is opened.
    case openedValue(BSONValue)

    /// Shows candidates to the visitor until it returns true; says whether it did.
    func contains(
        _ leaf: PathCandidates.Leaf,
        where visitor: PathCandidates.Visitor
    ) throws(ServiceError) -> Bool {
        switch self {
        case .field(let document, let path):
            return try PathCandidates(path: path.components, leaf: leaf).contains(
                in: document,
                where: visitor
            )
        case .value(let value):
            return try visitor(value, nil)
        case .openedValue(let value):
            if leaf == .opened, case .array(let elements) = value {
                for element in elements where try visitor(element, nil) { return true }
            }
            return try visitor(value, nil)
        }
    }

    /// How many components lead to the subject.
    var depth: Int {
        if case .field(_, let path) = self { path.components.count } else { 0 }
    }

    /// Notes the array index by which a test held.
    func record(_ position: PathCandidates.Position?, _ indexes: inout MatchedIndexes?) {
        guard indexes != nil, let position, case .field(_, let path) = self else { return }
        indexes?.record(position.index, at: path.components.prefix(position.depth))
    }
}

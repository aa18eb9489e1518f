import BSON
import Errors

/// Looks up what a `$rename` moves.
enum RenameSource {
    /// The value at the source; nil when it is missing.
    ///
    /// - Throws: ``ServiceError`` with server code 2 when source or target lies in an array.
    static func value(
        at source: UpdatePath,
        target: UpdatePath,
        in root: BSONDocument
    ) throws(ServiceError) -> BSONValue? {
        guard let value = try lookUp(source, in: root, role: "source") else { return nil }
        _ = try lookUp(target, in: root, role: "destination")
        if target.components.first?.text == "_id" {
            throw .mongo(
                .immutableField,
                "Performing an update on the path '_id' would modify the immutable field '_id'"
            )
        }
        return value
    }

    private static func lookUp(
        _ path: UpdatePath,
        in root: BSONDocument,
        role: String
    ) throws(ServiceError) -> BSONValue? {
        var value = BSONValue.document(root)
        for (index, component) in path.components.enumerated() {
            switch value {
            case .document(let document):
                guard let next = document[component.text] else { return nil }
                value = next
            case .array:
                throw .mongo(
                    .badValue,
                    "The \(role) field cannot be an array element, '\(path.text)' in doc with _id: \(MongoShellText.describe(root["_id"] ?? .null)) has an array field called '\(path.components[index - 1].text)'"
                )
            case let scalar where role == "source":
                throw .mongo(
                    .pathNotViable,
                    "cannot use the part (\(component.text)) of (\(path.text)) to traverse the element (\(path.components[index - 1].text): \(MongoShellText.describe(scalar)))"
                )
            default: return nil
            }
        }
        return value
    }
}

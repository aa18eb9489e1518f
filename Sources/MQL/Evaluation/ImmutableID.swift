import BSON
import Errors

/// Guards the `_id` of a document that changes.
enum ImmutableID {
    /// Gives the result the `_id` that the document had, in front.
    ///
    /// - Parameters:
    ///   - result: The document after the change.
    ///   - document: The document before; without `_id` when it is the seed of an upsert.
    ///   - keepingAbsent: Whether a result without `_id` gets the former one rather than being refused.
    ///   - message: The text for a changed `_id`.
    /// - Throws: ``ServiceError`` with server code 66.
    static func restore(
        in result: inout BSONDocument,
        from document: BSONDocument,
        keepingAbsent: Bool = false,
        message: (BSONValue?) -> ErrorMessage
    ) throws(ServiceError) {
        let new = result["_id"]
        let old = document["_id"]
        if let old {
            let isSame = new.map { BSONOrdering.equal($0, old) } ?? keepingAbsent
            if !isSame { throw .mongo(.immutableField, message(new)) }
        }
        guard let id = old ?? new else { return }
        if result.firstKey != "_id" {
            result["_id"] = nil
            result.fields.insert(BSONDocument.Field(key: "_id", value: id), at: 0)
        } else {
            // 1 and 1.0 are the same id; the stored form stays.
            result.fields[0].value = id
        }
    }
}

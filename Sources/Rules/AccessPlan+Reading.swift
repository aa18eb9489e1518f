public import BSON
import MQL
import Schemas

// Reading, in the order of `rules.md` §5.
//
// B  The gate (`document_filters`): its read half, or else its write half, must hold.
// C  The permission of the whole document: read, or else write. Where neither holds, a defined read
//    denies the document, and an undefined one leaves it to the fields.
// D  Each field by its entry, or by `additional_fields`; embedded documents by their own entries.
//    A document of which no field is left is not shown.
extension AccessPlan {
    /// What the caller may see of a document; nil when that is nothing.
    public func visible(_ document: BSONDocument) -> BSONDocument? {
        if isSystem { return document }
        let images = DocumentImages.stored(document)
        guard let role = role(for: images) else { return nil }
        let evaluator = ConditionEvaluator(images)
        if let read = role.documentRead, let write = role.documentWrite,
            !evaluator.holds(read), !evaluator.holds(write)
        {
            return nil
        }
        if let read = role.read, evaluator.holds(read) { return document }
        if let write = role.write, evaluator.holds(write) { return document }
        guard role.read == nil else { return nil }
        let fields = document.fields.compactMap { field -> BSONDocument.Field? in
            guard let permission = role.fields.permission(of: field.key),
                let value = Self.visible(field.value, permission, images)
            else { return nil }
            return BSONDocument.Field(key: field.key, value: value)
        }
        return fields.isEmpty ? nil : BSONDocument(fields)
    }

    private static func visible(
        _ value: BSONValue,
        _ permission: ResolvedField,
        _ images: DocumentImages
    ) -> BSONValue? {
        if permission.isOwn {
            let evaluator = ConditionEvaluator(images.field(value, value))
            // Not a conditional expression: there `nil` would be taken for BSON's null.
            guard permission.conditions(.read).contains(where: evaluator.holds) else { return nil }
            return value
        }
        switch value {
        case .document(let document):
            let fields = document.fields.compactMap { field -> BSONDocument.Field? in
                guard let nested = permission.nested[FieldName(field.key)],
                    let value = visible(field.value, nested, images)
                else { return nil }
                return BSONDocument.Field(key: field.key, value: value)
            }
            guard !fields.isEmpty else { return nil }
            return .document(BSONDocument(fields))
        case .array(let elements):
            // Each element that is a document; nothing grants the others.
            let visibleElements = elements.compactMap { element -> BSONValue? in
                guard element.document != nil else { return nil }
                return visible(element, permission, images)
            }
            guard !visibleElements.isEmpty else { return nil }
            return .array(visibleElements)
        default:
            return nil
        }
    }
}

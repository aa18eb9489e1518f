import BSON
import Schemas

/// Finds a field that a change touches without permission.
///
/// Fields are compared by name, wherever they stand; a value that differs in type or in the order
/// of embedded fields differs. An embedded document or array whose entry names only embedded fields
/// is compared field by field, and its elements by position; it may come and go as a whole when all
/// that is in it may. What nobody names, nobody may write.
struct FieldChanges {
    let fields: ResolvedFields
    let images: DocumentImages

    init(_ fields: ResolvedFields, _ images: DocumentImages) {
        self.fields = fields
        self.images = images
    }

    /// The path of a field that may not be changed so; nil when all changes are permitted.
    func denied(from before: BSONDocument, to after: BSONDocument) -> [String]? {
        denied(before, after) { fields.permission(of: $0) }
    }

    private func denied(
        _ before: BSONDocument,
        _ after: BSONDocument,
        _ permission: (String) -> ResolvedField?
    ) -> [String]? {
        let old = FieldIndex(before)
        for field in after {
            let previous = old[field.key]
            if let previous, previous == field.value { continue }
            if let path = denied(previous, field.value, permission(field.key)) { return [field.key] + path }
        }
        let new = FieldIndex(after)
        for field in before where new[field.key] == nil {
            if let path = denied(field.value, nil, permission(field.key)) { return [field.key] + path }
        }
        return nil
    }

    /// One changed value; at least one side is there.
    private func denied(_ before: BSONValue?, _ after: BSONValue?, _ permission: ResolvedField?) -> [String]?
    {
        guard let permission else { return [] }
        if permission.isOwn {
            guard let write = permission.write else { return [] }
            return isPermitted(write, before, after) ? nil : []
        }
        switch (before, after) {
        case (.document(let before)?, .document(let after)?):
            return denied(before, after) { permission.nested[FieldName($0)] }
        case (.none, .document(let document)?):
            return document.isEmpty
                ? [] : denied(BSONDocument(), document) { permission.nested[FieldName($0)] }
        case (.document(let document)?, .none):
            return document.isEmpty
                ? [] : denied(document, BSONDocument()) { permission.nested[FieldName($0)] }
        case (.array(let before)?, .array(let after)?):
            return deniedElement(before, after, permission)
        case (.none, .array(let elements)?):
            return elements.isEmpty ? [] : deniedElement([], elements, permission)
        case (.array(let elements)?, .none):
            return elements.isEmpty ? [] : deniedElement(elements, [], permission)
        default:
            return []
        }
    }

    private func deniedElement(
        _ before: [BSONValue],
        _ after: [BSONValue],
        _ permission: ResolvedField
    ) -> [String]? {
        for index in 0..<max(before.count, after.count) {
            let old = before.dropFirst(index).first
            let new = after.dropFirst(index).first
            if old == new { continue }
            // Only documents have the fields that the entry names.
            guard old?.document != nil || old == nil, new?.document != nil || new == nil else {
                return [String(index)]
            }
            if let path = denied(old, new, permission) { return [String(index)] + path }
        }
        return nil
    }

    private func isPermitted(_ write: Condition, _ before: BSONValue?, _ after: BSONValue?) -> Bool {
        if write.isYes { return true }
        // In a delete both images are the stored document, and so are both values.
        let isAtRest = images.prevRoot != nil && images.root == images.prevRoot
        let this = isAtRest ? after ?? before : after
        let prev = isAtRest ? after ?? before : before
        guard ConditionEvaluator(images.field(this, prev)).holds(write) else { return false }
        guard write.isAboutState, let stored = images.prevRoot else { return true }
        return ConditionEvaluator(.stored(stored)).holds(write)
    }
}

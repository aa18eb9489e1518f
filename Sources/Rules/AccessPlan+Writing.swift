public import BSON
import MQL
import Schemas

// Writing, in the order of `rules.md` §6.
//
// The role of an insert is picked on the new document, that of an update, replacement or delete on
// the stored one.
//
// A  The gate's write half must hold: on the new document of an insert, on the stored one of a
//    delete, and on both states of an update, so that nobody takes over a foreign document or gives
//    away one of his own.
// B  The permission of the whole document: a defined write decides, an undefined one leaves it to
//    the fields. It is asked with `%%root` as the document after and `%%prevRoot` as the one before;
//    one that speaks of neither `%%prevRoot`, `%%prev` nor `%%this` describes the documents that may
//    be written, and so must hold before and after, like the gate.
// C  The fields that the change adds, changes or removes; all fields for inserts and deletes.
// D  `insert` and `delete` are asked last, and come to true when they are absent (D2, D3).
//
// The schema is checked when the role permits. Inserts and updates: the document after. Deletes: the
// document's structure is not checked, since one that never fitted must not become undeletable; its
// `validate` expressions are.
extension AccessPlan {
    /// Why a change is refused; nil when it is permitted.
    ///
    /// An insert has no document before, a delete none after; an update and a replacement have both.
    public func denial(of kind: WriteKind, before: BSONDocument?, after: BSONDocument?) -> Denial? {
        if isSystem { return nil }
        switch (kind, before, after) {
        case (.insert, nil, let after?): return insertDenial(after)
        case (.update, let before?, let after?): return updateDenial(before, after)
        case (.delete, let before?, nil): return deleteDenial(before)
        default: return Denial(kind: kind, role: nil, reason: "the change lacks an image")
        }
    }

    private func insertDenial(_ document: BSONDocument) -> Denial? {
        let images = DocumentImages(root: document, prevRoot: nil)
        guard let role = role(for: images) else { return Self.noRole(.insert) }
        func denied(_ reason: String) -> Denial { Denial(kind: .insert, role: role.name, reason: reason) }
        let evaluator = ConditionEvaluator(images)
        if let gate = role.documentWrite, !evaluator.holds(gate) { return denied(Self.gateReason) }
        if let write = role.write {
            guard evaluator.holds(write) else { return denied(Self.writeReason) }
        } else {
            let changes = FieldChanges(role.fields, images)
            // A document without fields has none that anybody granted.
            if document.isEmpty { return denied(Self.fieldReason(["_id"])) }
            if let path = changes.denied(from: BSONDocument(), to: document) {
                return denied(Self.fieldReason(path))
            }
        }
        guard evaluator.holds(role.insert) else { return denied("denied by insert permission") }
        return schemaDenial(.insert, role, document, images)
    }

    private func updateDenial(_ before: BSONDocument, _ after: BSONDocument) -> Denial? {
        let stored = DocumentImages.stored(before)
        guard let role = role(for: stored) else { return Self.noRole(.update) }
        func denied(_ reason: String) -> Denial { Denial(kind: .update, role: role.name, reason: reason) }
        let images = DocumentImages(root: after, prevRoot: before)
        let evaluator = ConditionEvaluator(images)
        let storedEvaluator = ConditionEvaluator(stored)
        if let gate = role.documentWrite, !(storedEvaluator.holds(gate) && evaluator.holds(gate)) {
            return denied(Self.gateReason)
        }
        if let write = role.write {
            guard evaluator.holds(write), !write.isAboutState || storedEvaluator.holds(write) else {
                return denied(Self.writeReason)
            }
        } else {
            let changes = FieldChanges(role.fields, images)
            if let path = changes.denied(from: before, to: after) { return denied(Self.fieldReason(path)) }
        }
        return schemaDenial(.update, role, after, images)
    }

    private func deleteDenial(_ document: BSONDocument) -> Denial? {
        let images = DocumentImages.stored(document)
        guard let role = role(for: images) else { return Self.noRole(.delete) }
        func denied(_ reason: String) -> Denial { Denial(kind: .delete, role: role.name, reason: reason) }
        let evaluator = ConditionEvaluator(images)
        if let gate = role.documentWrite, !evaluator.holds(gate) { return denied(Self.gateReason) }
        guard evaluator.holds(role.delete) else { return denied("denied by delete permission") }
        if let write = role.write {
            guard evaluator.holds(write) else { return denied(Self.writeReason) }
        } else {
            let changes = FieldChanges(role.fields, images)
            if document.isEmpty { return denied(Self.fieldReason(["_id"])) }
            if let path = changes.denied(from: BSONDocument(), to: document) {
                return denied(Self.fieldReason(path))
            }
        }
        guard let schema else { return nil }
        return Self.schemaDenial(.delete, role, schema.failedConditions(document, images: images))
    }

    private func schemaDenial(
        _ kind: WriteKind,
        _ role: ResolvedRole,
        _ document: BSONDocument,
        _ images: DocumentImages
    ) -> Denial? {
        guard let schema else { return nil }
        return Self.schemaDenial(kind, role, schema.violations(document, images: images))
    }

    private static func schemaDenial(
        _ kind: WriteKind,
        _ role: ResolvedRole,
        _ violations: [SchemaViolation]
    ) -> Denial? {
        guard !violations.isEmpty else { return nil }
        let detail = violations.map { "\($0.path): \($0.code.rawValue): \($0.message)" }.joined(
            separator: "; "
        )
        return Denial(
            kind: kind,
            role: role.name,
            reason: "failed schema validation: \(detail)",
            isSchema: true
        )
    }

    private static func noRole(_ kind: WriteKind) -> Denial {
        Denial(kind: kind, role: nil, reason: "no role applies")
    }

    private static let gateReason = "denied by write filter"
    private static let writeReason = "denied by write permission"
    private static func fieldReason(_ path: [String]) -> String {
        "denied by field \"\(path.joined(separator: "."))\" permission"
    }
}

import BSON
import Schemas

/// A role for one caller: every expansion that is known has become a value.
struct ResolvedRole: Sendable {
    let name: String
    let applyWhen: Condition
    /// The gate, both halves settled (D1); nil where the role has none.
    let documentRead: Condition?
    let documentWrite: Condition?
    let read: Condition?
    let write: Condition?
    let insert: Condition
    let delete: Condition
    let fields: ResolvedFields

    init(_ role: Role, _ evaluator: PartialEvaluator, _ options: RuleOptions) {
        func reduce(_ expression: RuleExpression) -> Condition {
            evaluator.reduce(expression, atDocumentLevel: true)
        }
        name = role.name
        applyWhen = reduce(role.applyWhen)
        let missingHalf = options.lenientDocumentFilters ? Condition.yes : .no
        documentRead = role.documentFilters.map { $0.read.map(reduce) ?? missingHalf }
        documentWrite = role.documentFilters.map { $0.write.map(reduce) ?? missingHalf }
        read = role.read.map(reduce)
        write = role.write.map(reduce)
        insert = role.insert.map(reduce) ?? .yes
        delete = role.delete.map(reduce) ?? .yes
        fields = ResolvedFields(role.fields, evaluator)
    }
}

/// Field permissions for one caller.
struct ResolvedFields: Sendable {
    let entries: [FieldName: ResolvedField]
    let additional: ResolvedField?

    init(_ permissions: FieldPermissions, _ evaluator: PartialEvaluator) {
        entries = ResolvedField.index(permissions.entries, evaluator)
        additional = permissions.additional.map { ResolvedField($0, evaluator) }
    }

    func permission(of name: String) -> ResolvedField? {
        entries[FieldName(name)] ?? additional
    }

    /// Whether every field grants, whatever the document.
    func grantsAll(_ kind: ResolvedField.Kind) -> Bool {
        additional?.grantsAlways(kind) ?? false && entries.values.allSatisfy { $0.grantsAlways(kind) }
    }

    /// Whether no field ever grants.
    func grantsNothing(_ kind: ResolvedField.Kind) -> Bool {
        additional?.grantsNever(kind) ?? true && entries.values.allSatisfy { $0.grantsNever(kind) }
    }
}

/// The permission of one field for one caller.
struct ResolvedField: Sendable {
    enum Kind {
        case read
        case write
    }

    let read: Condition?
    let write: Condition?
    /// Embedded fields, which decide only where there is no permission of the field itself.
    let nested: [FieldName: ResolvedField]

    init(_ entry: FieldPermissions.Entry, _ evaluator: PartialEvaluator) {
        read = entry.read.map { evaluator.reduce($0, atDocumentLevel: false) }
        write = entry.write.map { evaluator.reduce($0, atDocumentLevel: false) }
        nested = Self.index(entry.fields, evaluator)
    }

    static func index(
        _ entries: [FieldPermissions.Entry],
        _ evaluator: PartialEvaluator
    ) -> [FieldName: ResolvedField] {
        Dictionary(
            entries.map { (FieldName($0.name), ResolvedField($0, evaluator)) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// Whether the field decides itself, so that embedded permissions are not asked.
    var isOwn: Bool { read != nil || write != nil }

    /// The conditions of which one must hold: write implies read.
    func conditions(_ kind: Kind) -> [Condition] {
        switch kind {
        case .read: [read, write].compactMap { $0 }
        case .write: [write].compactMap { $0 }
        }
    }

    func grantsAlways(_ kind: Kind) -> Bool {
        isOwn && conditions(kind).contains(where: \.isYes)
    }

    func grantsNever(_ kind: Kind) -> Bool {
        isOwn ? conditions(kind).allSatisfy(\.isNever) : nested.values.allSatisfy { $0.grantsNever(kind) }
    }
}

import BSON
import MQL

/// A condition as predicates that a database can decide.
///
/// Three-valued logic in two-valued terms: one predicate for the documents on which the condition
/// is true, one for those on which it is false; on the rest it is unknown. Negation swaps them, so
/// unknown never turns into true. Where `isExact` is false both are supersets.
struct ConditionForm {
    let holds: WritePredicate
    let fails: WritePredicate
    let isExact: Bool

    static let yes = ConditionForm(
        holds: PredicateAlgebra.always,
        fails: PredicateAlgebra.never,
        isExact: true
    )
    static let no = ConditionForm(
        holds: PredicateAlgebra.never,
        fails: PredicateAlgebra.always,
        isExact: true
    )
    static let unknown = ConditionForm(
        holds: PredicateAlgebra.never,
        fails: PredicateAlgebra.never,
        isExact: true
    )
    /// Nothing can be said without the document.
    static let open = ConditionForm(
        holds: PredicateAlgebra.always,
        fails: PredicateAlgebra.always,
        isExact: false
    )

    /// Which documents the images of a condition are.
    enum Stage {
        /// A stored document, or the state before or after a change on its own: `%%root` and
        /// `%%prevRoot` are the same.
        case single(isBefore: Bool)
        /// A new document: there is no state before.
        case insert
        /// `%%root` is the document after, `%%prevRoot` the one before.
        case change

        func predicate(_ image: ImageReference.Image, _ filter: Filter) -> WritePredicate? {
            switch self {
            case .single(let isBefore): return isBefore ? .before(filter) : .after(filter)
            case .insert: return image == .prevRoot || image == .prev ? nil : .after(filter)
            case .change: return image == .prevRoot || image == .prev ? .before(filter) : .after(filter)
            }
        }
    }
}

extension ConditionForm {
    /// The form of a condition; `field` is the top-level field that carries the rule, and nil at the
    /// document's level.
    init(_ condition: Condition, _ stage: Stage, field: String? = nil) {
        switch condition {
        case .constant(.yes): self = .yes
        case .constant(.no): self = .no
        case .constant(.unknown): self = .unknown
        case .not(let member):
            let form = ConditionForm(member, stage, field: field)
            self.init(holds: form.fails, fails: form.holds, isExact: form.isExact)
        case .all(let members):
            let forms = members.map { ConditionForm($0, stage, field: field) }
            self.init(
                holds: PredicateAlgebra.and(forms.map(\.holds)),
                fails: PredicateAlgebra.or(forms.map(\.fails)),
                isExact: forms.allSatisfy(\.isExact)
            )
        case .any(let members):
            let forms = members.map { ConditionForm($0, stage, field: field) }
            self.init(
                holds: PredicateAlgebra.or(forms.map(\.holds)),
                fails: PredicateAlgebra.and(forms.map(\.fails)),
                isExact: forms.allSatisfy(\.isExact)
            )
        case .test(let reference, let test): self = Self.test(reference, test, stage, field)
        // What only a function can say of a document is asked when the document is there.
        case .comparison(_, _, let right) where !right.functionNames.isEmpty: self = .open
        case .comparison
        where condition.references.contains(where: { stage.predicate($0.image, .all) == nil }):
            // A value of a document that is not there: the comparison is unknown.
            self = .unknown
        case .comparison(.known(let document, let path), .equal, .expansion(.image(let reference))):
            self = Self.flipped(document, path, reference, stage, field)
        case .comparison: self = .open
        }
    }

    private static func test(
        _ reference: ImageReference,
        _ test: KnownTest,
        _ stage: Stage,
        _ field: String?
    ) -> ConditionForm {
        guard stage.predicate(reference.image, .all) != nil else {
            // There is no such image: only the question for it has an answer.
            if case .field(.exists(let wanted)) = test { return wanted ? .no : .yes }
            return .unknown
        }
        guard let path = path(reference, field) else {
            if reference.path.isEmpty, case .field(.exists(let wanted)) = test, field == nil {
                return wanted ? .yes : .no
            }
            return .open
        }
        let filter = test.filter(at: path)
        guard let holds = stage.predicate(reference.image, filter),
            let fails = stage.predicate(reference.image, FilterAlgebra.not(filter))
        else { return .unknown }
        return ConditionForm(holds: holds, fails: fails, isExact: true)
    }

    /// `{"%%user.id": "%%root.owner"}`: the known value on the left, the document on the right.
    private static func flipped(
        _ document: BSONDocument,
        _ left: [String],
        _ reference: ImageReference,
        _ stage: Stage,
        _ field: String?
    ) -> ConditionForm {
        guard stage.predicate(reference.image, .all) != nil else { return .unknown }
        // Only a top-level field has one value in every document; deeper ones may fan out.
        guard let path = path(reference, field), path.components.count == 1,
            let known = document.value(at: FieldPath(components: left))
        else { return .open }
        let present = Filter.field(path, .exists(true))
        if case .array(let elements) = known {
            let candidates = FilterAlgebra.or([
                .field(path, .inside(elements.map { .value($0) })), .field(path, .compare(.equal, known)),
            ])
            guard let holds = stage.predicate(reference.image, FilterAlgebra.and([present, candidates])),
                let fails = stage.predicate(reference.image, present)
            else { return .unknown }
            return ConditionForm(holds: holds, fails: fails, isExact: false)
        }
        let equal = Filter.field(path, .compare(.equal, known))
        guard
            let holds = stage.predicate(
                reference.image,
                FilterAlgebra.and(known.isNull ? [present, equal] : [equal])
            ),
            let fails = stage.predicate(
                reference.image,
                FilterAlgebra.and([present, FilterAlgebra.not(equal)])
            )
        else { return .unknown }
        return ConditionForm(holds: holds, fails: fails, isExact: true)
    }

    /// The path of a reference in its document; nil when no path can say it.
    private static func path(_ reference: ImageReference, _ field: String?) -> FieldPath? {
        switch reference.image {
        case .root, .prevRoot:
            return reference.path.isEmpty ? nil : FieldPath(components: reference.path)
        case .this, .prev:
            guard let field, isAddressable(field) else { return nil }
            return FieldPath(components: [field] + reference.path)
        }
    }
}

/// Whether a path can name a top-level field.
func isAddressable(_ field: String) -> Bool {
    !field.isEmpty && !field.hasPrefix("$") && !field.utf8.contains(UInt8(ascii: "."))
        && !field.utf8.contains(0)
}

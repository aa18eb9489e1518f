import MQL
import Schemas

extension AccessPlan {
    /// Exactly the changes that ``denial(of:before:after:)`` permits, as a predicate on both images;
    /// nil where only that function can decide: field permissions that differ from field to field,
    /// a schema, comparisons between fields.
    public func writePredicate(_ kind: WriteKind) -> WritePredicate? {
        if isSystem { return Self.always(kind) }
        if let schema, kind != .delete || schema.hasConditions { return nil }
        let pick: ConditionForm.Stage =
            switch kind {
            case .insert: .insert
            case .update, .delete: .single(isBefore: true)
            }
        var alternatives: [WritePredicate] = []
        var notEarlier: [WritePredicate] = []
        for role in roles {
            let applies = ConditionForm(role.applyWhen, pick)
            let here = PredicateAlgebra.and(notEarlier + [applies.holds])
            if PredicateAlgebra.isNever(here) {
                guard applies.isExact || PredicateAlgebra.isNever(applies.holds) else { return nil }
                notEarlier.append(PredicateAlgebra.not(applies.holds))
                continue
            }
            guard applies.isExact else { return nil }
            guard let permitted = Self.permitted(role, kind) else { return nil }
            alternatives.append(PredicateAlgebra.and([here, permitted]))
            notEarlier.append(PredicateAlgebra.not(applies.holds))
        }
        let predicate = PredicateAlgebra.or(alternatives)
        if PredicateAlgebra.isAlways(predicate) { return Self.always(kind) }
        if PredicateAlgebra.isNever(predicate) { return Self.never(kind) }
        return predicate
    }

    /// Constants name an image that a change of the kind has.
    private static func always(_ kind: WriteKind) -> WritePredicate {
        kind == .delete ? .before(.all) : .after(.all)
    }

    private static func never(_ kind: WriteKind) -> WritePredicate {
        kind == .delete ? .before(.nothing) : .after(.nothing)
    }

    /// What a role permits on the documents that have it; nil where no predicate says it.
    private static func permitted(_ role: ResolvedRole, _ kind: WriteKind) -> WritePredicate? {
        let stored = ConditionForm.Stage.single(isBefore: true)
        var demands: [(condition: Condition, stage: ConditionForm.Stage)] = []
        let stage: ConditionForm.Stage =
            switch kind {
            case .insert: .insert
            case .update: .change
            case .delete: stored
            }
        if let gate = role.documentWrite {
            demands.append((gate, stage))
            if kind == .update { demands.append((gate, stored)) }
        }
        if let write = role.write {
            demands.append((write, stage))
            if kind == .update, write.isAboutState { demands.append((write, stored)) }
        }
        switch kind {
        case .insert: demands.append((role.insert, stage))
        case .update: break
        case .delete: demands.append((role.delete, stage))
        }
        let forms = demands.map { ConditionForm($0.condition, $0.stage) }
        // One demand that is never met decides, whatever the others need.
        if forms.contains(where: { PredicateAlgebra.isNever($0.holds) }) { return PredicateAlgebra.never }
        if role.write == nil {
            if role.fields.grantsNothing(.write), kind != .update {
                // Every stored document has an `_id`, and nobody may write it.
                return PredicateAlgebra.never
            }
            guard role.fields.grantsAll(.write) else { return nil }
        }
        guard forms.allSatisfy(\.isExact) else { return nil }
        return PredicateAlgebra.and(forms.map(\.holds))
    }
}

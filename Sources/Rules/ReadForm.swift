import BSON
import MQL
import Schemas

/// What the roles of a plan let a caller read, as a filter.
///
/// A document may be read when some role applies, no earlier one does, and that role lets something
/// of it be read: OR over the roles of (applies ∧ ¬earlier apply ∧ may read).
struct ReadForm {
    let filter: Filter
    let isExact: Bool
    let isWhole: Bool

    init(_ roles: [ResolvedRole]) {
        let stage = ConditionForm.Stage.single(isBefore: false)
        var alternatives: [Filter] = []
        var notEarlier: [Filter] = []
        var isExact = true
        var isWhole = true
        for role in roles {
            let applies = ConditionForm(role.applyWhen, stage)
            let here = FilterAlgebra.and(notEarlier + [PredicateAlgebra.collapsed(applies.holds)])
            if here != .nothing {
                let (readable, readableIsExact, readableIsWhole) = Self.readable(role, stage)
                let alternative = FilterAlgebra.and([here, readable])
                if alternative != .nothing {
                    alternatives.append(alternative)
                    isExact = isExact && applies.isExact && readableIsExact
                    isWhole = isWhole && readableIsWhole
                }
            }
            if applies.isExact {
                notEarlier.append(FilterAlgebra.not(PredicateAlgebra.collapsed(applies.holds)))
            } else {
                // The documents that this role takes from later ones are not known to a filter.
                isExact = false
            }
        }
        filter = FilterAlgebra.or(alternatives)
        // A filter that lets nothing through leaves nothing to be asked.
        self.isExact = isExact || filter == .nothing
        self.isWhole = isWhole
    }

    /// Steps B to D of reading, for a document that has the role.
    private static func readable(
        _ role: ResolvedRole,
        _ stage: ConditionForm.Stage
    ) -> (filter: Filter, isExact: Bool, isWhole: Bool) {
        let gate = form(
            anyOf: [role.documentRead, role.documentWrite].compactMap { $0 },
            stage,
            orElse: .all
        )
        let whole = form(anyOf: [role.read, role.write].compactMap { $0 }, stage, orElse: .nothing)
        guard role.read == nil, !(whole.filter == .all && whole.isExact) else {
            return (FilterAlgebra.and([gate.filter, whole.filter]), gate.isExact && whole.isExact, true)
        }
        if role.fields.grantsAll(.read) {
            return (gate.filter, gate.isExact, true)
        }
        let fields = fieldsReadable(role.fields, stage)
        return (
            FilterAlgebra.and([gate.filter, FilterAlgebra.or([whole.filter, fields.filter])]),
            gate.isExact && whole.isExact && fields.isExact, fields.filter == .nothing
        )
    }

    /// Whether at least one field can be seen.
    private static func fieldsReadable(
        _ fields: ResolvedFields,
        _ stage: ConditionForm.Stage
    ) -> (filter: Filter, isExact: Bool) {
        // Every stored document has an `_id`.
        if let id = fields.permission(of: "_id"), id.grantsAlways(.read) { return (.all, true) }
        if fields.grantsNothing(.read) { return (.nothing, true) }
        // What `additional_fields` may show is a field of any other name, which no filter can ask for.
        guard fields.additional?.grantsNever(.read) ?? true else { return (.all, false) }
        var alternatives: [Filter] = []
        var isExact = true
        for (name, entry) in fields.entries.sorted(by: { TextOrder.compare($0.key.text, $1.key.text) < 0 })
        where !entry.grantsNever(.read) {
            guard isAddressable(name.text) else { return (.all, false) }
            let present = Filter.field(FieldPath(components: [name.text]), .exists(true))
            guard entry.isOwn else {
                alternatives.append(present)
                isExact = false
                continue
            }
            let forms = entry.conditions(.read).map { ConditionForm($0, stage, field: name.text) }
            let readable = FilterAlgebra.or(forms.map { PredicateAlgebra.collapsed($0.holds) })
            alternatives.append(FilterAlgebra.and([present, readable]))
            isExact = isExact && forms.allSatisfy(\.isExact)
        }
        return (FilterAlgebra.or(alternatives), isExact)
    }

    private static func form(
        anyOf conditions: [Condition],
        _ stage: ConditionForm.Stage,
        orElse empty: Filter
    ) -> (filter: Filter, isExact: Bool) {
        guard !conditions.isEmpty else { return (empty, true) }
        let forms = conditions.map { ConditionForm($0, stage) }
        let filter = FilterAlgebra.or(forms.map { PredicateAlgebra.collapsed($0.holds) })
        let isAlways = forms.contains { $0.isExact && PredicateAlgebra.isAlways($0.holds) }
        return (filter, isAlways || forms.allSatisfy(\.isExact))
    }
}

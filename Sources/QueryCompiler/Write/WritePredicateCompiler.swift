import Rules
import SQL

/// Turns what a rule says of a change into SQL on its two images.
struct WritePredicateCompiler {
    let before: SQLFragment
    let after: SQLFragment

    /// A condition that is never NULL; nil when SQL cannot decide exactly.
    func compile(_ predicate: WritePredicate) -> SQLFragment? {
        switch predicate {
        case .before(let filter): exact(FilterCompiler(source: .image(before)).compile(filter), on: before)
        case .after(let filter): exact(FilterCompiler(source: .image(after)).compile(filter), on: after)
        case .and(let predicates): joined(predicates, separator: " AND ", empty: "true")
        case .or(let predicates): joined(predicates, separator: " OR ", empty: "false")
        case .not(let predicate): compile(predicate).map { "(NOT \($0))" }
        }
    }

    private func exact(_ condition: Condition, on document: SQLFragment) -> SQLFragment? {
        guard condition.isExact else { return nil }
        return condition.fragment(on: document).map { "coalesce(\($0), false)" } ?? "true"
    }

    private func joined(
        _ predicates: [WritePredicate], separator: StaticString, empty: SQLFragment
    ) -> SQLFragment? {
        var fragments: [SQLFragment] = []
        for predicate in predicates {
            guard let fragment = compile(predicate) else { return nil }
            fragments.append(fragment)
        }
        return fragments.isEmpty ? empty : "(\(.joined(fragments, separator: separator)))"
    }
}

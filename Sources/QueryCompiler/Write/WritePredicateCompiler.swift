import MQL
import Rules
import SQL

/// Turns what a rule says of a change into SQL on its two images.
struct WritePredicateCompiler {
    /// Where the document before the change is.
    let before: FilterCompiler.Source
    /// Where the document after it is, as seen by a filter.
    let after: (Filter) -> FilterCompiler.Source

    /// A condition that is never NULL; nil when SQL cannot decide exactly.
    func compile(_ predicate: WritePredicate) -> SQLFragment? {
        switch predicate {
        case .before(let filter): exact(filter, FilterCompiler(source: before))
        case .after(let filter): exact(filter, FilterCompiler(source: after(filter)))
        case .and(let predicates): joined(predicates, separator: " AND ", empty: "true")
        case .or(let predicates): joined(predicates, separator: " OR ", empty: "false")
        case .not(let predicate): compile(predicate).map { "(NOT \($0))" }
        }
    }

    private func exact(_ filter: Filter, _ compiler: FilterCompiler) -> SQLFragment? {
        let condition = compiler.compile(filter)
        guard condition.isExact else { return nil }
        return condition.fragment(on: compiler.document).map { "coalesce(\($0), false)" } ?? "true"
    }

    private func joined(
        _ predicates: [WritePredicate],
        separator: StaticString,
        empty: SQLFragment
    ) -> SQLFragment? {
        var fragments: [SQLFragment] = []
        for predicate in predicates {
            guard let fragment = compile(predicate) else { return nil }
            // Before and after are often one test, on fields that do not change.
            if !fragments.contains(fragment) { fragments.append(fragment) }
        }
        return fragments.isEmpty ? empty : "(\(.joined(fragments, separator: separator)))"
    }
}

extension WritePredicate {
    /// Whether the document after the change is asked for any of certain filters.
    func asksAfter(_ isOne: (Filter) -> Bool) -> Bool {
        switch self {
        case .before: false
        case .after(let filter): isOne(filter)
        case .and(let predicates), .or(let predicates): predicates.contains { $0.asksAfter(isOne) }
        case .not(let predicate): predicate.asksAfter(isOne)
        }
    }
}

import SQL

/// What a filter became: SQL, with how far it can be trusted.
///
/// Exact: SQL alone decides. Otherwise the terms hold for every document that matches, and possibly for
/// others: the caller evaluates the filter on what comes back. Terms may be NULL for false.
struct Condition {
    enum Term {
        /// A predicate of the path language on the document.
        case path(String)
        case sql(SQLFragment)
        /// An equality that one index finds, in the order of `_id`.
        case lookup(SQLFragment)
    }

    /// All of them hold; none is no condition at all.
    var terms: [Term]
    var isExact: Bool
    /// Columns of which the terms take it that no row has a value in them; a statement has to make sure.
    var others: [SQLFragment] = []

    /// Whether path terms are kept from indexes that somebody may have made, and from being thought selective.
    var hidesPaths = false

    static let always = Condition(terms: [], isExact: true)
    static let never = Condition(terms: [.sql("false")], isExact: true)
    /// SQL says nothing: every document remains to be evaluated.
    static let unknown = Condition(terms: [], isExact: false)

    static func path(_ text: String, isExact: Bool) -> Condition {
        Condition(terms: [.path(text)], isExact: isExact)
    }

    static func sql(_ text: SQLFragment, isExact: Bool = true, others: [SQLFragment] = []) -> Condition {
        Condition(terms: [.sql(text)], isExact: isExact, others: others)
    }

    static func all(_ conditions: [Condition]) -> Condition {
        var result = Condition.always
        for condition in conditions {
            result.terms += condition.terms
            result.isExact = result.isExact && condition.isExact
        }
        result.others = others(of: conditions)
        return result
    }

    /// One of them holds.
    ///
    /// An alternative without terms makes the whole say nothing.
    static func any(_ conditions: [Condition], on document: SQLFragment) -> Condition {
        guard !conditions.isEmpty else { return .never }
        let isExact = conditions.allSatisfy(\.isExact)
        var paths: [String] = []
        var fragments: [SQLFragment] = []
        for condition in conditions {
            guard let fragment = condition.fragment(on: document) else {
                return Condition(terms: [], isExact: isExact)
            }
            if let text = condition.onlyPath { paths.append(text) } else { fragments.append(fragment) }
        }
        if !paths.isEmpty {
            let joined = paths.map { "(\($0))" }.joined(separator: " || ")
            // Paths alone look at no column.
            if fragments.isEmpty { return .path(joined, isExact: isExact) }
            fragments.append(Condition.path(joined, isExact: true).fragment(on: document) ?? "true")
        }
        return .sql(
            "(\(.joined(fragments, separator: " OR ")))",
            isExact: isExact,
            others: others(of: conditions)
        )
    }

    /// It does not hold: only sure when this is exact; otherwise SQL says nothing.
    func negated(on document: SQLFragment) -> Condition {
        guard isExact else { return .unknown }
        guard let fragment = fragment(on: document) else { return .never }
        return .sql("NOT coalesce(\(fragment), false)", others: others)
    }

    /// The same terms, from which documents may yet drop out.
    var narrowing: Condition { Condition(terms: terms, isExact: false, others: others) }

    /// Whether one plan is the right one for all values: one index finds the rows, in the order of `_id`, and no
    /// term beside it could have an index of its own.
    var hasOnePlan: Bool {
        var lookups = 0
        for term in terms {
            switch term {
            case .lookup: lookups += 1
            case .sql: return false
            case .path: break
            }
        }
        return lookups == 1
    }

    /// What any of them takes for granted, each column once.
    private static func others(of conditions: [Condition]) -> [SQLFragment] {
        var result: [SQLFragment] = []
        for condition in conditions {
            for column in condition.others where !result.contains(column) { result.append(column) }
        }
        return result
    }

    private var onlyPath: String? {
        var texts: [String] = []
        for term in terms {
            guard case .path(let text) = term else { return nil }
            texts.append(text)
        }
        return texts.count == 1 ? texts[0] : texts.map { "(\($0))" }.joined(separator: " && ")
    }

    /// The SQL text, nil when there is no condition.
    ///
    /// All path terms travel in one bind, so that the statement's text does not depend on them.
    func fragment(on document: SQLFragment) -> SQLFragment? {
        var paths: [String] = []
        var fragments: [SQLFragment] = []
        for term in terms {
            switch term {
            case .path(let text): paths.append(text)
            case .sql(let fragment), .lookup(let fragment): fragments.append(fragment)
            }
        }
        if !paths.isEmpty {
            let text = paths.count == 1 ? paths[0] : paths.map { "(\($0))" }.joined(separator: " && ")
            fragments.append(
                // PostgreSQL takes half of the rows to pass, where it would take next to none.
                hidesPaths
                    ? "coalesce(\(document) @@ \(bind: .jsonpath(text)), false)"
                    : "\(document) @@ \(bind: .jsonpath(text))"
            )
        }
        return fragments.isEmpty ? nil : .joined(fragments, separator: " AND ")
    }
}

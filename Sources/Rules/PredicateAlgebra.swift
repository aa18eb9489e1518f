import MQL

/// Combines write predicates; parts on the same image become one filter.
///
/// `.after(.all)` stands for "always" and `.after(.nothing)` for "never".
enum PredicateAlgebra {
    static let always = WritePredicate.after(.all)
    static let never = WritePredicate.after(.nothing)

    static func isAlways(_ predicate: WritePredicate) -> Bool {
        switch predicate {
        case .before(.all), .after(.all): true
        case .before, .after, .and, .or, .not: false
        }
    }

    static func isNever(_ predicate: WritePredicate) -> Bool {
        switch predicate {
        case .before(.nothing), .after(.nothing): true
        case .before, .after, .and, .or, .not: false
        }
    }

    static func and(_ members: [WritePredicate]) -> WritePredicate {
        var before: [Filter] = []
        var after: [Filter] = []
        var rest: [WritePredicate] = []
        for member in flattened(members, ofAnd: true) {
            switch member {
            case .before(let filter): before.append(filter)
            case .after(let filter): after.append(filter)
            case .and, .or, .not: rest.append(member)
            }
        }
        let (old, new) = (FilterAlgebra.and(before), FilterAlgebra.and(after))
        if old == .nothing || new == .nothing { return never }
        return joined(old == .all ? nil : old, new == .all ? nil : new, rest, empty: always) { .and($0) }
    }

    static func or(_ members: [WritePredicate]) -> WritePredicate {
        var before: [Filter] = []
        var after: [Filter] = []
        var rest: [WritePredicate] = []
        for member in flattened(members, ofAnd: false) {
            switch member {
            case .before(let filter): before.append(filter)
            case .after(let filter): after.append(filter)
            case .and, .or, .not: rest.append(member)
            }
        }
        let (old, new) = (FilterAlgebra.or(before), FilterAlgebra.or(after))
        if old == .all || new == .all { return always }
        return joined(old == .nothing ? nil : old, new == .nothing ? nil : new, rest, empty: never) {
            .or($0)
        }
    }

    static func not(_ predicate: WritePredicate) -> WritePredicate {
        switch predicate {
        case .before(let filter): .before(FilterAlgebra.not(filter))
        case .after(let filter): .after(FilterAlgebra.not(filter))
        case .not(let inner): inner
        case .and, .or: .not(predicate)
        }
    }

    private static func flattened(_ members: [WritePredicate], ofAnd: Bool) -> [WritePredicate] {
        members.flatMap { member in
            switch member {
            case .and(let inner) where ofAnd: inner
            case .or(let inner) where !ofAnd: inner
            case .before, .after, .and, .or, .not: [member]
            }
        }
    }

    private static func joined(
        _ before: Filter?,
        _ after: Filter?,
        _ rest: [WritePredicate],
        empty: WritePredicate,
        _ join: ([WritePredicate]) -> WritePredicate
    ) -> WritePredicate {
        let parts =
            [before.map { WritePredicate.before($0) }, after.map { .after($0) }].compactMap { $0 } + rest
        return parts.isEmpty ? empty : parts.count == 1 ? parts[0] : join(parts)
    }

    /// The predicate as a filter, when both images are one document.
    static func collapsed(_ predicate: WritePredicate) -> Filter {
        switch predicate {
        case .before(let filter), .after(let filter): filter
        case .and(let members): FilterAlgebra.and(members.map(collapsed))
        case .or(let members): FilterAlgebra.or(members.map(collapsed))
        case .not(let member): FilterAlgebra.not(collapsed(member))
        }
    }
}

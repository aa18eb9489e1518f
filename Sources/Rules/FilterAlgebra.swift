import BSON
import MQL

/// Combines filters and leaves out what does not matter, so that a simple rule becomes the filter
/// that a person would write.
enum FilterAlgebra {
    /// All of them; `.all` for none.
    static func and(_ filters: [Filter]) -> Filter {
        var parts = Parts()
        for filter in filters {
            switch filter {
            case .all: continue
            case .nothing: return .nothing
            case .and(let members): for member in members { parts.add(member) }
            default: parts.add(filter)
            }
        }
        return parts.list.isEmpty ? .all : parts.list.count == 1 ? parts.list[0] : .and(parts.list)
    }

    /// Any of them; `.nothing` for none.
    static func or(_ filters: [Filter]) -> Filter {
        var parts = Parts()
        for filter in filters {
            switch filter {
            case .nothing: continue
            case .all: return .all
            case .or(let members): for member in members { parts.add(member) }
            default: parts.add(filter)
            }
        }
        return parts.list.isEmpty ? .nothing : parts.list.count == 1 ? parts.list[0] : .or(parts.list)
    }

    /// The documents that do not satisfy it.
    static func not(_ filter: Filter) -> Filter {
        switch filter {
        case .all: .nothing
        case .nothing: .all
        case .nor(let members): or(members)
        case .or(let members): .nor(members)
        case .field(let path, .exists(let wanted)): .field(path, .exists(!wanted))
        case .field(let path, .not(let tests)): and(tests.map { .field(path, $0) })
        case .field(let path, let test): .field(path, .not([test]))
        case .and, .expression, .schema, .text: .nor([filter])
        }
    }

    /// Distinct filters in the order of their first appearance.
    private struct Parts {
        private(set) var list: [Filter] = []
        private var seen: Set<Filter> = []

        mutating func add(_ filter: Filter) {
            if seen.insert(filter).inserted { list.append(filter) }
        }
    }
}

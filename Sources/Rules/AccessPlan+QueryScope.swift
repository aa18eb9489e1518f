import BSON
public import Errors
public import MQL

/// On which form of the documents a caller's query is decided (`rules.md` §17, D10).
public enum QueryScope: Sendable {
    /// It looks only at what the caller sees of every document as it is stored.
    case stored
    /// It may look at something hidden, so that what the caller sees of each document decides. Every match
    /// satisfies the filter, which looks at nothing hidden.
    case visible(narrowing: Filter)
}

// A field that a caller may not read must not be found out by asking for it: by what matches, by how many, by their
// order, by errors. Where no role shows it, the query is refused, which tells nothing of any document. Where it
// depends on the document, the document's hidden fields count as absent.
extension AccessPlan {
    /// Whether something of a visible document may be hidden; false for most rules, which then pay nothing.
    public var hidesFields: Bool { !readsWholeDocuments || queryProjection != nil }

    /// Whether updates are computed on what the caller sees, and the result put back into the document.
    ///
    /// What roles hide stays hidden in any app: an update could copy it into a field that can be read.
    public var updatesVisibleForm: Bool {
        !readsWholeDocuments || guardsHiddenFields && queryProjection != nil
    }

    /// Where a filter and an order have to be decided.
    ///
    /// - Throws: ``ServiceError`` `invalidParameter` naming a field that the caller can read in no document.
    public func scope(of filter: Filter, sort: Sort? = nil) throws(ServiceError) -> QueryScope {
        guard hidesFields else { return .stored }
        var reads = FieldReads(filter)
        guard guardsHiddenFields else {
            // Errors of expressions quote what they looked at.
            return reads.hasExpression ? .visible(narrowing: narrowed(filter)) : .stored
        }
        if let sort { reads.add(sort) }
        var isVisible = reads.readsDocument
        for path in reads.paths {
            switch visibility(of: path.components) {
            case .whole: break
            case .partly: isVisible = true
            case .hidden: throw Self.unreadable(path)
            }
        }
        return isVisible ? .visible(narrowing: narrowed(filter)) : .stored
    }

    /// Whether a top-level field is seen as it is stored, in every document of which something is seen.
    public func shows(_ field: String) -> Bool { visibility(of: [field]) == .whole }

    /// Whether the order of `_id`, in which documents come by themselves, would tell of hidden ones.
    public var ordersByHiddenID: Bool {
        guardsHiddenFields && hidesFields && visibility(of: ["_id"]) != .whole
    }

    private static func unreadable(_ path: FieldPath) -> ServiceError {
        ServiceError(
            .invalidParameter,
            "field '\(path.dotted)' cannot be queried, because it is not readable",
            details: [path.dotted: "is not readable"]
        )
    }

    func visibility(of path: [String]) -> FieldVisibility {
        var byRoles: FieldVisibility?
        for role in roles {
            guard let shown = role.visibility(of: path) else { continue }
            byRoles = byRoles == nil || byRoles == shown ? shown : .partly
        }
        return (byRoles ?? .whole).and(queryProjection?.visibility(of: path) ?? .whole)
    }

    /// The part of a filter that looks only at what is seen as it is stored.
    public func narrowed(_ filter: Filter) -> Filter {
        if case .and(let members) = filter { return FilterAlgebra.and(members.map(narrowed)) }
        let reads = FieldReads(filter)
        let isOpen =
            !reads.readsDocument && !reads.hasExpression
            && reads.paths.allSatisfy { visibility(of: $0.components) == .whole }
        return isOpen ? filter : .all
    }
}

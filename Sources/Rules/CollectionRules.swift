import BSON

/// Roles and filters of one collection, or the default ones of a data source, in the order of
/// their file.
///
/// Rules without roles are none: the data source's default rule applies, and without one the
/// namespace has no rule at all. Source: `rules.md` §1.
public struct CollectionRules: Sendable {
    /// The first that applies to a document decides about it.
    public let roles: [Role]
    /// All that apply join the query.
    public let filters: [RuleFilter]
    /// The functions that they ask, sorted.
    public let functionNames: [String]

    /// Rules in the order of their file.
    public init(roles: [Role], filters: [RuleFilter] = []) {
        self.roles = roles
        self.filters = filters
        functionNames = Set(roles.flatMap(\.functionNames) + filters.flatMap(\.functionNames)).sorted()
    }

    /// Whether these rules govern a collection; if not, the default rule does.
    public var isPresent: Bool { !roles.isEmpty }

    /// What stands for rules that have errors: everybody is refused.
    public static let refused = CollectionRules(
        roles: [Role(name: "refused", read: .constant(false), write: .constant(false))])
}

extension CollectionRules {
    /// Whether some role shows only some fields, or some filter projects fields away.
    public var hidesFields: Bool {
        roles.contains {
            $0.read == nil && !$0.fields.entries.isEmpty || $0.read == nil && $0.fields.additional != nil
        }
            || filters.contains { !$0.projection.isEmpty }
    }
}

public import BSON

/// A query and a projection that join the caller's own.
///
/// Source: `rules.md` §4.
public struct RuleFilter: Sendable {
    /// Unique in the collection.
    public let name: String
    /// Speaks of the caller alone.
    public let applyWhen: RuleExpression
    /// A filter document, with expansions.
    public let query: RuleOperand
    /// A projection document; empty for none.
    public let projection: BSONDocument

    /// A filter; without query and projection it changes nothing.
    public init(
        name: String,
        applyWhen: RuleExpression,
        query: RuleOperand = .literal([:]),
        projection: BSONDocument = [:]
    ) {
        self.name = name
        self.applyWhen = applyWhen
        self.query = query
        self.projection = projection
    }
}

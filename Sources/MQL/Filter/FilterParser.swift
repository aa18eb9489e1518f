public import BSON
public import Errors

/// Turns a filter document into a ``Filter``.
///
/// Shape: `{a: 1, b: {$gt: 2}}` becomes `.and([.field("a", .compare(.equal, 1)), .field("b",
/// .compare(.greater, 2))])`. Operators that are not served are refused by name.
/// Source: `reference/mql.md` §3.
public enum FilterParser {
    /// Parses a filter document.
    ///
    /// - Parameters:
    ///   - document: The filter, at most 100 levels deep.
    ///   - allowsUserRestrictedOperators: False for a request of an application user, who may not
    ///     use what `reference/rules.md` §16 lists (beside `$regex` and `$expr`, see
    ///     ``RestrictedOperators``).
    ///   - limits: What the filter may ask.
    /// - Returns: The tree; ``Filter/all`` for an empty document.
    /// - Throws: ``ServiceError`` with MongoDB's code for the fault; `invalidParameter` for an operator
    ///   that users may not use.
    public static func parse(
        _ document: BSONDocument,
        allowsUserRestrictedOperators: Bool = true,
        limits: ParseLimits = .unbounded
    ) throws(ServiceError) -> Filter {
        let filter = try FilterParsing(
            allowsRestricted: allowsUserRestrictedOperators,
            budget: ParseBudget(limits)
        ).filter(document)
        if !allowsUserRestrictedOperators { try RestrictedOperators.check(filter: filter) }
        return filter
    }

    /// As ``parse(_:allowsUserRestrictedOperators:limits:)`` for one of several parts of an operation.
    static func parse(_ document: BSONDocument, _ budget: ParseBudget) throws(ServiceError) -> Filter {
        try FilterParsing(budget: budget).filter(document)
    }

    /// As ``parse(_:_:)`` for a `$match`.
    static func parseStage(
        _ document: BSONDocument,
        isFirst: Bool,
        _ budget: ParseBudget
    ) throws(ServiceError) -> Filter {
        try FilterParsing(stage: (true, isFirst), budget: budget).filter(document)
    }
}

/// One level of parsing; the next level is a value one deeper.
struct FilterParsing {
    /// How deep a filter may nest; the readers of `BSON` bound documents likewise.
    static let maximumDepth = 100
    /// Operators of the top level that exist in MongoDB and are not served.
    private static let unservedTopLevel: Set<String> = ["$where"]

    var allowsRestricted = true
    /// Whether this is the filter of a query, not of `$pull`, `arrayFilters` or a projection.
    var isQuery = true
    /// Whether this is the filter of a `$match`, and of the first stage.
    var stage: (isMatch: Bool, isFirst: Bool) = (false, true)
    /// Whether this is inside `$elemMatch`.
    var isInsideElement = false
    /// Where in the filter this is: as a condition that has to hold, among alternatives, or below a `$nor`.
    private var role = Role.condition
    let budget: ParseBudget
    private(set) var depth = 0

    private enum Role {
        case condition
        case alternative
        case negated
    }

    init(
        allowsRestricted: Bool = true,
        isQuery: Bool = true,
        stage: (isMatch: Bool, isFirst: Bool) = (false, true),
        budget: ParseBudget
    ) {
        self.allowsRestricted = allowsRestricted
        self.isQuery = isQuery
        self.stage = stage
        self.budget = budget
    }

    /// The parser for what lies inside.
    func deeper() throws(ServiceError) -> FilterParsing {
        if depth >= Self.maximumDepth {
            throw .mongo(.overflow, "filter exceeds the maximum nesting depth of \(Self.maximumDepth)")
        }
        var inner = self
        inner.depth += 1
        return inner
    }

    /// A whole filter document: the conjunction of its entries.
    func filter(_ document: BSONDocument) throws(ServiceError) -> Filter {
        var parts: [Filter] = []
        for field in document {
            if field.key.startsWithDollar {
                if let part = try topLevel(field.key, field.value) { parts.append(part) }
            } else {
                parts.append(try predicate(FieldPath(components: field.key.pathComponents), field.value))
            }
        }
        return Self.conjunction(parts)
    }

    /// What a path must satisfy: operators, a pattern, or equality.
    private func predicate(_ path: FieldPath, _ value: BSONValue) throws(ServiceError) -> Filter {
        switch value {
        case .regex(let literal):
            try budget.addConditions()
            return .field(path, .matches(try PatternParser.pattern(literal, budget)))
        case .document(let document) where document.isOperatorDocument:
            let tests = try FieldTestParser(parsing: deeper(), path: path).tests(document)
            return Self.conjunction(tests.map { .field(path, $0) })
        case .undefined:
            throw FieldTestParser.undefined(path)
        default:
            try budget.addConditions()
            return .field(path, .compare(.equal, value))
        }
    }

    /// An entry whose name starts with `$`; nil when it says nothing about documents.
    private func topLevel(_ name: String, _ value: BSONValue) throws(ServiceError) -> Filter? {
        switch name {
        case "$and": return .and(try branches(name, value))
        case "$or": return .or(try branches(name, value))
        case "$nor": return .nor(try branches(name, value))
        case "$comment": return nil
        case "$expr":
            if isInsideElement {
                throw .mongo(.badValue, "$expr can only be applied to the top-level document")
            }
            if !isQuery { throw .mongo(224, "$expr is not allowed in this context") }
            try budget.addConditions()
            return .expression(try ExpressionParser.parseChecked(value, budget))
        case "$jsonSchema":
            if !allowsRestricted { throw RestrictedOperators.refusal(of: name) }
            if !isQuery { throw .mongo(224, "$jsonSchema is not allowed in this context") }
            return .schema(try JSONSchemaParser.parse(value, budget))
        case "$sampleRate" where isQuery:
            try budget.addConditions()
            return .expression(try sampling(value))
        case "$text" where isQuery:
            if !allowsRestricted { throw RestrictedOperators.refusal(of: name) }
            return .text(try text(value))
        case _ where Self.unservedTopLevel.contains(name) || name == "$text" || name == "$sampleRate":
            if !allowsRestricted { throw RestrictedOperators.refusal(of: name) }
            throw .mongo(.badValue, "\(name) is not allowed in this context")
        default:
            throw .mongo(
                .badValue,
                "unknown top level operator: \(name). If you have a field name that starts with a '$' symbol, consider using $getField or $setField."
            )
        }
    }

    /// `$text`, where SQL can decide it.
    private func text(_ value: BSONValue) throws(ServiceError) -> TextSearch {
        if isInsideElement {
            throw .mongo(.badValue, "$text can only be applied to the top-level document")
        }
        let search = try TextSearchParser.parse(value)
        if !stage.isFirst {
            throw .mongo(17313, "$match with $text is only allowed as the first pipeline stage")
        }
        if budget.variables.contains(TextScore.field) {
            throw .mongo(.badValue, "Too many text expressions")
        }
        switch role {
        case .condition: break
        case .alternative:
            throw .mongo(
                291,
                "Failed to produce a solution for TEXT under OR: tidegate serves $text as a condition that has to hold"
            )
        case .negated: throw .mongo(.badValue, "text expression not allowed in nor")
        }
        guard budget.allowsText, budget.nesting == 0, !budget.isInFacet else {
            throw .mongo(.badValue, "$text is not served in this context")
        }
        try budget.addConditions()
        // What expressions may ask for from now on.
        budget.variables.insert(TextScore.field)
        return search
    }

    /// `$sampleRate`: each document passes with this chance.
    private func sampling(_ value: BSONValue) throws(ServiceError) -> AggregationExpression {
        guard let rate = NumericValue(value)?.doubleValue else {
            throw .mongo(.badValue, "argument to $sampleRate must be a numeric type")
        }
        guard rate >= 0, rate <= 1 else {
            throw .mongo(.badValue, "numeric argument to $sampleRate must be in [0, 1]")
        }
        return rate == 1
            ? .literal(.bool(true)) : .call(.less, [.call(.random, []), .literal(.double(rate))])
    }

    /// The members of `$and`, `$or`, `$nor`.
    private func branches(_ name: String, _ value: BSONValue) throws(ServiceError) -> [Filter] {
        guard case .array(let members) = value else { throw .mongo(.badValue, "\(name) must be an array") }
        if members.isEmpty { throw .mongo(.badValue, "\(name) must be a nonempty array") }
        var inner = try deeper()
        if name == "$nor" { inner.role = .negated }
        if name == "$or", members.count > 1, role == .condition { inner.role = .alternative }
        var filters: [Filter] = []
        filters.reserveCapacity(members.count)
        for member in members {
            guard case .document(let document) = member else {
                throw .mongo(.badValue, "\(name) entries need to be full objects")
            }
            if document.isEmpty { try budget.addConditions() }
            filters.append(try inner.filter(document))
        }
        return filters
    }

    private static func conjunction(_ parts: [Filter]) -> Filter {
        switch parts.count {
        case 0: .all
        case 1: parts[0]
        default: .and(parts)
        }
    }
}

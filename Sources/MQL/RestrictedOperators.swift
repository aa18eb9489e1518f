public import Errors

/// What a request of an application user may not use.
///
/// Source: `reference/rules.md` §16.
///
/// The parsers refuse what tidegate does not serve at all; here stand the operators that system
/// requests may use and users may not. The part about pipelines stands in `Pipeline/`.
public enum RestrictedOperators {
    /// What an app may allow to its users nevertheless.
    public struct Options: Sendable, Hashable {
        /// `$regex` and regex literals.
        public var allowsRegex: Bool
        /// Expressions in filters: `$expr`.
        public var allowsExpr: Bool

        /// Both allowed, but for what is given.
        public init(allowsRegex: Bool = true, allowsExpr: Bool = true) {
            self.allowsRegex = allowsRegex
            self.allowsExpr = allowsExpr
        }
    }

    /// The error for an operator that users may not use.
    public static func refusal(of name: String) -> ServiceError {
        ServiceError(
            .invalidParameter,
            "operator '\(name)' is not available to application users",
            serverCode: .unauthorized,
            details: ["operator": name]
        )
    }

    /// Checks a filter of a user.
    ///
    /// - Throws: ``ServiceError`` with code `invalidParameter`, naming the operator.
    public static func check(filter: Filter, options: Options = Options()) throws(ServiceError) {
        switch filter {
        case .all, .nothing: break
        case .and(let members), .or(let members), .nor(let members):
            for member in members { try check(filter: member, options: options) }
        case .field(_, let test): try check(test, options)
        case .expression(let expression):
            if !options.allowsExpr { throw refusal(of: "$expr") }
            try check(expression: expression)
        case .schema: throw refusal(of: "$jsonSchema")
        case .text: throw refusal(of: "$text")
        }
    }

    /// Checks what an update asks and computes: array filters, `$pull`, pipelines.
    ///
    /// - Throws: ``ServiceError`` with code `invalidParameter`, naming the operator.
    public static func check(update: Update, options: Options = Options()) throws(ServiceError) {
        let changes: [UpdateChange]
        let arrayFilters: [String: Filter]
        switch update {
        case .operators(let stated, let filters): (changes, arrayFilters) = (stated, filters)
        case .pipeline(let pipeline): return try check(pipeline: pipeline)
        case .replacement: return
        }
        for filter in arrayFilters.values { try check(filter: filter, options: options) }
        for change in changes {
            guard case .pull(let condition) = change.action else { continue }
            switch condition {
            case .equal: break
            case .tests(let tests): for test in tests { try check(test, options) }
            case .document(let filter): try check(filter: filter, options: options)
            }
        }
    }

    /// Checks what a projection asks and computes: `$elemMatch`, computed fields.
    ///
    /// - Throws: ``ServiceError`` with code `invalidParameter`, naming the operator.
    public static func check(projection: Projection, options: Options = Options()) throws(ServiceError) {
        for item in projection.items {
            switch item {
            case .elementMatch(_, let match): try check(match, options)
            case .computed(_, let expression): try check(expression: expression)
            case .path, .slice, .positional: break
            }
        }
    }

    private static func check(_ test: FieldTest, _ options: Options) throws(ServiceError) {
        switch test {
        case .compare, .exists, .type, .modulo, .size: break
        case .inside(let members), .all(let members):
            if !options.allowsRegex, members.contains(where: \.isPattern) { throw refusal(of: "$regex") }
        case .matches: if !options.allowsRegex { throw refusal(of: "$regex") }
        case .allElements(let matches): for match in matches { try check(match, options) }
        case .elementMatch(let match): try check(match, options)
        case .bits(let bits, _): throw refusal(of: bits.rawValue)
        case .not(let tests): for test in tests { try check(test, options) }
        }
    }

    private static func check(_ match: ElementMatch, _ options: Options) throws(ServiceError) {
        switch match {
        case .value(let tests): for test in tests { try check(test, options) }
        case .document(let filter): try check(filter: filter, options: options)
        }
    }
}

extension FilterMember {
    /// Whether the member is a pattern rather than a value.
    fileprivate var isPattern: Bool {
        if case .pattern = self { true } else { false }
    }
}

public import Errors

/// What a request of an application user may not use. Source: `reference/rules.md` §16.
///
/// The part about pipelines stands in `Pipeline/`.
public enum RestrictedOperators {
    /// What an app may allow to its users nevertheless.
    public struct Options: Sendable, Hashable {
        /// `$regex` and regex literals.
        public var allowsRegex: Bool
        /// `$expr`
        public var allowsExpr: Bool

        public init(allowsRegex: Bool = true, allowsExpr: Bool = true) {
            self.allowsRegex = allowsRegex
            self.allowsExpr = allowsExpr
        }
    }

    /// The error for an operator that users may not use.
    public static func refusal(of name: String) -> ServiceError {
        ServiceError(
            .invalidParameter, "operator '\(name)' is not available to application users",
            details: ["operator": name])
    }
}

/// The class and code of a server error: five characters, as the SQL standard and PostgreSQL assign them.
///
/// Source: PostgreSQL manual, appendix A.
public struct SQLState: Sendable, Hashable {
    /// The five characters.
    public let code: String

    /// A code as the server sent it.
    public init(_ code: String) {
        self.code = code
    }

    /// The first two characters: the kind of error.
    public var category: Substring { code.prefix(2) }

    /// Whether the server asks for the transaction to be run again.
    public var isRetryable: Bool { self == .serializationFailure || self == .deadlockDetected }

    /// Whether a function of tidegate's own raises it, for whoever runs the statement to act upon.
    var isOurs: Bool { category == "TG" }

    /// 23505: a key that is already there.
    public static let uniqueViolation = SQLState("23505")
    /// 23514: a check that does not hold.
    public static let checkViolation = SQLState("23514")
    /// 57014: cancelled by request or by `statement_timeout`.
    public static let queryCanceled = SQLState("57014")
    /// 40001: a concurrent transaction came first.
    public static let serializationFailure = SQLState("40001")
    /// 40P01: two transactions waited for each other.
    public static let deadlockDetected = SQLState("40P01")
    /// P0001: `RAISE EXCEPTION` in a function of tidegate's own.
    public static let raiseException = SQLState("P0001")
    /// 26000: a prepared statement that the session does not have.
    public static let invalidSQLStatementName = SQLState("26000")
    /// 0A000: among others, a cached plan whose result type changed.
    public static let featureNotSupported = SQLState("0A000")
    /// 42P01: a table that is not there.
    public static let undefinedTable = SQLState("42P01")
    /// 08006: the connection broke; also given by us when libpq has no code.
    public static let connectionFailure = SQLState("08006")
}

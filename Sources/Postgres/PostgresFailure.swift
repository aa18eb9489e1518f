public import Errors

/// An error as the server reported it, or the loss of the connection: the cause of a service error.
///
/// Whoever holds the statement looks here for the name of a constraint; nobody shows it to a caller.
public struct PostgresFailure: Error, Sendable, Equatable {
    /// The five-character code.
    public let sqlState: SQLState
    /// The server's primary message.
    public let message: String
    /// The server's detail line; may hold values of the caller's.
    public let detail: String?
    /// The server's hint.
    public let hint: String?
    /// The violated constraint, for class 23.
    public let constraint: String?
    /// The schema that the error is about.
    public let schema: String?
    /// The table that the error is about.
    public let table: String?
    /// The column that the error is about.
    public let column: String?
    /// The function in the server's source that raised it; tells apart what shares an SQLSTATE.
    public let routine: String?

    /// A failure put together by hand; the reader of results fills all fields.
    public init(
        sqlState: SQLState,
        message: String,
        detail: String? = nil,
        hint: String? = nil,
        constraint: String? = nil,
        schema: String? = nil,
        table: String? = nil,
        column: String? = nil,
        routine: String? = nil
    ) {
        self.sqlState = sqlState
        self.message = message
        self.detail = detail
        self.hint = hint
        self.constraint = constraint
        self.schema = schema
        self.table = table
        self.column = column
        self.routine = routine
    }

    /// Whether the same transaction, begun anew, may well succeed.
    public var isRetryable: Bool { sqlState.isRetryable || isStalePlan }

    /// Whether a prepared statement no longer fits: it was dropped, or its table changed shape.
    var isStalePlan: Bool {
        sqlState == .invalidSQLStatementName
            || (sqlState == .featureNotSupported && routine == "RevalidateCachedQuery")
    }
}

extension PostgresFailure: LoggableCause {
    /// Code, message and place, without values: whatever PostgreSQL quotes, from the first quotation mark to
    /// the last, since a value may hold some itself.
    public var logText: String {
        var text = "SQLSTATE \(sqlState.code): "
        if let first = message.firstIndex(of: "\""), let last = message.lastIndex(of: "\""), first < last {
            text += message[...first] + "…" + message[last...]
        } else {
            text += message
        }
        if let constraint { text += " (constraint \(constraint))" }
        if let table { text += " (table \(schema.map { "\($0)." } ?? "")\(table))" }
        return text
    }
}

extension PostgresFailure: CustomStringConvertible {
    /// Code, message and place, for the log.
    public var description: String {
        var text = "SQLSTATE \(sqlState.code): \(message)"
        if let constraint { text += " (constraint \(constraint))" }
        if let table { text += " (table \(schema.map { "\($0)." } ?? "")\(table))" }
        return text
    }
}

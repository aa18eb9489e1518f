public import Errors

/// Every event that is worth a log line or a metric.
///
/// The payloads are safe to log: no binds, no headers, no bodies, no connection strings.
public enum Observation: Sendable {
    /// A request has come.
    case requestStarted
    /// A request was answered.
    case requestFinished(RequestRecord)
    /// A function has ended that ran for nobody's request: SQL asked for it, or it is a trigger's.
    case runFinished(RequestRecord)
    /// A request failed for a reason of ours; `error.cause` is logged here and nowhere else.
    case internalError(ServiceError, requestID: String?)
    /// A statement took longer than the settings call slow. `sql` is its text without values.
    case slowStatement(sql: String, duration: Duration)
    /// PostgreSQL raised a code that the table in `Postgres` does not know.
    case unmappedSQLState(state: String, message: String)
    /// A connection to PostgreSQL was made.
    case connectionOpened(connections: Int)
    /// A connection ended that nobody closed; its statement, if any, failed.
    case connectionLost(reason: String)
    /// No connection could be made; the next attempt follows after `retryIn`.
    case connectFailed(reason: String, attempt: Int, retryIn: Duration)
    /// Listening for notifications began, or began again after a break.
    case listening(channels: [String])
    /// A caller gave up waiting for a connection, or the queue was full.
    case poolExhausted(waiting: Int, connections: Int)
    /// A statement was cancelled at the server because its deadline passed or its caller left.
    case statementCancelled(sql: String)
    /// PostgreSQL sent a notice or warning.
    case databaseNotice(String)
    /// A migration was applied.
    case migrationApplied(number: Int, name: String, duration: Duration)
    /// An app's configuration was read anew and is in force.
    case configurationReloaded(app: String, version: String)
    /// An app's new configuration did not check; the old one stays in force.
    case configurationRefused(app: String, reason: String)
    /// Rows of the request log were not written; `isNews` the first time within the hour.
    case logRowsDropped(rows: Int, because: LogLoss, isNews: Bool)
    /// A part started or stopped.
    case lifecycle(part: String, event: String)
}

/// Why rows of the request log were not written; the raw values are a dimension of the metric.
public enum LogLoss: String, CaseIterable, Sendable {
    /// More waited than are kept: the database was away, or too slow.
    case full
    /// More than are taken per second of requests that name no app, or that were turned away unserved.
    case limit
    /// The database refused the row.
    case refused
}

/// The stages that a request's time is told apart by, in the order in which they follow one another.
///
/// The raw values are the names in metrics and in `Server-Timing`.
public enum RequestStage: String, CaseIterable, Sendable {
    /// From the head until the body is here.
    case receive
    /// Whose credentials these are.
    case authenticate
    /// Bytes to a typed operation.
    case parse
    /// Rules resolved, SQL compiled.
    case plan
    /// Waiting for PostgreSQL: a connection, and its answers.
    case database
    /// Rows to documents, and what SQL left to us.
    case evaluate
    /// A function of the app, with what it asks of the data.
    case function
    /// The answer's bytes.
    case encode
}

public import Errors
public import Observability
public import SQL

/// PostgreSQL, as a pool of connections.
public final class Database: Sendable {
    public init(settings: PostgresSettings, observer: Observer? = nil) { fatalError("in the next commit") }
    /// Connects once and checks the server: PostgreSQL 15 or newer, UTF-8.
    public func check() async throws(ServiceError) { fatalError("in the next commit") }
    public func run(
        _ statement: SQLFragment, plan: PlanMode = .custom, deadline: ContinuousClock.Instant
    ) async throws(ServiceError) -> ResultSet { fatalError("in the next commit") }
    public func run(
        _ statement: SQLFragment, plan: PlanMode = .custom, within limit: Duration = .seconds(30)
    ) async throws(ServiceError) -> ResultSet { fatalError("in the next commit") }
    /// Rolled back when `body` throws. Errors of `body` pass through unchanged.
    public func transaction<Value: Sendable>(
        isolation: Isolation = .readCommitted, deadline: ContinuousClock.Instant,
        _ body: (Transaction) async throws -> Value
    ) async throws -> Value { fatalError("in the next commit") }
    public func transaction<Value: Sendable>(
        isolation: Isolation = .readCommitted, within limit: Duration = .seconds(30),
        _ body: (Transaction) async throws -> Value
    ) async throws -> Value { fatalError("in the next commit") }
    public func script(_ text: String) async throws(ServiceError) { fatalError("in the next commit") }
    public func notifications(_ channels: [String]) -> AsyncStream<Notification> { fatalError("in the next commit") }
    public func close() async { fatalError("in the next commit") }

    public enum Isolation: Sendable { case readCommitted, repeatableRead, serializable }
    /// What a listener hears.
    public enum Notification: Sendable, Equatable {
        /// Listening began, or began again after a break: anything may have been missed, load everything.
        case reconnected
        case received(channel: String, payload: String)
    }
}

/// One transaction on one connection.
public final class Transaction: Sendable {
    public func run(
        _ statement: SQLFragment, plan: PlanMode = .custom
    ) async throws(ServiceError) -> ResultSet { fatalError("in the next commit") }
    public func script(_ text: String) async throws(ServiceError) { fatalError("in the next commit") }
    init() {}
}

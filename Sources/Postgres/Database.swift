public import Errors
public import Observability
public import SQL
import Threading

/// PostgreSQL, as a pool of connections that run statements.
///
/// Made once and handed around. Connections are opened when somebody needs one and reopened when they
/// break; a statement fails only with its own connection. Every statement has a deadline, and passing it or
/// cancelling the task stops the statement at the server.
///
/// Errors: `executionTimeLimitExceeded` past the deadline or on cancellation, `maintenanceInProgress` when
/// there is no connection to be had, else what `SQLState+ErrorCode.swift` makes of the server's code, with
/// the ``PostgresFailure`` as its cause.
public final class Database: Sendable {
    /// How the pool is doing, for the health check.
    public struct Health: Sendable {
        /// Connections that stand.
        public let open: Int
        /// Of these, those nobody uses.
        public let idle: Int
        /// Of these, those in use.
        public let leased: Int
        /// Callers in the queue.
        public let waiting: Int
        /// How often in a row connecting has failed.
        public let failedAttempts: Int
        /// Why connecting failed last; nil once it worked again.
        public let lastFailure: ServiceError?
    }

    /// How much of what others do at the same time a transaction sees.
    public enum Isolation: Sendable {
        case readCommitted
        case repeatableRead
        case serializable

        var begin: String {
            switch self {
            case .readCommitted: "BEGIN"
            case .repeatableRead: "BEGIN ISOLATION LEVEL REPEATABLE READ"
            case .serializable: "BEGIN ISOLATION LEVEL SERIALIZABLE"
            }
        }
    }

    let pool: ConnectionPool

    /// A pool without connections yet; the first statement opens one.
    public init(settings: PostgresSettings, observer: Observer? = nil) {
        pool = ConnectionPool(settings: settings, observer: observer)
    }

    deinit {
        pool.abandon()
    }

    /// How many connections there may be.
    public var maxConnections: Int { pool.settings.maxConnections }

    /// How many bytes the result of a statement may have.
    public var maxResultBytes: Int { pool.settings.maxResultBytes }

    /// Whether connections are to be had.
    public var health: Health { pool.health }

    /// Connects once, apart from the pool, to learn at start whether the server can be used.
    ///
    /// - Throws: `invalidSetting` for a server older than PostgreSQL 15 or a database that is not UTF-8,
    ///   `maintenanceInProgress` with the reason in `details["reason"]` when it cannot be reached.
    public func check() async throws(ServiceError) {
        let settings = pool.settings
        let outcome = await withUnsafeContinuation {
            (waiting: UnsafeContinuation<Result<Void, ServiceError>, Never>) in
            DedicatedThread.start(name: "pg-check") {
                do throws(ServiceError) {
                    _ = try OpenedSession(settings)
                    waiting.resume(returning: .success(()))
                } catch {
                    waiting.resume(returning: .failure(error.explained))
                }
            }
        }
        try outcome.get()
    }

    /// Runs one statement in a transaction of its own.
    ///
    /// - Parameters:
    ///   - statement: Prepared on first use in each session; its values travel apart from its text.
    ///   - plan: How the server plans it.
    ///   - deadline: When the caller loses interest.
    /// - Returns: All rows, as text columns.
    /// - Throws: As the type says.
    public func run(
        _ statement: SQLFragment,
        plan: PlanMode = .custom,
        deadline: ContinuousClock.Instant
    ) async throws(ServiceError) -> ResultSet {
        let job = StatementJob(
            .statement(try EncodedStatement(statement), plan),
            deadline: Timeline.nanoseconds(deadline),
            isPooled: true
        )
        return try await pool.outcome(of: job) { [pool] in pool.run(job, plan: plan) }
    }

    /// Runs one statement with the time it may take from now.
    public func run(
        _ statement: SQLFragment,
        plan: PlanMode = .custom,
        within limit: Duration = .seconds(30)
    ) async throws(ServiceError) -> ResultSet {
        try await run(statement, plan: plan, deadline: .now + limit)
    }

    /// Runs several statements as one, on one connection.
    ///
    /// Shape: `BEGIN` travels with the first statement; `COMMIT` follows when `body` returns, `ROLLBACK` when
    /// it throws. The body's own errors pass through unchanged. Nothing is retried: see
    /// ``PostgresFailure/isRetryable``.
    ///
    /// - Parameters:
    ///   - isolation: What the transaction sees of others.
    ///   - deadline: For getting a connection and for every statement.
    ///   - body: Must not let the transaction escape.
    /// - Returns: What `body` returned, once it is permanent.
    /// - Throws: What `body` threw, or a `ServiceError` of the database's.
    public func transaction<Value: Sendable>(
        isolation: Isolation = .readCommitted,
        deadline: ContinuousClock.Instant,
        _ body: (Transaction) async throws -> Value
    ) async throws -> Value {
        let limit = Timeline.nanoseconds(deadline)
        let connection = try await LeaseRequest(deadline: limit).granted(by: pool)
        let transaction = Transaction(connection, pool: pool, begin: isolation.begin, deadline: limit)
        do {
            let value = try await body(transaction)
            try await transaction.commit()
            pool.release(connection)
            return value
        } catch {
            await transaction.rollback()
            pool.release(connection)
            throw error
        }
    }

    /// As ``transaction(isolation:deadline:_:)``, with the time it may take from now.
    public func transaction<Value: Sendable>(
        isolation: Isolation = .readCommitted,
        within limit: Duration = .seconds(30),
        _ body: (Transaction) async throws -> Value
    ) async throws -> Value {
        try await transaction(isolation: isolation, deadline: .now + limit, body)
    }

    /// Runs the text of a file of SQL, many statements at once, in one implicit transaction.
    ///
    /// For migration files and test fixtures, which are program text, and for definitions of indexes, which a function
    /// of ours wrote with every name and value quoted; nothing else may use it. A single statement runs as itself, so
    /// that it may be one that no transaction allows.
    public func script(_ text: String) async throws(ServiceError) {
        let job = StatementJob(.script(text), deadline: .max, isPooled: true)
        _ = try await pool.outcome(of: job) { [pool] in pool.run(job, plan: .custom) }
    }

    /// Listens on channels, over a connection of its own, until the stream is dropped or its task cancelled.
    ///
    /// The stream keeps 1024 notifications; when more wait, the oldest are lost and `.reconnected` follows, so
    /// that a listener which loads everything on `.reconnected` misses nothing.
    ///
    /// - Parameter channels: Names as `NOTIFY` spells them.
    /// - Returns: A stream that begins with `.reconnected`.
    public func notifications(_ channels: [String]) -> AsyncStream<Notification> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Notification.self,
            bufferingPolicy: .bufferingNewest(1024)
        )
        let listener = NotificationListener(
            channels: channels,
            settings: pool.settings,
            observer: pool.observer,
            continuation: continuation
        )
        continuation.onTermination = { _ in listener.stop() }
        pool.whileOpen(listener)
        return stream
    }

    /// Refuses new statements, waits for those that run, and closes all connections.
    public func close() async {
        await pool.close()
    }
}

extension ServiceError {
    /// With the server's or libpq's words among the details: for the operator, who is the caller of `check`.
    fileprivate var explained: ServiceError {
        guard let failure = postgresFailure else { return self }
        return ServiceError(code, sentence, details: ["reason": failure.message], cause: cause)
    }
}

extension ConnectionPool {
    /// Waits for a job and turns its reply into rows on the caller's own thread.
    func outcome(
        of job: StatementJob,
        start: @Sendable () -> Void
    ) async throws(ServiceError) -> ResultSet {
        let begin = Timeline.now
        let outcome = await job.outcome(start: start) { [self] in withdraw($0) }
        report(job, outcome, since: begin)
        guard let result = try outcome.get() else {
            return ResultSet(columns: [], bytes: [], cells: [], affectedRows: 0)
        }
        return try result.rows()
    }

    /// Takes note of what an operator should know about a finished job.
    func report(_ job: StatementJob, _ outcome: StatementJob.Outcome, since begin: Int64) {
        guard let observer else { return }
        let duration = Duration.nanoseconds(Timeline.now - begin)
        if duration > settings.slowStatement {
            observer.record(.slowStatement(sql: job.sql, duration: duration))
        }
        if case .failure(let error) = outcome, error.code == .internalServerError,
            let failure = error.postgresFailure, !failure.sqlState.isOurs
        {
            observer.record(.unmappedSQLState(state: failure.sqlState.code, message: failure.logText))
        }
    }
}

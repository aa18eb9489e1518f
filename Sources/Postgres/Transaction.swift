public import Errors
public import SQL
import Synchronization

/// Statements that take effect together; made by ``Database/transaction(isolation:deadline:_:)``.
///
/// One statement at a time; after the closing of the transaction it refuses to be used.
public final class Transaction: Sendable {
    private enum Phase {
        case new
        case begun
        case ended
    }

    private let connection: PostgresConnection
    private let pool: ConnectionPool
    private let begin: String
    private let deadline: Int64
    private let phase = Mutex(Phase.new)

    init(_ connection: PostgresConnection, pool: ConnectionPool, begin: String, deadline: Int64) {
        self.connection = connection
        self.pool = pool
        self.begin = begin
        self.deadline = deadline
    }

    /// Runs one statement.
    ///
    /// After an error of the server every further statement fails, until the end.
    public func run(
        _ statement: SQLFragment,
        plan: PlanMode = .custom
    ) async throws(ServiceError) -> ResultSet {
        try await perform(.statement(try EncodedStatement(statement), plan))
    }

    /// Runs the text of a file of SQL as a part of the transaction.
    ///
    /// For migration files; nothing else may use it.
    public func script(_ text: String) async throws(ServiceError) {
        // The simple protocol cannot carry `BEGIN` in the same send without being parsed as one text.
        if phase.withLock({ $0 == .new }) { _ = try await perform(.command("SELECT 1")) }
        _ = try await perform(.script(text))
    }

    private func perform(_ work: StatementJob.Work) async throws(ServiceError) -> ResultSet {
        let phase = phase.withLock { phase in
            defer { if phase == .new { phase = .begun } }
            return phase
        }
        guard phase != .ended else {
            throw ServiceError(.internalServerError, "the transaction has ended")
        }
        let job = StatementJob(work, deadline: deadline, isPooled: false)
        let begin = phase == .new ? begin : nil
        return try await pool.outcome(of: job) { [connection] in connection.submit(job, begin: begin) }
    }

    /// Makes everything permanent.
    func commit() async throws(ServiceError) {
        let wasBegun = phase.withLock { phase in
            defer { if phase == .new { phase = .ended } }
            return phase == .begun
        }
        guard wasBegun else { return }
        let job = StatementJob(.command("COMMIT"), deadline: deadline, isPooled: false)
        let start = { @Sendable [connection] in connection.submit(job) }
        let result = try await job.outcome(start: start) { _ in false }.get()
        phase.withLock { $0 = .ended }
        // The server answers `COMMIT` of a failed transaction with `ROLLBACK` and calls that a success.
        guard result?.commandTag == "COMMIT" else {
            throw ServiceError(
                .internalServerError,
                "the transaction was undone because one of its statements had failed"
            )
        }
    }

    /// Undoes everything; goes through even when the task is cancelled.
    ///
    /// If it cannot, the pool closes the connection, which has the same effect.
    func rollback() async {
        let wasBegun = phase.withLock { phase in
            defer { phase = .ended }
            return phase == .begun
        }
        guard wasBegun else { return }
        let limit = Timeline.adding(pool.settings.cancelGrace, to: Timeline.now)
        let job = StatementJob(.command("ROLLBACK"), deadline: limit, isPooled: false)
        _ = await job.outcome { [connection] in connection.submit(job) }
    }
}

import Errors
import Synchronization

/// One statement on its way: from the caller, perhaps through the queue, over a connection, and back.
final class StatementJob: Sendable {
    /// What is to be sent.
    enum Work: Sendable {
        /// One statement, prepared when it is new to the session.
        case statement(EncodedStatement, PlanMode)
        /// A utility command of ours without values (`BEGIN`, `COMMIT`).
        case command(String)
        /// Several statements in one text, by the simple protocol.
        case script(String)
    }

    /// What came back: the result to copy, or why there is none.
    typealias Outcome = Result<WireResult?, ServiceError>

    private struct Progress {
        var isCancelled = false
        var connection: PostgresConnection?
        var continuation: UnsafeContinuation<Outcome, Never>?
    }

    let work: Work
    /// On ``Timeline``; `Int64.max` for none.
    let deadline: Int64
    /// Whether the connection goes back to the pool after it.
    let isPooled: Bool
    private let progress = Mutex(Progress())

    init(_ work: Work, deadline: Int64, isPooled: Bool) {
        self.work = work
        self.deadline = deadline
        self.isPooled = isPooled
    }

    /// The statement's text, for the log; never its values.
    var sql: String {
        switch work {
        case .statement(let statement, _): statement.key.text
        case .command(let text): text
        case .script: "(script)"
        }
    }

    /// Starts the work and waits for its outcome.
    ///
    /// Cancelling the task cancels the statement at the server.
    ///
    /// - Parameters:
    ///   - start: Hands the job to a pool or connection, which finishes it exactly once.
    ///   - withdraw: Takes the job out of the queue; answers whether it was there.
    /// - Returns: The reply, or the error that callers see.
    func outcome(
        start: @Sendable () -> Void,
        withdraw: @escaping @Sendable (StatementJob) -> Bool
    ) async -> Outcome {
        await withTaskCancellationHandler {
            await waiting(start: start)
        } onCancel: {
            cancel(withdraw: withdraw)
        }
    }

    /// As ``outcome(start:withdraw:)``, but goes through to its end even if the task is cancelled.
    func outcome(start: @Sendable () -> Void) async -> Outcome {
        await waiting(start: start)
    }

    private func waiting(start: @Sendable () -> Void) async -> Outcome {
        await withUnsafeContinuation { (continuation: UnsafeContinuation<Outcome, Never>) in
            progress.withLock { $0.continuation = continuation }
            start()
        }
    }

    /// Ties the job to the connection that is about to send it; false when it has been cancelled before.
    func begin(on connection: PostgresConnection) -> Bool {
        progress.withLock { progress in
            guard !progress.isCancelled else { return false }
            progress.connection = connection
            return true
        }
    }

    /// Resumes the caller.
    ///
    /// A second call does nothing, so that a race of loss and cancellation is harmless.
    func finish(_ outcome: Outcome) {
        let continuation = progress.withLock { progress in
            progress.connection = nil
            return progress.continuation.take()
        }
        continuation?.resume(returning: outcome)
    }

    private func cancel(withdraw: @Sendable (StatementJob) -> Bool) {
        let connection = progress.withLock { progress in
            progress.isCancelled = true
            return progress.connection
        }
        if let connection {
            connection.cancel(self)
        } else if withdraw(self) {
            finish(.failure(.interrupted))
        }
    }
}

extension ServiceError {
    /// The caller left or its time was over before the statement was sent.
    static var interrupted: ServiceError {
        ServiceError(
            .executionTimeLimitExceeded,
            "operation was interrupted",
            serverCode: .maxTimeMSExpired
        )
    }

    /// The reply was larger than is taken in.
    static var resultTooLarge: ServiceError {
        ServiceError(
            .readSizeLimitExceeded,
            "the result is too large (limit max-result-bytes)",
            details: ["limit": "max-result-bytes"]
        )
    }

    /// The deadline passed.
    static var deadlineExceeded: ServiceError {
        ServiceError(
            .executionTimeLimitExceeded,
            "operation exceeded time limit",
            serverCode: .maxTimeMSExpired
        )
    }

    /// The connection broke under the statement; whether it took effect is not known.
    static func connectionLost(_ reason: String) -> ServiceError {
        PostgresFailure(sqlState: .connectionFailure, message: reason).serviceError
    }
}

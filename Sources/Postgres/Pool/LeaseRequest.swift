import Errors
import Synchronization

/// Somebody's wish for a connection of their own for a while.
final class LeaseRequest: Sendable {
    typealias Outcome = Result<PostgresConnection, ServiceError>

    /// On ``Timeline``.
    let deadline: Int64
    private let continuation = Mutex<UnsafeContinuation<Outcome, Never>?>(nil)

    init(deadline: Int64) {
        self.deadline = deadline
    }

    /// Waits in a pool's queue until a connection is free, the deadline passes or the task is cancelled.
    func granted(by pool: ConnectionPool) async throws(ServiceError) -> PostgresConnection {
        let outcome = await withTaskCancellationHandler {
            await withUnsafeContinuation { (waiting: UnsafeContinuation<Outcome, Never>) in
                continuation.withLock { $0 = waiting }
                guard !Task.isCancelled else { return fail(.interrupted) }
                pool.lease(self)
            }
        } onCancel: {
            if pool.withdraw(self) { fail(.interrupted) }
        }
        return try outcome.get()
    }

    /// Hands the connection over; false when nobody waits any more.
    func grant(_ connection: PostgresConnection) -> Bool {
        guard let waiting = continuation.withLock({ $0.take() }) else { return false }
        waiting.resume(returning: .success(connection))
        return true
    }

    /// Ends the waiting with an error.
    func fail(_ error: ServiceError) {
        continuation.withLock { $0.take() }?.resume(returning: .failure(error))
    }
}

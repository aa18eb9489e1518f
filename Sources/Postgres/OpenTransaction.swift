public import Errors
import Synchronization

extension Database {
    /// Begins a transaction that stays open between the calls of somebody who decides as he goes.
    ///
    /// It holds a connection until it is committed or rolled back; whoever opens several must bound their number
    /// well below that of the connections, since what else a request asks for needs some, too.
    ///
    /// - Parameters:
    ///   - isolation: What the transaction sees of others.
    ///   - deadline: For getting a connection and for every statement.
    /// - Returns: The transaction, which begins with its first statement.
    /// - Throws: As the type says.
    public func open(
        isolation: Isolation,
        deadline: ContinuousClock.Instant
    ) async throws(ServiceError) -> OpenTransaction {
        let limit = Timeline.nanoseconds(deadline)
        let connection = try await LeaseRequest(deadline: limit).granted(by: pool)
        return OpenTransaction(
            connection,
            pool,
            Transaction(connection, pool: pool, begin: isolation.begin, deadline: limit)
        )
    }
}

/// A transaction that its holder ends: by ``commit()`` or ``rollback()``, or by forgetting it, which rolls back.
public final class OpenTransaction: Sendable {
    /// Runs the statements.
    public let transaction: Transaction

    private let connection: PostgresConnection
    private let pool: ConnectionPool
    private let hasEnded = Mutex(false)

    init(_ connection: PostgresConnection, _ pool: ConnectionPool, _ transaction: Transaction) {
        self.connection = connection
        self.pool = pool
        self.transaction = transaction
    }

    deinit {
        guard !hasEnded.withLock({ $0 }) else { return }
        let (connection, pool, transaction) = (connection, pool, transaction)
        // Nobody waits for it any more; the connection goes back when it is clean.
        Task {
            await transaction.rollback()
            pool.release(connection)
        }
    }

    /// Makes everything permanent and gives the connection back, whatever comes of it.
    ///
    /// - Throws: What the server says, or `internalServerError` for a transaction that has ended.
    public func commit() async throws(ServiceError) {
        try end()
        do throws(ServiceError) {
            try await transaction.commit()
            pool.release(connection)
        } catch {
            await transaction.rollback()
            pool.release(connection)
            throw error
        }
    }

    /// Undoes everything and gives the connection back; does nothing after the end.
    public func rollback() async {
        do throws(ServiceError) { try end() } catch { return }
        await transaction.rollback()
        pool.release(connection)
    }

    private func end() throws(ServiceError) {
        let before = hasEnded.withLock { ended in
            defer { ended = true }
            return ended
        }
        guard !before else { throw ServiceError(.internalServerError, "the transaction has ended") }
    }
}

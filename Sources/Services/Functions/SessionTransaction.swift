import Errors
import Postgres
import Synchronization

/// The transaction of a function's session: operations take part in it one after the other, until its end.
///
/// It sees the documents as they were at its first operation, and what it changed itself. When another writer
/// changes the same document first, it has failed as a whole, and says so at every further step.
public final class SessionTransaction: Sendable {
    let enclosing: EnclosingTransaction
    private let open: OpenTransaction
    private let place: TransactionPlaces.Place
    private let turns = Turns()
    private let failure = Mutex<ServiceError?>(nil)

    init(_ open: OpenTransaction, place: TransactionPlaces.Place) {
        self.open = open
        self.place = place
        enclosing = EnclosingTransaction(open.transaction, RecordedOrders(), recordsAtOnce: true)
    }

    /// Begins one.
    ///
    /// - Parameters:
    ///   - database: Where.
    ///   - places: How many there may be at once.
    ///   - app: The app whose share it counts for.
    ///   - mayWait: Whether it waits for a place; whoever holds one must not.
    ///   - deadline: When it is over in any case.
    /// - Returns: The transaction, with nothing done in it.
    /// - Throws: ``ServiceError`` `tooManyRequests` when there is no place, and what the database says.
    static func begin(
        in database: Database,
        _ places: TransactionPlaces,
        app: String,
        mayWait: Bool,
        deadline: ContinuousClock.Instant
    ) async throws(ServiceError) -> SessionTransaction {
        let place = try await places.take(app, mayWait: mayWait, deadline: deadline)
        do throws(ServiceError) {
            let open = try await database.open(isolation: .repeatableRead, deadline: deadline)
            return SessionTransaction(open, place: place)
        } catch {
            place.leave()
            throw error
        }
    }

    /// Runs an operation in its turn.
    func take<Value: Sendable>(
        _ body: () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        await turns.begin()
        defer { turns.end() }
        if let failure = failure.withLock({ $0 }) { throw failure }
        do throws(ServiceError) {
            return try await body()
        } catch {
            guard Self.endsAll(error) else { throw error }
            let known = Self.conflict(error)
            failure.withLock { $0 = known }
            throw known
        }
    }

    /// Makes everything permanent.
    ///
    /// - Throws: ``ServiceError`` WriteConflict (112) when another writer came first, `maintenanceInProgress` when the
    ///   connection was lost.
    func commit() async throws(ServiceError) {
        await turns.begin()
        defer { turns.end() }
        defer { place.leave() }
        if let failure = failure.withLock({ $0 }) {
            await open.rollback()
            throw failure
        }
        do throws(ServiceError) {
            try await open.commit()
        } catch {
            throw Self.endsAll(error) ? Self.conflict(error) : error
        }
    }

    /// Undoes everything; after the end it does nothing.
    func rollback() async {
        await turns.begin()
        defer { turns.end() }
        await open.rollback()
        place.leave()
    }

    /// Whether nothing more can come of the transaction.
    private static func endsAll(_ error: ServiceError) -> Bool {
        guard let failure = error.postgresFailure else { return error.code == .maintenanceInProgress }
        return failure.isRetryable || failure.sqlState.code == "25P02"
    }

    private static func conflict(_ error: ServiceError) -> ServiceError {
        guard error.postgresFailure?.isRetryable == true else {
            return ServiceError(
                .maintenanceInProgress,
                "the transaction was lost with its connection to the database; what it changed is undone unless it was being committed",
                cause: error
            )
        }
        return ServiceError(
            .mongoDBError,
            "WriteConflict error: this operation conflicted with another operation. Please retry your operation or multi-document transaction.",
            serverCode: .writeConflict,
            cause: error
        )
    }
}

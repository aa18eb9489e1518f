public import Errors
import Postgres
import SQL

/// Does requests that carry an ``IdempotencyKey`` once, however often they come and whatever dies between.
///
/// The key's row is written in the transaction of the request itself. So there are two outcomes: both the request and
/// its answer are permanent, and whoever repeats it gets that answer; or neither is, and it may be done anew. That
/// holds for a gateway that is killed at any moment, too. While a request is under way, an advisory lock of its
/// transaction turns others with its key away.
///
/// A request that changes nothing because it is refused is not remembered. Such transactions hold a connection each,
/// so their number is bounded, apart for operations, which are short, and for functions, which need not be.
public final class IdempotentRequests: Sendable {
    /// The most bytes of an answer that is kept.
    public static let maxAnswerBytes = 1 << 20

    private let data: DataService
    private let places: TransactionPlaces
    private let functionPlaces: TransactionPlaces

    /// Made of the services whose requests it holds together.
    public init(data: DataService, functions: FunctionService) {
        self.data = data
        let most = max(1, functions.limits.transactions / 2)
        places = TransactionPlaces(most: most, mostPerApp: most)
        functionPlaces = functions.places
    }

    /// What a request does in its transaction.
    public typealias Work = (EnclosingTransaction) async throws(ServiceError) -> RememberedAnswer

    /// Answers with an operation, which takes effect as a whole or not at all.
    ///
    /// - Parameters:
    ///   - key: The request's.
    ///   - context: Whose it is, and until when.
    ///   - work: Performs it; done again when it collided with another writer.
    /// - Returns: The answer, or that of the first time.
    /// - Throws: ``ServiceError`` `idempotencyKeyReused` when the key stood for something else, `idempotencyKeyInUse`
    ///   while the same is under way, and what `work` throws.
    public func operation(
        _ key: IdempotencyKey,
        _ context: CallContext,
        _ work: Work
    ) async throws(ServiceError) -> RememberedAnswer {
        var attempt = 1
        while true {
            do throws(ServiceError) {
                return try await once(key, places, context, work)
            } catch {
                guard let failure = error.postgresFailure, attempt < 5 else { throw error }
                if failure.sqlState == .undefinedTable || failure.sqlState == .undefinedColumn {
                    // A column or table that went while its layout was remembered.
                    data.catalog.forgetAll()
                } else if !failure.isRetryable {
                    throw error
                }
                attempt += 1
            }
        }
    }

    /// Answers with a function, whose data calls are parts of one transaction.
    ///
    /// What it does elsewhere, over HTTP or in transactions of its own sessions, is done again when the gateway dies
    /// before the end; so is all of it when the transaction fails.
    ///
    /// - Parameters:
    ///   - key: The request's.
    ///   - context: Whose it is, and until when.
    ///   - work: Runs the function; what it failed with is an answer, too, since it may have changed something.
    /// - Returns: The answer, or that of the first time.
    /// - Throws: As ``operation(_:_:_:)``.
    public func function(
        _ key: IdempotencyKey,
        _ context: CallContext,
        _ work: Work
    ) async throws(ServiceError) -> RememberedAnswer {
        try await once(key, functionPlaces, context, work)
    }

    private func once(
        _ key: IdempotencyKey,
        _ places: TransactionPlaces,
        _ context: CallContext,
        _ work: Work
    ) async throws(ServiceError) -> RememberedAnswer {
        let place = try await places.take(context.app.id, mayWait: true, deadline: context.deadline)
        defer { place.leave() }
        let open = try await data.database.open(isolation: .readCommitted, deadline: context.deadline)
        do throws(ServiceError) {
            if let known = try await claim(key, open.transaction) {
                await open.rollback()
                return known
            }
            let answer = try await work(
                EnclosingTransaction(open.transaction, RecordedOrders(), recordsAtOnce: true)
            )
            guard answer.body.count <= Self.maxAnswerBytes else { throw Self.tooLarge }
            _ = try await open.transaction.run(IdempotencyStatements.remember(answer, key), plan: .generic)
            try await open.commit()
            return answer
        } catch {
            await open.rollback()
            throw error
        }
    }

    /// Takes the key for the transaction; the answer of the first time, when there was one.
    private func claim(
        _ key: IdempotencyKey,
        _ transaction: Transaction
    ) async throws(ServiceError) -> RememberedAnswer? {
        let rows = try await transaction.run(IdempotencyStatements.claim(key), plan: .generic)
        switch rows.text(0, 0) {
        case "known":
            return RememberedAnswer(
                status: rows.int(0, 1) ?? 200,
                contentType: rows.text(0, 2) ?? "application/json",
                body: Array(rows.slice(0, 3) ?? [])
            )
        case "new": return nil
        case "busy":
            throw ServiceError(
                .idempotencyKeyInUse,
                "a request with this Idempotency-Key is under way; ask again in a moment"
            )
        default:
            throw ServiceError(
                .idempotencyKeyReused,
                "this Idempotency-Key was used for another request in the last 24 hours"
            )
        }
    }

    private static let tooLarge = ServiceError(
        .readSizeLimitExceeded,
        "an answer that is kept for an Idempotency-Key has at most \(known: maxAnswerBytes) bytes; nothing was changed",
        details: ["limit": String(maxAnswerBytes)]
    )
}

import BSON
import Errors
import MQL
import Postgres
import QueryCompiler
import SQL
import Synchronization

/// The transaction that operations are parts of, and the orders of keys that it met and nobody has recorded.
///
/// An order is recorded in a statement of its own, since a transaction may be undone. A connection that waited for
/// another one inside of a transaction could wait for itself: so the transaction goes on with a placeholder, is
/// undone at its end, and begins anew once the orders are recorded.
public final class EnclosingTransaction: Sendable {
    /// A document whose order of keys is new.
    struct Unknown: Sendable {
        let document: BSONDocument
        let collection: Int32
        /// What is recorded: the order, by itself or as what follows from another by an update.
        let record: @Sendable (DataCall) async throws(ServiceError) -> Int32
    }

    let transaction: Transaction
    /// Whether it cannot begin anew, so that orders are recorded on another connection at once; the number of such
    /// transactions is bounded, so that there is one.
    let recordsAtOnce: Bool
    private let orders: RecordedOrders
    private let unknown = Mutex<[Unknown]>([])
    private let cursors = Mutex(0)
    /// More are left for the next attempt.
    private static let most = 10_000

    init(_ transaction: Transaction, _ orders: RecordedOrders, recordsAtOnce: Bool = false) {
        self.transaction = transaction
        self.orders = orders
        self.recordsAtOnce = recordsAtOnce
    }

    /// A name for a cursor that no other has in the transaction.
    func newCursor() -> SQLFragment {
        let number = cursors.withLock { cursors in
            cursors += 1
            return cursors
        }
        return "\(SQLIdentifier("tidegate_rows_\(number)"))"
    }

    /// Whether the transaction wrote placeholders, so that it must not be committed.
    var isDoomed: Bool { unknown.withLock { !$0.isEmpty } }

    /// What has to be recorded before the next attempt.
    var toRecord: [Unknown] { unknown.withLock { $0 } }

    /// The order that an earlier attempt recorded; else it is noted, and the answer is the placeholder.
    func shape(_ missing: Unknown) -> Int32 {
        if let id = orders.id(of: missing.document, collection: missing.collection) { return id }
        unknown.withLock { if $0.count < Self.most { $0.append(missing) } }
        return 0
    }

    /// Runs a part; when it throws, it alone is undone.
    func part<Value: Sendable>(
        _ body: (Transaction) async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        _ = try await transaction.run("SAVEPOINT tidegate_part", plan: .generic)
        let value: Value
        do throws(ServiceError) {
            value = try await body(transaction)
        } catch {
            // When this fails as well, the transaction does.
            _ = try await transaction.run("ROLLBACK TO SAVEPOINT tidegate_part", plan: .generic)
            _ = try await transaction.run("RELEASE SAVEPOINT tidegate_part", plan: .generic)
            throw error
        }
        _ = try await transaction.run("RELEASE SAVEPOINT tidegate_part", plan: .generic)
        return value
    }
}

/// Orders of keys that were recorded for the sake of one operation.
final class RecordedOrders: Sendable {
    private struct Key: Hashable {
        let collection: Int32
        let order: String
    }

    private let ids = Mutex<[Key: Int32]>([:])

    func id(of document: BSONDocument, collection: Int32) -> Int32? {
        let key = Key(collection: collection, order: DocumentShape(of: document).text)
        return ids.withLock { $0[key] }
    }

    func record(_ unknown: [EnclosingTransaction.Unknown], _ call: DataCall) async throws(ServiceError) {
        for entry in unknown where id(of: entry.document, collection: entry.collection) == nil {
            let id = try await entry.record(call)
            let key = Key(collection: entry.collection, order: DocumentShape(of: entry.document).text)
            ids.withLock { $0[key] = id }
        }
    }
}

extension DataCall {
    /// Runs a body whose operations take effect together.
    func enclosed<Value: Sendable>(
        _ body: (DataCall) async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        let orders = RecordedOrders()
        for _ in 0..<WriteCandidates.attempts {
            var toRecord: [EnclosingTransaction.Unknown] = []
            do throws(ServiceError) {
                return try await transaction { (transaction) async throws(ServiceError) in
                    var inner = self
                    let enclosing = EnclosingTransaction(transaction, orders)
                    inner.enclosing = enclosing
                    do throws(ServiceError) {
                        let value = try await body(inner)
                        guard !enclosing.isDoomed else { throw ShapeSuccession.interruption }
                        return value
                    } catch {
                        toRecord = enclosing.toRecord
                        throw error
                    }
                }
            } catch {
                // What failed beside a placeholder fails again without.
                guard !toRecord.isEmpty else { throw error }
                try await orders.record(toRecord, self)
            }
        }
        throw WriteCandidates.conflict
    }

    /// Runs a body; inside of an enclosing transaction, so that its failure undoes it alone.
    func undoable<Value: Sendable>(
        _ body: (DataCall) async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        guard let enclosing else { return try await body(self) }
        return try await enclosing.part { (_) async throws(ServiceError) in try await body(self) }
    }
}

import Accounts
public import BSON
public import Errors
import MQL
import Observability

/// One client that watches a collection: from the change log to the events that it may see.
///
/// It reads when its client has taken what came before, from what the ``ChangeFeed`` keeps or, further back, from
/// the log, a page at a time; so a slow client costs no memory. One that stays behind is ended with an error.
public final class Watch: Sendable {
    /// What is sent to the client.
    public enum Output: Sendable {
        case event(BSONDocument)
        /// The last thing that is sent.
        case failure(ServiceError)
        /// A sign of life.
        case heartbeat
    }

    let inbox: WatchInbox
    private let service: WatchService
    private let operation: DataOperation
    private let arguments: WatchArguments
    private let context: CallContext
    private let ids: Set<BSONKey>?

    init(
        _ service: WatchService,
        _ inbox: WatchInbox,
        _ operation: DataOperation,
        _ arguments: WatchArguments,
        _ context: CallContext
    ) {
        self.service = service
        self.inbox = inbox
        self.operation = operation
        self.arguments = arguments
        self.context = context
        ids = arguments.ids.map { Set($0.map { BSONKey($0) }) }
    }

    deinit {
        service.remove(inbox)
    }

    /// The client has closed its connection.
    public func leave() { inbox.leave() }

    /// What happens, from where the watch begins; to be asked for by one task.
    public func outputs(from start: WatchStart) -> WatchOutputs {
        WatchOutputs(self, start)
    }

    /// The next changes as events, few or none of them; nil when there is nothing more to read.
    func more(_ cursor: inout Cursor) async throws(ServiceError) -> [Output]? {
        let plan = try await service.plan(operation, context)
        guard let changes = try await service.next(&cursor, of: inbox) else {
            cursor.caughtUp = .now
            return nil
        }
        try checkLag(cursor)
        let events = try await events(changes, plan, cursor)
        service.counters.sent(events.count)
        return events.map { .event($0) }
    }

    /// The collection was dropped or renamed: as in MongoDB, that is the last event but one.
    func ends(_ cursor: Cursor, _ end: CollectionEnd) async throws(ServiceError) -> [Output] {
        let maker = maker(try await service.plan(operation, context), cursor)
        let time = service.now() / 1000
        let last = end.newName == nil ? "drop" : "rename"
        return [(last, end.newName), ("invalidate", nil)].map { type, newName in
            .event(
                maker.end(type, to: newName, after: cursor.place, time: time, inbox.collection ?? 0)
            )
        }
    }

    func failed() { service.counters.failure() }

    private func events(
        _ changes: [ChangeRecord],
        _ plan: PreparedPlan,
        _ cursor: Cursor
    ) async throws(ServiceError) -> [BSONDocument] {
        if changes.isEmpty { return [] }
        let maker = maker(plan, cursor)
        return try await LongComputation.run { () async throws(ServiceError) in
            try await service.deciding(plan, context) { () throws(ServiceError) in
                var events: [BSONDocument] = []
                for change in changes {
                    if let event = try maker.document(change) { events.append(event) }
                }
                return events
            }
        }
    }

    private func maker(_ plan: PreparedPlan, _ cursor: Cursor) -> ChangeEvent {
        ChangeEvent(
            plan: plan.plan,
            arguments: arguments,
            namespace: operation.namespace,
            ids: ids,
            log: cursor.log,
            context: service.evaluation()
        )
    }

    private func checkLag(_ cursor: Cursor) throws(ServiceError) {
        let limit = service.limits.lagSeconds
        // One that goes on from long ago has a way to go.
        guard let caughtUp = cursor.caughtUp, .now - caughtUp > .seconds(limit) else { return }
        throw ServiceError(
            .readSizeLimitExceeded,
            "the watch fell more than \(known: limit) seconds behind (limit max-watch-lag); resume after the last event",
            details: ["limit": "max-watch-lag"]
        )
    }
}

/// Where a watch begins.
public struct WatchStart: Sendable {
    let log: String
    let place: Int64
    /// What had ended before it began is left out; nil for one that goes on.
    let ended: TransactionSnapshot?
}

/// How far a watch has come.
struct Cursor {
    let log: String
    var place: Int64
    let ended: TransactionSnapshot?
    /// When there was nothing more to read.
    var caughtUp: ContinuousClock.Instant?

    init(_ start: WatchStart) {
        log = start.log
        place = start.place
        ended = start.ended
    }
}

import CLibpq
import Errors
import Glibc

/// What a connection knows, and everything it says to libpq.
///
/// `@unchecked Sendable`: the pointer is used by whoever holds the mutex around this value, by nobody else.
struct ConnectionState: @unchecked Sendable {
    /// What reading brought about.
    enum Event {
        case nothing
        case finished(StatementJob, StatementJob.Outcome)
        case lost(ServiceError)
        /// The reply passes its bound; the request asks the server to stop.
        case tooLarge(CancelRequest, StatementJob)
    }

    /// The job in hand, and how much of its reply has been read.
    private struct Pending {
        let job: StatementJob
        let begin: String?
        /// Replies that come before the statement's own.
        var repliesBefore = 0
        /// `Sync` replies still to come; the last one ends the job.
        var syncs = 1
        /// The cached statement and whether this send prepares it.
        var key: StatementKey?
        var isPreparing = false
        var isSecondAttempt = false
        var result: WireResult?
        var failure: PostgresFailure?
        /// About how many bytes have come.
        var received = 0
        var isTooLarge = false
    }

    private(set) var handle: OpaquePointer?
    let descriptor: Int32
    var token: UInt64 = 0
    var isWatchingWrites = false
    /// The session's plan mode; nil when a rollback has made it uncertain.
    private(set) var planMode: PlanMode? = .custom
    private(set) var cancelledAt: Int64?
    private let cancelTarget: CancelRequest?
    private(set) var statements: StatementCache
    private var pending: Pending?
    private var isCancelOnItsWay = false
    private var held: StatementJob.Outcome?
    private let resultLimit: Int

    init(_ handle: OpaquePointer, capacity: Int, resultLimit: Int, counts: StatementCounts? = nil) {
        self.resultLimit = resultLimit
        self.handle = handle
        descriptor = PQsocket(handle)
        cancelTarget = CancelRequest(handle)
        statements = StatementCache(capacity: capacity, counts: counts)
        PQsetnonblocking(handle, 1)
        PQenterPipelineMode(handle)
    }

    var job: StatementJob? { pending?.job }
    var isClean: Bool { handle != nil && pending == nil && PQtransactionStatus(handle) == PQTRANS_IDLE }
    var errorMessage: String {
        guard let handle, let text = PQerrorMessage(handle) else { return "connection closed" }
        let message = String(cString: text).split(separator: "\n").joined(separator: " ")
        return message.isEmpty ? "server closed the connection" : message
    }

    /// Ends the session; returns the job that was in hand.
    mutating func close() -> StatementJob? {
        defer { pending = nil }
        PQfinish(handle)
        handle = nil
        held = nil
        return pending?.job
    }

    // MARK: Sending

    /// Hands a job to libpq; false when the connection does not take it.
    mutating func send(_ job: StatementJob, begin: String?) -> Bool {
        guard handle != nil else { return false }
        cancelledAt = nil
        var pending = Pending(job: job, begin: begin)
        defer { self.pending = pending }
        return send(&pending)
    }

    private mutating func send(_ pending: inout Pending) -> Bool {
        switch pending.job.work {
        case .script(let text):
            return PQexitPipelineMode(handle) == 1 && PQsendQuery(handle, text) == 1
        case .command(let text):
            return sendMaintenance(&pending, mode: nil) && sendBegin(&pending) && sendCommand(text)
                && PQpipelineSync(handle) == 1
        case .statement(let statement, let mode):
            let lookup = statements.lookup(statement.key)
            pending.key = statement.key
            pending.isPreparing = lookup.isNew
            guard sendMaintenance(&pending, mode: mode), sendBegin(&pending) else { return false }
            if lookup.isNew {
                pending.repliesBefore += 1
                let types = statement.key.types
                guard PQsendPrepare(handle, lookup.name, statement.key.text, Int32(types.count), types) == 1
                else { return false }
            }
            let isSent = statement.withParameters { count, values, lengths, formats in
                PQsendQueryPrepared(handle, lookup.name, count, values, lengths, formats, 0)
            }
            return isSent == 1 && PQpipelineSync(handle) == 1
        }
    }

    /// What concerns the session and not the statement, with a `Sync` of its own: the statement's failure
    /// must not undo it, and some statements refuse to run in one transaction with others.
    private mutating func sendMaintenance(_ pending: inout Pending, mode: PlanMode?) -> Bool {
        var replies = 0
        for name in statements.takeDropped() {
            guard sendCommand("DEALLOCATE \(name)") else { return false }
            replies += 1
        }
        if let mode, mode != planMode {
            planMode = mode
            let value =
                switch mode {
                case .custom: "force_custom_plan"
                case .generic: "force_generic_plan"
                }
            guard sendCommand("SET plan_cache_mode = \(value)") else { return false }
            replies += 1
        }
        guard replies > 0 else { return true }
        pending.repliesBefore += replies
        pending.syncs += 1
        return PQpipelineSync(handle) == 1
    }

    private func sendBegin(_ pending: inout Pending) -> Bool {
        guard let begin = pending.begin else { return true }
        pending.repliesBefore += 1
        return sendCommand(begin)
    }

    private func sendCommand(_ text: String) -> Bool {
        PQsendQueryParams(handle, text, 0, nil, nil, nil, nil, 0) == 1
    }

    // MARK: Reading

    /// Takes in what has arrived and steps through complete replies.
    mutating func read() -> Event {
        let waiting = waitingBytes
        guard PQconsumeInput(handle) == 1 else { return .lost(lossOfConnection()) }
        let read = waiting <= Self.bufferBytes ? waiting : max(waiting - waitingBytes, Self.bufferBytes)
        pending?.received += read
        let event = readReplies()
        guard case .nothing = event, let current = pending, current.received > resultLimit,
            !current.isTooLarge
        else { return event }
        pending?.isTooLarge = true
        return beginCancel(now: Timeline.now).map { .tooLarge($0, current.job) } ?? .nothing
    }

    /// What libpq reads at least at once, when there is as much.
    private static var bufferBytes: Int { 8192 }

    /// Bytes that have arrived and wait to be read.
    ///
    /// libpq keeps a result in memory until it is whole and does not tell how large it grows, so that the bytes
    /// are counted on their way in; for large replies the count is right but for a factor of two.
    private var waitingBytes: Int {
        var count: Int32 = 0
        return ioctl(descriptor, UInt(FIONREAD), &count) == 0 ? Int(count) : 0
    }

    private mutating func readReplies() -> Event {
        // A reply is never missed by stopping at an empty answer: there is at most one between two replies.
        var empty = 0
        while var current = pending {
            guard PQisBusy(handle) == 0 else { return .nothing }
            guard let result = PQgetResult(handle) else {
                if case .script = current.job.work { return endScript(current) }
                empty += 1
                guard empty < 3 else { return .lost(.connectionLost("libpq and its caller disagree")) }
                continue
            }
            empty = 0
            if PQresultStatus(result) == PGRES_PIPELINE_SYNC {
                PQclear(result)
                current.syncs -= 1
                pending = current
                if current.syncs == 0 { return end(current) }
            } else {
                guard take(WireResult(result), status: PQresultStatus(result), into: &current) else {
                    return .lost(.connectionLost("COPY is not served on this connection"))
                }
                pending = current
            }
        }
        drainNotifications()
        return .nothing
    }

    private mutating func take(_ result: WireResult, status: ExecStatusType, into pending: inout Pending)
        -> Bool
    {
        switch status {
        case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH: return false
        case PGRES_PIPELINE_ABORTED: break
        default:
            if let failure = result.failure {
                // Maintenance that fails leaves the session as it was. Of the others, the first failure is
                // the cause of the rest.
                if pending.syncs > 1 {
                    planMode = nil
                } else if pending.failure == nil {
                    pending.failure = failure
                }
            } else if pending.repliesBefore == 0 {
                pending.result = result
            }
        }
        if pending.repliesBefore > 0 { pending.repliesBefore -= 1 }
        return true
    }

    private mutating func end(_ done: Pending) -> Event {
        if let failure = done.failure {
            if done.key == nil || PQtransactionStatus(handle) != PQTRANS_IDLE { planMode = nil }
            if let key = done.key, failure.isStalePlan || done.isPreparing { statements.invalidate(key) }
            // A plan goes stale before the statement has done anything, so it can be sent again; inside a
            // transaction the failure has spoilt the rest, and the caller starts anew.
            if failure.isStalePlan, !done.isSecondAttempt, PQtransactionStatus(handle) == PQTRANS_IDLE {
                var again = Pending(job: done.job, begin: done.begin)
                again.isSecondAttempt = true
                defer { pending = again }
                return send(&again) ? .nothing : .lost(.connectionLost(errorMessage))
            }
        }
        if done.isTooLarge { return deliver(done, .failure(.resultTooLarge)) }
        return deliver(done, done.failure.map { .failure($0.serviceError) } ?? .success(done.result))
    }

    private mutating func endScript(_ done: Pending) -> Event {
        PQenterPipelineMode(handle)
        // A script may have changed any setting, and may have dropped what was prepared.
        planMode = nil
        return deliver(done, done.failure.map { .failure($0.serviceError) } ?? .success(nil))
    }

    private mutating func deliver(_ done: Pending, _ outcome: StatementJob.Outcome) -> Event {
        if isCancelOnItsWay {
            held = outcome
            return .nothing
        }
        pending = nil
        if case .command("ROLLBACK") = done.job.work { planMode = nil }
        return .finished(done.job, outcome)
    }

    /// A failure that came before the end of the stream says more than its end does.
    private func lossOfConnection() -> ServiceError {
        if let failure = pending?.failure { return failure.serviceError }
        return .connectionLost(errorMessage)
    }

    private func drainNotifications() {
        while let notification = PQnotifies(handle) { PQfreemem(notification) }
    }

    // MARK: Cancelling

    /// Notes that the job in hand is being cancelled; nil when it already is.
    mutating func beginCancel(now: Int64) -> CancelRequest? {
        guard pending != nil, cancelledAt == nil, held == nil, let cancelTarget else { return nil }
        cancelledAt = now
        isCancelOnItsWay = true
        return cancelTarget
    }

    /// The cancel request has reached the server, so a reply that was held back can go.
    mutating func cancelReturned() -> Event {
        isCancelOnItsWay = false
        guard let outcome = held.take(), let done = pending else { return .nothing }
        return deliver(done, outcome)
    }
}

import CLibpq
import Errors
import Observability
import Synchronization
import Threading

/// One session with PostgreSQL: sends a job on the caller's thread, reads its reply on the reactor's.
///
/// libpq works in pipeline mode, so that what a statement needs before it (preparing it, `BEGIN`, another
/// plan mode, dropping an old statement) is sent together with it and costs no round trip. There is still
/// only one job at a time: statements of different callers do not wait for one another's rows.
///
/// A job ends when the reply to its last `Sync` has been read. While a cancel request is on its way the job is
/// held back, because the request names the session and not the statement, and would hit the next one.
final class PostgresConnection: ReactorClient {
    /// Who is told what becomes of jobs and connections.
    ///
    /// All calls come without any lock held.
    protocol Owner: AnyObject, Sendable {
        /// The job is done and the connection free for the next; the owner resumes the caller.
        func connection(
            _ connection: PostgresConnection,
            finished job: StatementJob,
            _ outcome: StatementJob.Outcome
        )
        /// The session is gone; the job in hand, if any, has been failed.
        func connection(_ connection: PostgresConnection, lost reason: String)
        /// The server was asked to stop a statement.
        func connection(_ connection: PostgresConnection, cancelled job: StatementJob)
    }

    /// The place in the pool.
    let slot: Int
    private let owner: any Owner
    private let reactor: Reactor
    private let cancelGrace: Duration
    private let state: Mutex<ConnectionState>

    /// Takes over an open, checked session and has the reactor watch it.
    init(
        _ session: consuming OpenedSession,
        slot: Int,
        owner: any Owner,
        reactor: Reactor,
        settings: PostgresSettings,
        counts: StatementCounts? = nil
    ) {
        self.slot = slot
        self.owner = owner
        self.reactor = reactor
        cancelGrace = settings.cancelGrace
        state = Mutex(
            ConnectionState(
                session.take(),
                capacity: settings.maxPreparedStatements,
                resultLimit: settings.maxResultBytes,
                counts: counts
            )
        )
        state.withLock { $0.token = reactor.add($0.descriptor, self) }
    }

    /// Which plan mode the session is in, for choosing a connection that needs no change.
    var planMode: PlanMode? { state.withLock { $0.planMode } }

    /// How many statements the session holds prepared.
    var statementCount: Int { state.withLock { $0.statements.count } }

    /// Whether no transaction is open, so that the next caller may have the connection.
    var isClean: Bool { state.withLock { $0.isClean } }

    /// Sends a job.
    ///
    /// What becomes of it is told to the owner, perhaps before this returns.
    ///
    /// - Parameters:
    ///   - job: What to send; there must be no other one in hand.
    ///   - begin: A command that opens a transaction, sent in front.
    func submit(_ job: StatementJob, begin: String? = nil) {
        guard job.begin(on: self) else {
            return owner.connection(self, finished: job, .failure(.interrupted))
        }
        let problem = state.withLock { state -> ServiceError? in
            guard state.job == nil else {
                return ServiceError(.internalServerError, "a connection runs one statement at a time")
            }
            if state.send(job, begin: begin) {
                flush(&state)
                return nil
            }
            return .connectionLost(state.errorMessage)
        }
        guard let problem else { return reactor.look(by: job.deadline) }
        if problem.code != .internalServerError { abandon(problem) }
        // A session that broke before it got the job knows nothing of it, so that abandoning told nobody.
        job.finish(.failure(problem))
    }

    /// Asks the server to stop a job, if it is the one in hand.
    func cancel(_ job: StatementJob) {
        let request = state.withLock { state in
            state.job === job ? state.beginCancel(now: Timeline.now) : nil
        }
        if let request { send(request, for: job) }
    }

    /// Ends the session.
    ///
    /// A job in hand fails.
    func close() {
        finish(state.withLock { dismantle(&$0) }, .failure(.connectionLost("the pool was closed")))
    }

    func descriptorIsReady() {
        let event = state.withLock { state -> ConnectionState.Event in
            guard state.handle != nil else { return .nothing }
            let event = state.read()
            if case .nothing = event { flush(&state) }
            return event
        }
        perform(event)
    }

    func timersMayBeDue(at now: Int64) -> Int64 {
        var overdue: (CancelRequest, StatementJob)?
        var isStuck = false
        let next = state.withLock { state -> Int64 in
            guard let job = state.job else { return .max }
            guard let cancelledAt = state.cancelledAt else {
                if job.deadline > now { return job.deadline }
                overdue = state.beginCancel(now: now).map { ($0, job) }
                return Timeline.adding(cancelGrace, to: now)
            }
            let end = Timeline.adding(cancelGrace, to: cancelledAt)
            isStuck = end <= now
            return isStuck ? .max : end
        }
        if let (request, job) = overdue { send(request, for: job) }
        if isStuck { abandon(.deadlineExceeded) }
        return next
    }

    /// Writes what libpq has buffered; watches for room when the socket is full.
    private func flush(_ state: inout ConnectionState) {
        let isWaiting = PQflush(state.handle) == 1
        guard isWaiting != state.isWatchingWrites else { return }
        state.isWatchingWrites = isWaiting
        reactor.watchWrites(isWaiting, state.descriptor, token: state.token)
    }

    private func perform(_ event: ConnectionState.Event) {
        switch event {
        case .nothing: break
        case .finished(let job, let outcome): owner.connection(self, finished: job, outcome)
        case .lost(let error): abandon(error)
        case .tooLarge(let request, let job): send(request, for: job)
        }
    }

    /// `PQcancel` blocks for a round trip on a connection of its own, so it has a thread of its own: to a host
    /// that does not answer it takes half a minute, for which no other request waits.
    private func send(_ request: CancelRequest, for job: StatementJob) {
        owner.connection(self, cancelled: job)
        DedicatedThread.start(name: "pg-cancel") {
            request.send()
            self.perform(self.state.withLock { $0.cancelReturned() })
        }
    }

    private func abandon(_ error: ServiceError) {
        let (job, wasOpen) = state.withLock { dismantle(&$0) }
        finish((job, wasOpen), .failure(error))
        if wasOpen { owner.connection(self, lost: String(describing: error.cause ?? error)) }
    }

    private func finish(_ dismantled: (job: StatementJob?, wasOpen: Bool), _ outcome: StatementJob.Outcome) {
        dismantled.job?.finish(outcome)
    }

    private func dismantle(_ state: inout ConnectionState) -> (job: StatementJob?, wasOpen: Bool) {
        guard state.handle != nil else { return (nil, false) }
        reactor.remove(state.descriptor, token: state.token)
        return (state.close(), true)
    }
}

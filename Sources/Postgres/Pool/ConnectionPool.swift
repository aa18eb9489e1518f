import Errors
import Observability
import Synchronization
import Threading

/// Performs what ``PoolStateMachine`` decides: opens and closes connections, hands jobs and leases to them.
///
/// The mutex guards decisions only; sending, connecting and resuming callers happen after it is let go.
final class ConnectionPool: Sendable {
    /// Somebody who wants a connection: for one statement, or to keep for a while.
    enum Waiter: Sendable {
        case job(StatementJob)
        case lease(LeaseRequest)
    }

    fileprivate struct Inner {
        var machine: PoolStateMachine<Waiter>
        var connections: [PostgresConnection?]
        var lastFailure: ServiceError?
        var acquisitions = 0
        var closers: [UnsafeContinuation<Void, Never>] = []
        var listeners: [NotificationListener] = []
    }

    let settings: PostgresSettings
    let observer: Observer?
    let statementCounts = StatementCounts()
    private let connectThread = DedicatedThread(name: "pg-connect")
    private let reactors: [Reactor]
    private let inner: Mutex<Inner>

    init(settings: PostgresSettings, observer: Observer?) {
        self.settings = settings
        self.observer = observer
        reactors = (0..<max(1, settings.ioThreads)).map { Reactor(name: "pg-io-\($0)") }
        let limits = PoolStateMachine<Waiter>.Limits(
            maxConnections: settings.maxConnections,
            maxWaiting: settings.maxWaiting
        )
        inner = Mutex(
            Inner(
                machine: PoolStateMachine(limits: limits, tags: 2),
                connections: Array(repeating: nil, count: max(1, settings.maxConnections))
            )
        )
        reactors[0].add(timersOf: self)
    }

    // MARK: Callers

    /// Runs one job on any connection.
    func run(_ job: StatementJob, plan: PlanMode) {
        lease(.job(job), tag: plan.tag, deadline: job.deadline)
    }

    /// Lends a connection until ``release(_:)``.
    func lease(_ request: LeaseRequest) {
        lease(.lease(request), tag: PlanMode.custom.tag, deadline: request.deadline)
    }

    private func lease(_ waiter: Waiter, tag: Int, deadline: Int64) {
        let expiry = min(deadline, Timeline.adding(settings.acquireTimeout, to: Timeline.now))
        let (decision, connection) = inner.withLock { inner in
            inner.acquisitions &+= 1
            let decision = inner.machine.lease(waiter, tag: tag, expiry: expiry)
            guard case .run(let place) = decision else { return (decision, nil as PostgresConnection?) }
            return (decision, inner.connections[place])
        }
        switch decision {
        case .run:
            guard let connection else { preconditionFailure("a leased place holds a connection") }
            serve(waiter, on: connection)
        case .wait(let place):
            reactors[0].look(by: expiry)
            if let place { open(place) }
        case .refuseFull:
            let health = health
            observer?.record(.poolExhausted(waiting: health.waiting, connections: health.open))
            waiter.fail(.poolExhausted("too many callers wait for the database; try again"))
        case .refuseClosed:
            waiter.fail(.poolExhausted("the gateway is shutting down"))
        }
    }

    /// Takes a waiting job out of the queue; false when it is not there.
    func withdraw(_ job: StatementJob) -> Bool {
        inner.withLock { inner in
            inner.machine.withdraw {
                if case .job(let other) = $0 { other === job } else { false }
            }
        }
    }

    /// As ``withdraw(_:)`` for leases.
    func withdraw(_ request: LeaseRequest) -> Bool {
        inner.withLock { inner in
            inner.machine.withdraw {
                if case .lease(let other) = $0 { other === request } else { false }
            }
        }
    }

    /// Takes a lent connection back; one that is not in order is closed.
    func release(_ connection: PostgresConnection) {
        guard connection.isClean else {
            connection.close()
            return remove(connection)
        }
        let tag = (connection.planMode ?? .custom).tag
        let (decision, closers) = inner.withLock { inner in
            guard inner.connections[connection.slot] === connection else {
                return (PoolStateMachine<Waiter>.Return.close, [] as [UnsafeContinuation<Void, Never>])
            }
            let decision = inner.machine.returned(connection.slot, tag: tag)
            if case .close = decision { inner.connections[connection.slot] = nil }
            return (decision, inner.takeClosersIfDrained())
        }
        perform(decision, connection)
        for closer in closers { closer.resume() }
    }

    /// Starts a listener and ends it with the pool.
    func whileOpen(_ listener: NotificationListener) {
        let isOpen = inner.withLock { inner in
            inner.listeners.removeAll { $0.isEnded }
            if !inner.machine.isDraining { inner.listeners.append(listener) }
            return !inner.machine.isDraining
        }
        if isOpen { listener.start() } else { listener.stop() }
    }

    /// How the pool is doing.
    var health: Database.Health {
        inner.withLock { inner in
            Database.Health(
                open: inner.machine.openCount,
                idle: inner.machine.idleCount,
                leased: inner.machine.leasedCount,
                waiting: inner.machine.waitingCount,
                failedAttempts: inner.machine.failureCount,
                lastFailure: inner.lastFailure
            )
        }
    }

    /// How often a connection was asked for.
    var acquisitionCount: Int { inner.withLock { $0.acquisitions } }

    /// How many statements all sessions hold prepared.
    var preparedCount: Int {
        let open = inner.withLock { inner in inner.connections.compactMap { $0 } }
        return open.reduce(0) { $0 + $1.statementCount }
    }

    // MARK: Connections

    private func serve(_ waiter: Waiter, on connection: PostgresConnection) {
        switch waiter {
        case .job(let job): connection.submit(job)
        case .lease(let request):
            if !request.grant(connection) { release(connection) }
        }
    }

    private func perform(_ decision: PoolStateMachine<Waiter>.Return, _ connection: PostgresConnection) {
        switch decision {
        case .serve(let waiter): serve(waiter, on: connection)
        case .keep: break
        case .close: connection.close()
        }
    }

    private func open(_ place: Int) {
        connectThread.run {
            do throws(ServiceError) {
                let session = try OpenedSession(self.settings)
                let connection = PostgresConnection(
                    session,
                    slot: place,
                    owner: self,
                    reactor: self.reactors[place % self.reactors.count],
                    settings: self.settings,
                    counts: self.statementCounts
                )
                self.opened(connection)
            } catch {
                self.failedToOpen(place, error)
            }
        }
    }

    private func opened(_ connection: PostgresConnection) {
        let (decision, count, closers) = inner.withLock { inner in
            inner.connections[connection.slot] = connection
            inner.lastFailure = nil
            let decision = inner.machine.opened(connection.slot)
            if case .close = decision { inner.connections[connection.slot] = nil }
            return (decision, inner.machine.openCount, inner.takeClosersIfDrained())
        }
        observer?.record(.connectionOpened(connections: count))
        perform(decision, connection)
        for closer in closers { closer.resume() }
        grow()
    }

    private func failedToOpen(_ place: Int, _ error: ServiceError) {
        let (delay, attempt, closers) = inner.withLock { inner in
            inner.lastFailure = error
            let delay = inner.machine.failedToOpen(
                place,
                now: Timeline.now,
                jitter: Double.random(in: 0...1)
            )
            return (delay, inner.machine.failureCount, inner.takeClosersIfDrained())
        }
        let reason = String(describing: error.cause ?? error)
        observer?.record(
            .connectFailed(reason: reason, attempt: attempt, retryIn: .nanoseconds(delay ?? 0))
        )
        for closer in closers { closer.resume() }
        if let delay { reactors[0].look(by: Timeline.now + delay) }
    }

    private func remove(_ connection: PostgresConnection) {
        let closers = inner.withLock { inner in
            guard inner.connections[connection.slot] === connection else {
                return [] as [UnsafeContinuation<Void, Never>]
            }
            inner.connections[connection.slot] = nil
            inner.machine.lost(connection.slot)
            return inner.takeClosersIfDrained()
        }
        for closer in closers { closer.resume() }
        grow()
    }

    private func grow() {
        while let place = inner.withLock({ $0.machine.grow() }) { open(place) }
    }

    // MARK: Closing

    /// Takes in nobody new, waits until lent connections have come back, and ends all threads.
    func close() async {
        drain()
        await withUnsafeContinuation { (closer: UnsafeContinuation<Void, Never>) in
            let isDone = inner.withLock { inner in
                if !inner.machine.isDrained { inner.closers.append(closer) }
                return inner.machine.isDrained
            }
            if isDone { closer.resume() }
        }
        for reactor in reactors { reactor.stop() }
    }

    /// Ends everything at once; jobs in hand fail.
    func abandon() {
        drain()
        let left = inner.withLock { inner in inner.connections.compactMap { $0 } }
        for connection in left {
            connection.close()
            remove(connection)
        }
        for reactor in reactors { reactor.stop() }
    }

    private func drain() {
        let (waiters, closing, listeners) = inner.withLock { inner in
            let (waiters, places) = inner.machine.drain()
            let closing = places.compactMap { inner.connections[$0] }
            for place in places { inner.connections[place] = nil }
            defer { inner.listeners = [] }
            return (waiters, closing, inner.listeners)
        }
        for listener in listeners { listener.stop() }
        for connection in closing { connection.close() }
        for waiter in waiters { waiter.fail(.poolExhausted("the gateway is shutting down")) }
    }
}

extension ConnectionPool.Inner {
    mutating func takeClosersIfDrained() -> [UnsafeContinuation<Void, Never>] {
        guard machine.isDrained, !closers.isEmpty else { return [] }
        defer { closers = [] }
        return closers
    }
}

extension ConnectionPool: PostgresConnection.Owner {
    func connection(
        _ connection: PostgresConnection,
        finished job: StatementJob,
        _ outcome: StatementJob.Outcome
    ) {
        // The server gets its next statement before the last caller its answer.
        if job.isPooled { release(connection) }
        job.finish(outcome)
    }

    func connection(_ connection: PostgresConnection, lost reason: String) {
        observer?.record(.connectionLost(reason: reason))
        remove(connection)
    }

    func connection(_ connection: PostgresConnection, cancelled job: StatementJob) {
        observer?.record(.statementCancelled(sql: job.sql))
    }
}

extension ConnectionPool: ReactorClient {
    func descriptorIsReady() {}

    func timersMayBeDue(at now: Int64) -> Int64 {
        let (expired, failure) = inner.withLock { ($0.machine.elapsed(now: now), $0.lastFailure) }
        grow()
        if !expired.isEmpty {
            let health = health
            observer?.record(.poolExhausted(waiting: health.waiting, connections: health.open))
        }
        for waiter in expired {
            waiter.fail(
                waiter.deadline <= now
                    ? .deadlineExceeded
                    : failure ?? .poolExhausted("the database is busy; try again")
            )
        }
        return inner.withLock { $0.machine.nextTimer }
    }
}

extension ConnectionPool.Waiter {
    fileprivate var deadline: Int64 {
        switch self {
        case .job(let job): job.deadline
        case .lease(let request): request.deadline
        }
    }

    fileprivate func fail(_ error: ServiceError) {
        switch self {
        case .job(let job): job.finish(.failure(error))
        case .lease(let request): request.fail(error)
        }
    }
}

extension PlanMode {
    fileprivate var tag: Int {
        switch self {
        case .custom: 0
        case .generic: 1
        }
    }
}

extension ServiceError {
    fileprivate static func poolExhausted(_ message: ErrorMessage) -> ServiceError {
        ServiceError(.maintenanceInProgress, message)
    }
}

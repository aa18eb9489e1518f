internal import NIOCore
internal import NIOPosix
import Observability
import Synchronization
import Threading

/// The worker processes, and those who wait for one.
///
/// Who gets which is ``WorkerPoolState``'s to say; here it is done.
final class WorkerFleet: Sendable {
    private let command: [String]
    private let limits: ScriptLimits
    private let observer: Observer
    /// Starts and reaps workers; they end with this thread.
    ///
    /// However many scripts compute, or workers start: who serves others comes first.
    private let spawner = DedicatedThread(name: "script-spawn", niceness: 10)
    private let state: Mutex<State>

    private struct State {
        var places: WorkerPoolState<WorkerWaiter>
        var workers: [Int: ScriptWorker] = [:]
        var whenEmpty: [CheckedContinuation<Void, Never>] = []
        /// Whether a task looks after the workers and those who wait for one.
        var isLookedAfter = false
        /// Of those who were told that none came in time, how many have not come to it yet.
        var hearing = 0
        /// How many have a worker, or had one and have not come to hear the end of it yet.
        var callers = 0
        /// Free ones that are to serve nobody yet.
        var parked: [ScriptWorker] = []

        /// Of how many calls the end is there and not heard.
        var unheard: Int { callers - (places.busyCount - parked.count) }

        /// Workers that may serve the next.
        mutating func unpark() -> [ScriptWorker] {
            guard !parked.isEmpty, unheard < WorkerFleet.unheardAtOnce else { return [] }
            defer { parked = [] }
            return parked
        }
    }

    /// How many results may lie there for their callers before the next calls begin: an event loop looks at its sockets
    /// when it has nothing else to do, and would not come to it if workers went on faster than it hands over what they
    /// say.
    private static let unheardAtOnce = 16

    /// Takes the program that is a worker when it is started with these arguments.
    init(command: [String], limits: ScriptLimits, observer: Observer) {
        self.command = command
        self.limits = limits
        self.observer = observer
        state = Mutex(State(places: WorkerPoolState(limits: limits)))
    }

    /// Ends all workers and waits until they are gone.
    func shutdown() async {
        let (waiters, workers) = state.withLock { ($0.places.drain(), Array($0.workers.values)) }
        for waiter in waiters { waiter.goWithout() }
        for worker in workers { worker.kill() }
        await withCheckedContinuation { done in
            let isEmpty = state.withLock { state in
                if !state.workers.isEmpty { state.whenEmpty.append(done) }
                return state.workers.isEmpty
            }
            if isEmpty { done.resume() }
        }
    }

    /// How many workers there are, how many of them are at work, how many calls wait.
    var counts: (workers: Int, busy: Int, waiting: Int) {
        state.withLock {
            ($0.places.workerCount, $0.places.busyCount, $0.places.waitingCount + $0.places.expiredCount)
        }
    }

    /// The processes of the workers.
    var processIDs: [Int32] {
        state.withLock { state in state.workers.values.map(\.processID).sorted() }
    }

    // MARK: Leases

    /// A worker that has begun, or one that could not and is to be freed; nil when there is none.
    ///
    /// Whoever got one says with ``heard()`` that they are through with it.
    func lease(
        app: String,
        isNested: Bool,
        until deadline: ContinuousClock.Instant,
        for caller: CallerPresence?,
        _ begin: @escaping WorkerBeginning
    ) async -> (ScriptWorker, WorkerAnswers?)? {
        let here = MultiThreadedEventLoopGroup.currentEventLoop.map { ObjectIdentifier($0) }
        // Usually one is idle, and nobody waits.
        if !Task.isCancelled, deadline > .now,
            let worker = state.withLock({ state in
                let idle = state.places.leaseIdle(app: app, isNested: isNested, here: here)
                    .flatMap { state.workers[$0] }
                if idle != nil { state.callers += 1 }
                return idle
            })
        {
            return (worker, begin(worker))
        }
        let place = QueuePlace()
        let watch = caller?.whenGone { self.withdraw(place) }
        defer { if let watch { caller?.forget(watch) } }
        let leased = await withTaskCancellationHandler {
            await withCheckedContinuation { (told: CheckedContinuation<WorkerWaiter.Leased, Never>) in
                let waiter = WorkerWaiter(begin, told)
                guard !Task.isCancelled else { return waiter.goWithout() }
                let (lease, worker) = state.withLock {
                    state -> (WorkerPoolState<WorkerWaiter>.Lease, ScriptWorker?) in
                    let lease = state.places.lease(
                        waiter,
                        app: app,
                        isNested: isNested,
                        until: deadline
                    )
                    switch lease {
                    case .run(let number): return (lease, state.workers[number])
                    case .start(_, let other?): return (lease, state.workers[other])
                    case .wait: place.serial.withLock { $0 = state.places.lastSerial }
                    case .start, .refuse: break
                    }
                    return (lease, nil)
                }
                switch lease {
                case .run: serve(waiter, with: worker)
                case .start(let number, _):
                    worker?.kill()
                    spawn(number, for: waiter)
                case .wait:
                    // Either may have come about before there was a place to give up.
                    if Task.isCancelled || caller?.isGone ?? false { withdraw(place) }
                case .refuse: waiter.goWithout()
                }
            }
        } onCancel: {
            withdraw(place)
        }
        switch leased {
        case .worker(let worker, let answers): return (worker, answers)
        case .none: return nil
        case .overdue:
            state.withLock { $0.hearing -= 1 }
            return nil
        }
    }

    /// Where somebody stands in the queue, once they do.
    private final class QueuePlace: Sendable {
        let serial = Mutex<Int?>(nil)
    }

    private func withdraw(_ place: QueuePlace) {
        let found = state.withLock { state in
            place.serial.withLock { $0 }.flatMap { state.places.withdraw(serial: $0) }
        }
        found?.goWithout()
    }

    /// A caller has come to the end of a lease.
    func heard() {
        let unparked = state.withLock { state in
            state.callers -= 1
            return state.unpark()
        }
        for worker in unparked { free(worker) }
    }

    // MARK: Workers

    /// A worker can serve the next one.
    func free(_ worker: ScriptWorker) {
        let next = state.withLock { state -> WorkerPoolState<WorkerWaiter>.Next? in
            // It is no longer at work, and still counts as if it were.
            if state.places.waitingCount > 0, state.unheard + 1 >= Self.unheardAtOnce {
                state.parked.append(worker)
                return nil
            }
            return state.places.returned(worker.id, at: .now)
        }
        if let next { perform(next, freed: worker) }
    }

    private func serve(_ waiter: WorkerWaiter, with worker: ScriptWorker?) {
        guard let worker else { return waiter.goWithout() }
        state.withLock { $0.callers += 1 }
        waiter.take(worker)
    }

    private func perform(_ next: WorkerPoolState<WorkerWaiter>.Next, freed worker: ScriptWorker?) {
        switch next {
        case .keep: break
        case .serve(let waiter): serve(waiter, with: worker)
        case .replace(let waiter, let number):
            worker?.kill()
            spawn(number, for: waiter)
        case .end: worker?.kill()
        }
    }

    private func spawn(_ number: Int, for waiter: WorkerWaiter) {
        // That of the call, if it runs on one: most calls then meet their worker without changing threads.
        let loop =
            MultiThreadedEventLoopGroup.currentEventLoop ?? MultiThreadedEventLoopGroup.singleton.next()
        spawner.run { [self] in
            do throws(WorkerProcess.NotStarted) {
                let process = try WorkerProcess(command, memoryBytes: limits.memoryBytes)
                let worker = ScriptWorker(
                    id: number,
                    process: process,
                    whenFree: { [weak self] in self?.free($0) },
                    whenEnded: { [weak self] in self?.ended($0) }
                )
                state.withLock { state in
                    state.workers[number] = worker
                    state.places.settle(number, at: ObjectIdentifier(loop))
                }
                worker.open(on: loop) { [self] in
                    worker.send(.limits(limits))
                    if state.withLock({ $0.places.isDraining }) { worker.kill() }
                    serve(waiter, with: worker)
                }
                lookAfterWorkers()
            } catch {
                observer.record(.lifecycle(part: "function-worker", event: "not started: \(error.reason)"))
                let next = state.withLock { $0.places.lost(number) }
                perform(next, freed: nil)
                waiter.goWithout()
            }
        }
    }

    private func ended(_ worker: ScriptWorker) {
        let (next, unparked) = state.withLock { state in
            state.parked.removeAll { $0 === worker }
            return (state.places.lost(worker.id), state.unpark())
        }
        perform(next, freed: nil)
        for other in unparked { free(other) }
        spawner.run { [self] in
            _ = worker.exitCode()
            let waiting = state.withLock { state in
                state.workers[worker.id] = nil
                guard state.workers.isEmpty, state.places.isDraining else {
                    return state.whenEmpty.filter { _ in false }
                }
                defer { state.whenEmpty = [] }
                return state.whenEmpty
            }
            for one in waiting { one.resume() }
        }
    }

    // MARK: What time brings

    /// How often workers are looked at, at the least.
    private static let period = Duration.milliseconds(100)

    /// Sees to it that somebody looks after the workers and those who wait as long as there are any.
    private func lookAfterWorkers() {
        let isLookedAfter = state.withLock { state in
            defer { state.isLookedAfter = true }
            return state.isLookedAfter
        }
        if isLookedAfter { return }
        Task { [weak self] in
            // Unstructured: it only ends what is over, and itself with the last worker.
            var pause: Duration? = Self.period
            while let next = pause {
                try await Task.sleep(for: next)
                pause = self?.look(at: .now)
            }
        }
    }

    /// Ends what is over; when to look again, if at all.
    private func look(at now: ContinuousClock.Instant) -> Duration? {
        let (workers, idle) = state.withLock { state in
            let idle = state.places.elapsed(now).compactMap { state.workers[$0] }
            // Those who were not told yet may outlive the last worker.
            state.isLookedAfter =
                !state.workers.isEmpty || !state.places.isEmpty || state.places.waitingCount > 0
                || state.places.expiredCount > 0
            return (state.isLookedAfter ? Array(state.workers.values) : nil, idle)
        }
        for worker in idle { worker.kill() }
        for worker in workers ?? [] { worker.endOverdue(at: now) }
        return workers.map { _ in answerOverdue(at: now) ?? Self.period }
    }

    /// How many whose time is up are told so at once, and no others before they have come to it: thousands that came
    /// together would hold up everybody else.
    private static let overdueAtOnce = 16

    /// When to look again.
    private func answerOverdue(at now: ContinuousClock.Instant) -> Duration? {
        let (found, waiting, overdue) = state.withLock { state in
            state.places.expire(at: now)
            let found = state.hearing > 0 ? [] : state.places.takeExpired(atMost: Self.overdueAtOnce)
            state.hearing += found.count
            return (found, state.places.waitingCount, state.places.expiredCount)
        }
        for waiter in found { waiter.goWithout(.overdue) }
        return overdue > 0 ? .milliseconds(5) : waiting > 0 ? .milliseconds(20) : nil
    }
}

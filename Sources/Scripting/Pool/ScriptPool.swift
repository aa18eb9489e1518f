public import Observability
import Synchronization
import Threading

/// A bounded number of worker processes, and the calls that wait for one.
///
/// A worker belongs to one app and runs one call at a time. Start with ``init(command:limits:observer:)``,
/// end with ``shutdown()``, after which no process is left.
public final class ScriptPool: Scripts {
    /// The bounds.
    public let limits: ScriptLimits
    private let command: [String]
    private let observer: Observer
    private let reactor: WorkerReactor
    /// Starts and reaps workers; they end with this thread.
    private let spawner = DedicatedThread(name: "script-spawn")
    private let state: Mutex<State>
    private let serial = Atomic<Int64>(0)
    /// What the reactor's thread does now and then; it must not keep the pool alive.
    private let overdue = Withdrawal()

    private struct State {
        var places: WorkerPoolState<Waiter>
        var workers: [Int: ScriptWorker] = [:]
        var whenEmpty: [CheckedContinuation<Void, Never>] = []
        /// Whether a task looks for idle workers now and then.
        var looksForIdle = false
        /// Of those who were told that none came in time, how many have not come to it yet.
        var hearing = 0
    }

    private final class Withdrawal: Sendable {
        let state = Mutex<(@Sendable (ContinuousClock.Instant) -> Duration?)?>(nil)
    }

    private typealias Waiter = CheckedContinuation<Leased, Never>

    /// What somebody who wants a worker gets.
    private enum Leased: Sendable {
        case worker(ScriptWorker)
        case none
        /// None in time.
        case overdue
    }

    /// How deep the current task is inside of runs that wait for it.
    @TaskLocal static var nesting = 0

    /// Takes the program that is a worker when it is started with these arguments.
    public init(
        command: [String],
        limits: ScriptLimits = ScriptLimits(),
        observer: Observer = Observer { _ in }
    ) {
        self.command = command
        self.limits = limits
        self.observer = observer
        state = Mutex(State(places: WorkerPoolState(limits: limits)))
        let overdue = overdue
        reactor = WorkerReactor { now in overdue.state.withLock { $0 }?(now) }
        overdue.state.withLock { withdraw in withdraw = { [weak self] in self?.answerOverdue(at: $0) } }
    }

    deinit {
        reactor.stop()
    }

    /// Runs one function to its end; cancelling the task ends the run.
    public func run(_ call: ScriptCall, of bundle: ScriptBundle, host: any ScriptHost) async -> ScriptOutcome
    {
        let outcome = await start(call, of: bundle, host: host)
        await host.end()
        return outcome
    }

    private func start(_ call: ScriptCall, of bundle: ScriptBundle, host: any ScriptHost) async
        -> ScriptOutcome
    {
        if case .named(let name) = call.entry, bundle.functions[name] == nil {
            return ScriptOutcome(result: .failure(ScriptFailure(.notFound, "function not found: '\(name)'")))
        }
        let depth = Self.nesting
        guard depth < limits.depth else {
            let message = "functions call each other more than \(limits.depth) levels deep"
            return ScriptOutcome(result: .failure(ScriptFailure(.execution, message)))
        }
        let deadline = min(call.deadline, .now + limits.runTime)
        let run = WorkerRun(id: nextID(), call: call, deadline: deadline, limits: limits, host: host)
        guard run.size <= limits.requestBytes else {
            let message = "the arguments are larger than \(limits.requestBytes >> 20) MB"
            return ScriptOutcome(result: .failure(ScriptFailure(.execution, message)))
        }
        guard
            let worker = await lease(
                app: bundle.app,
                isNested: depth > 0,
                until: deadline,
                for: call.caller
            )
        else {
            let failure: ScriptFailure =
                deadline <= .now ? .time : call.caller?.isGone ?? false ? .abandoned : .busy
            return ScriptOutcome(result: .failure(failure))
        }
        guard deadline > .now else {
            release(worker, mayGoOn: true)
            return ScriptOutcome(result: .failure(.time))
        }
        let (outcome, mayGoOn) = await Self.$nesting.withValue(depth + 1) {
            await run.perform(on: worker, bundle)
        }
        release(worker, mayGoOn: mayGoOn)
        return outcome
    }

    /// The fault of a source, or nil when it parses; nothing of it runs.
    public func check(_ source: String, file: String) async -> SyntaxFault? {
        let patience = ContinuousClock.now + .seconds(30)
        // An app of no name: such workers never hold a bundle.
        guard let worker = await lease(app: "", isNested: false, until: patience, for: nil) else {
            return SyntaxFault(file: file, line: 0, column: 0, message: ScriptFailure.busy.message)
        }
        let (fault, mayGoOn) = await WorkerRun.check(source, file: file, id: nextID(), on: worker)
        release(worker, mayGoOn: mayGoOn)
        return fault
    }

    /// Ends all workers and waits until they are gone.
    public func shutdown() async {
        let (waiters, workers) = state.withLock { ($0.places.drain(), Array($0.workers.values)) }
        for waiter in waiters { waiter.resume(returning: .none) }
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
    public var counts: (workers: Int, busy: Int, waiting: Int) {
        state.withLock {
            ($0.places.workerCount, $0.places.busyCount, $0.places.waitingCount + $0.places.expiredCount)
        }
    }

    /// The processes of the workers.
    package var processIDs: [Int32] {
        state.withLock { state in state.workers.values.map(\.processID).sorted() }
    }

    private func nextID() -> Int64 { serial.add(1, ordering: .relaxed).newValue }

    // MARK: Workers

    private func lease(
        app: String,
        isNested: Bool,
        until deadline: ContinuousClock.Instant,
        for caller: CallerPresence?
    ) async -> ScriptWorker? {
        // Usually one is idle, and nobody waits.
        if !Task.isCancelled, deadline > .now,
            let worker = state.withLock({ state in
                state.places.leaseIdle(app: app, isNested: isNested).flatMap { state.workers[$0] }
            })
        {
            return worker
        }
        let place = QueuePlace()
        let watch = caller?.whenGone { self.withdraw(place, of: app) }
        defer { if let watch { caller?.forget(watch) } }
        let leased = await withTaskCancellationHandler {
            await withCheckedContinuation { (resume: CheckedContinuation<Leased, Never>) in
                guard !Task.isCancelled else { return resume.resume(returning: .none) }
                let (lease, worker) = state.withLock {
                    state -> (WorkerPoolState<Waiter>.Lease, ScriptWorker?) in
                    let lease = state.places.lease(
                        resume,
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
                case .run: resume.resume(returning: worker.map { .worker($0) } ?? .none)
                case .start(let number, _):
                    worker?.kill()
                    spawn(number, for: resume)
                case .wait:
                    // Either may have come about before there was a place to give up.
                    if Task.isCancelled || caller?.isGone ?? false { withdraw(place, of: app) }
                case .refuse: resume.resume(returning: .none)
                }
            }
        } onCancel: {
            withdraw(place, of: app)
        }
        switch leased {
        case .worker(let worker): return worker
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

    private func withdraw(_ place: QueuePlace, of app: String) {
        let found = state.withLock { state in
            place.serial.withLock { $0 }.flatMap { state.places.withdraw(serial: $0, of: app) }
        }
        found?.resume(returning: .none)
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
        for waiter in found { waiter.resume(returning: .overdue) }
        return overdue > 0 ? .milliseconds(5) : waiting > 0 ? .milliseconds(20) : nil
    }

    private func release(_ worker: ScriptWorker, mayGoOn: Bool) {
        // One that may not go on has ended, or is about to: `ended` follows.
        guard mayGoOn else { return worker.kill() }
        let next = state.withLock { $0.places.returned(worker.id, at: .now) }
        perform(next, freed: worker)
        retireIdle()
    }

    private func perform(_ next: WorkerPoolState<Waiter>.Next, freed worker: ScriptWorker?) {
        switch next {
        case .keep: break
        case .serve(let waiter): waiter.resume(returning: worker.map { .worker($0) } ?? .none)
        case .replace(let waiter, let number):
            worker?.kill()
            spawn(number, for: waiter)
        case .end: worker?.kill()
        }
    }

    /// Sees to it that somebody looks for workers that were idle too long, as long as there are any.
    private func retireIdle() {
        let isPlanned = state.withLock { state in
            defer { state.looksForIdle = true }
            return state.looksForIdle
        }
        if isPlanned { return }
        // Between the moment when one is due and the moment when it ends lies a quarter of the time at most.
        let pause = limits.idle / 4
        Task { [weak self] in
            // Unstructured: it only ends workers that nobody uses, and ends with the last of them.
            repeat { try await Task.sleep(for: pause) } while self?.endIdle() ?? false
        }
    }

    /// Whether workers are left.
    private func endIdle() -> Bool {
        let (due, areLeft) = state.withLock { state in
            let due = state.places.elapsed(.now).compactMap { state.workers[$0] }
            state.looksForIdle = !state.places.isEmpty
            return (due, state.looksForIdle)
        }
        for worker in due { worker.kill() }
        return areLeft
    }

    private func spawn(_ number: Int, for waiter: Waiter) {
        spawner.run { [self] in
            do throws(WorkerProcess.NotStarted) {
                let process = try WorkerProcess(command, memoryBytes: limits.memoryBytes)
                let worker = ScriptWorker(id: number, process: process, reactor: reactor) { [weak self] in
                    self?.ended($0)
                }
                state.withLock { $0.workers[number] = worker }
                reactor.add(worker)
                worker.send(.limits(limits))
                if state.withLock({ $0.places.isDraining }) { worker.kill() }
                waiter.resume(returning: .worker(worker))
            } catch {
                observer.record(.lifecycle(part: "function-worker", event: "not started: \(error.reason)"))
                let next = state.withLock { $0.places.lost(number) }
                perform(next, freed: nil)
                waiter.resume(returning: .none)
            }
        }
    }

    private func ended(_ worker: ScriptWorker) {
        let next = state.withLock { $0.places.lost(worker.id) }
        perform(next, freed: nil)
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
}

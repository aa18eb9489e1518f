/// Which worker runs whose call: workers, and a queue of those who wait.
///
/// Pure: events in, decisions out; ``ScriptPool`` performs them. A worker is *busy* from its making on (→
/// *idle* or the next waiter of its app when its call is over, → gone when it ended, or when it is replaced
/// for a waiter of another app), and *idle* (→ *busy*, → gone when it was idle too long, when another app
/// needs its place, or when it ended). A nested call, made while another waits for its answer, may go beyond
/// the maximum by an allowance and is refused rather than queued: the worker that it would wait for may be
/// its caller's.
struct WorkerPoolState<Waiter: Sendable>: Sendable {
    /// What to do for somebody who wants a worker.
    enum Lease: Equatable, Sendable {
        /// This worker is theirs.
        case run(on: Int)
        /// A new worker of this number is theirs; `ending` is to end for it.
        case start(Int, ending: Int?)
        /// They wait.
        case wait
        /// The queue is full, or the pool closed.
        case refuse
    }

    /// What to do with a worker whose call is over, or in the place of one that ended.
    enum Next {
        /// Nothing.
        case keep
        /// It serves this waiter.
        case serve(Waiter)
        /// It ends, if it lives; a new one of this number serves the waiter.
        case replace(Waiter, with: Int)
        /// It ends.
        case end
    }

    private struct Worker {
        var app: String
        /// Where its socket is read.
        var home: ObjectIdentifier?
        /// When it became idle; nil while busy.
        var idleSince: ContinuousClock.Instant?
    }

    private let limits: ScriptLimits
    private var workers: [Int: Worker] = [:]
    private var line = WaitingLine<Waiter>()
    private var lastNumber = 0
    private(set) var isDraining = false

    init(limits: ScriptLimits) {
        self.limits = limits
    }

    var workerCount: Int { workers.count }
    var busyCount: Int { workers.values.count { $0.idleSince == nil } }
    var isEmpty: Bool { workers.isEmpty }
    /// How many wait for a worker.
    var waitingCount: Int { line.count }
    /// How many wait for being told that none came in time.
    var expiredCount: Int { line.expiredCount }
    /// Of whoever began to wait last: what ``withdraw(serial:)`` takes.
    var lastSerial: Int { line.lastSerial }

    /// Somebody wants a worker of an app, and has no use for one after a time.
    mutating func lease(
        _ waiter: @autoclosure () -> Waiter,
        app: String,
        isNested: Bool,
        until deadline: ContinuousClock.Instant
    ) -> Lease {
        guard !isDraining else { return .refuse }
        if let id = leaseIdle(app: app, isNested: isNested) { return .run(on: id) }
        if workers.count < limits.workers + (isNested ? limits.extraWorkers : 0) {
            return .start(add(app), ending: nil)
        }
        if let other = longestIdle() {
            workers[other] = nil
            return .start(add(app), ending: other)
        }
        guard !isNested, line.count + line.expiredCount < limits.waiting,
            line.count(of: app) < limits.waitingPerApp
        else {
            return .refuse
        }
        line.append(waiter(), app: app, until: deadline)
        return .wait
    }

    /// An idle worker of an app, if nobody waits before whoever wants it; it is theirs.
    ///
    /// One whose home is where they are, `here`, comes first.
    mutating func leaseIdle(app: String, isNested: Bool, here: ObjectIdentifier? = nil) -> Int? {
        guard !isDraining, isNested || line.count == 0, let id = idle(of: app, here) else { return nil }
        workers[id]?.idleSince = nil
        return id
    }

    /// Where a worker's socket is read.
    mutating func settle(_ id: Int, at home: ObjectIdentifier) {
        workers[id]?.home = home
    }

    /// A call is over, and its worker can serve another.
    mutating func returned(_ id: Int, at now: ContinuousClock.Instant) -> Next {
        guard let worker = workers[id] else { return .end }
        guard !isDraining, workers.count <= limits.workers else {
            workers[id] = nil
            return .end
        }
        guard let next = takeWaiter(freed: worker.app) else {
            workers[id]?.idleSince = now
            return .keep
        }
        if next.app == worker.app { return .serve(next.waiter) }
        workers[id] = nil
        return .replace(next.waiter, with: add(next.app))
    }

    /// A worker has ended.
    mutating func lost(_ id: Int) -> Next {
        guard workers.removeValue(forKey: id) != nil, !isDraining, workers.count < limits.workers,
            let next = takeWaiter(freed: nil)
        else { return .keep }
        return .replace(next.waiter, with: add(next.app))
    }

    /// Which workers have been idle for too long; they are gone from here.
    mutating func elapsed(_ now: ContinuousClock.Instant) -> [Int] {
        let due = workers.filter { $0.value.idleSince.map { now - $0 >= limits.idle } ?? false }.keys.sorted()
        for id in due { workers[id] = nil }
        return due
    }

    /// Sets those apart whose time is up: no worker is to serve them any more.
    mutating func expire(at now: ContinuousClock.Instant) { line.expire(at: now) }

    /// Takes the first of those that were set apart.
    mutating func takeExpired(atMost most: Int) -> ArraySlice<Waiter> { line.takeExpired(atMost: most) }

    /// Takes one out of the queue; nil when it is no longer there.
    mutating func withdraw(serial: Int) -> Waiter? { line.withdraw(serial: serial) }

    /// Takes in nobody new; returns who waited.
    mutating func drain() -> [Waiter] {
        isDraining = true
        return line.takeAll()
    }

    private mutating func add(_ app: String) -> Int {
        lastNumber += 1
        workers[lastNumber] = Worker(app: app)
        return lastNumber
    }

    /// The one that was busy last: its memory is warm.
    private func idle(of app: String, _ here: ObjectIdentifier?) -> Int? {
        func rank(_ one: (key: Int, value: Worker)) -> (Int, ContinuousClock.Instant, Int) {
            (one.value.home == here ? 1 : 0, one.value.idleSince ?? .now, one.key)
        }
        return workers.lazy.filter { $0.value.app == app && $0.value.idleSince != nil }
            .max { rank($0) < rank($1) }?.key
    }

    private func longestIdle() -> Int? {
        workers.lazy.filter { $0.value.idleSince != nil }
            .min { ($0.value.idleSince ?? .now, $0.key) < ($1.value.idleSince ?? .now, $1.key) }?.key
    }

    /// The first waiter of the app that has the fewest workers at work, not counting the one that is free.
    private mutating func takeWaiter(freed app: String?) -> (waiter: Waiter, app: String)? {
        guard line.count > 0 else { return nil }
        var busy: [String: Int] = [:]
        if line.appCount > 1 {
            for worker in workers.values where worker.idleSince == nil { busy[worker.app, default: 0] += 1 }
            if let app { busy[app, default: 1] -= 1 }
        }
        guard let name = line.first(byRank: { busy[$0, default: 0] }), let waiter = line.takeFirst(of: name)
        else { return nil }
        return (waiter, name)
    }
}

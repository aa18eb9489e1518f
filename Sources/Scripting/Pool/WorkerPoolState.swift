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
        /// When it became idle; nil while busy.
        var idleSince: ContinuousClock.Instant?
    }

    private struct Entry {
        let waiter: Waiter
        let app: String
    }

    private let limits: ScriptLimits
    private var workers: [Int: Worker] = [:]
    private var queue: [Entry] = []
    private var lastNumber = 0
    private(set) var isDraining = false

    init(limits: ScriptLimits) {
        self.limits = limits
    }

    var workerCount: Int { workers.count }
    var waitingCount: Int { queue.count }
    var busyCount: Int { workers.values.count { $0.idleSince == nil } }
    var isEmpty: Bool { workers.isEmpty }

    /// Somebody wants a worker of an app.
    mutating func lease(_ waiter: @autoclosure () -> Waiter, app: String, isNested: Bool) -> Lease {
        guard !isDraining else { return .refuse }
        if isNested || queue.isEmpty, let id = idle(of: app) {
            workers[id]?.idleSince = nil
            return .run(on: id)
        }
        if workers.count < limits.workers + (isNested ? limits.extraWorkers : 0) {
            return .start(add(app), ending: nil)
        }
        if let other = longestIdle() {
            workers[other] = nil
            return .start(add(app), ending: other)
        }
        guard !isNested, queue.count < limits.waiting,
            queue.count(where: { $0.app == app }) < limits.waitingPerApp
        else { return .refuse }
        queue.append(Entry(waiter: waiter(), app: app))
        return .wait
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

    /// Takes somebody out of the queue; false when they are not in it.
    mutating func withdraw(where isThem: (Waiter) -> Bool) -> Bool {
        guard let index = queue.firstIndex(where: { isThem($0.waiter) }) else { return false }
        queue.remove(at: index)
        return true
    }

    /// Takes in nobody new; returns who waited.
    mutating func drain() -> [Waiter] {
        isDraining = true
        defer { queue = [] }
        return queue.map(\.waiter)
    }

    private mutating func add(_ app: String) -> Int {
        lastNumber += 1
        workers[lastNumber] = Worker(app: app)
        return lastNumber
    }

    /// The one that was busy last: its memory is warm.
    private func idle(of app: String) -> Int? {
        workers.filter { $0.value.app == app && $0.value.idleSince != nil }
            .max { ($0.value.idleSince ?? .now, $0.key) < ($1.value.idleSince ?? .now, $1.key) }?.key
    }

    private func longestIdle() -> Int? {
        workers.filter { $0.value.idleSince != nil }
            .min { ($0.value.idleSince ?? .now, $0.key) < ($1.value.idleSince ?? .now, $1.key) }?.key
    }

    /// The first waiter of the app that has the fewest workers at work, not counting the one that is free.
    private mutating func takeWaiter(freed app: String?) -> Entry? {
        guard queue.count > 1 else { return queue.popLast() }
        var busy: [String: Int] = [:]
        for worker in workers.values where worker.idleSince == nil { busy[worker.app, default: 0] += 1 }
        if let app { busy[app, default: 1] -= 1 }
        var best = 0
        for index in queue.indices
        where busy[queue[index].app, default: 0] < busy[queue[best].app, default: 0] {
            best = index
        }
        return queue.remove(at: best)
    }
}

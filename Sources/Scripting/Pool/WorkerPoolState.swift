import HeapModule

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

    /// Who waits for workers of one app, in the order in which they came.
    private struct Queue {
        /// By serial; in the place of one that left there is nobody.
        private var entries: [(serial: Int, waiter: Waiter?)] = []
        /// What lies before it is served or has left; what lies there waits.
        private var head = 0
        private(set) var count = 0

        /// When the first came, among those of all apps.
        var first: Int { entries[head].serial }

        mutating func append(_ waiter: Waiter, serial: Int) {
            entries.append((serial, waiter))
            count += 1
        }

        mutating func takeFirst() -> Waiter? {
            guard count > 0 else { return nil }
            return take(at: head)
        }

        /// Takes out the one of this serial, in steps that grow with the logarithm of their number.
        mutating func take(serial: Int) -> Waiter? {
            index(of: serial).flatMap { take(at: $0) }
        }

        /// Whether the one of this serial still waits.
        func holds(serial: Int) -> Bool { index(of: serial) != nil }

        private func index(of serial: Int) -> Int? {
            var low = head
            var high = entries.count
            while low < high {
                let middle = (low + high) / 2
                if entries[middle].serial < serial { low = middle + 1 } else { high = middle }
            }
            guard low < entries.count, entries[low].serial == serial, entries[low].waiter != nil else {
                return nil
            }
            return low
        }

        private mutating func take(at index: Int) -> Waiter? {
            guard let waiter = entries[index].waiter else { return nil }
            entries[index].waiter = nil
            count -= 1
            while head < entries.count, entries[head].waiter == nil { head += 1 }
            // What is moved is less than what has left since the last time.
            if entries.count >= 64, count * 2 < entries.count {
                entries.removeAll { $0.waiter == nil }
                head = 0
            }
            return waiter
        }
    }

    /// When somebody's time is up.
    private struct Deadline: Comparable {
        let time: ContinuousClock.Instant
        let serial: Int
        let app: String

        static func < (left: Deadline, right: Deadline) -> Bool {
            (left.time, left.serial) < (right.time, right.serial)
        }

        static func == (left: Deadline, right: Deadline) -> Bool {
            (left.time, left.serial) == (right.time, right.serial)
        }
    }

    private let limits: ScriptLimits
    private var workers: [Int: Worker] = [:]
    /// Those that somebody is in.
    private var queues: [String: Queue] = [:]
    private(set) var waitingCount = 0
    /// Of all who wait, and of some who have left.
    private var deadlines = Heap<Deadline>()
    /// Those who wait for no worker any more, only for being told.
    private var expired: ArraySlice<Waiter> = []
    /// Of whoever began to wait last: what ``withdraw(serial:of:)`` takes.
    private(set) var lastSerial = 0
    private var lastNumber = 0
    private(set) var isDraining = false

    init(limits: ScriptLimits) {
        self.limits = limits
    }

    var workerCount: Int { workers.count }
    var busyCount: Int { workers.values.count { $0.idleSince == nil } }
    var isEmpty: Bool { workers.isEmpty }
    var expiredCount: Int { expired.count }

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
        guard !isNested, waitingCount + expired.count < limits.waiting,
            queues[app]?.count ?? 0 < limits.waitingPerApp
        else {
            return .refuse
        }
        lastSerial += 1
        waitingCount += 1
        queues[app, default: Queue()].append(waiter(), serial: lastSerial)
        deadlines.insert(Deadline(time: deadline, serial: lastSerial, app: app))
        // What is looked through is less than what was added since the last time.
        if deadlines.count >= 64, deadlines.count > 2 * waitingCount {
            deadlines = Heap(deadlines.unordered.filter { queues[$0.app]?.holds(serial: $0.serial) ?? false })
        }
        return .wait
    }

    /// An idle worker of an app, if nobody waits before whoever wants it; it is theirs.
    ///
    /// One whose home is where they are, `here`, comes first.
    mutating func leaseIdle(app: String, isNested: Bool, here: ObjectIdentifier? = nil) -> Int? {
        guard !isDraining, isNested || waitingCount == 0, let id = idle(of: app, here) else { return nil }
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
    mutating func expire(at now: ContinuousClock.Instant) {
        while let first = deadlines.min, first.time <= now {
            deadlines.removeMin()
            if let waiter = withdraw(serial: first.serial, of: first.app) { expired.append(waiter) }
        }
    }

    /// Takes the first of those that were set apart.
    mutating func takeExpired(atMost most: Int) -> ArraySlice<Waiter> {
        let taken = expired.prefix(most)
        // An empty slice would keep all that it ever held.
        expired = taken.count < expired.count ? expired.dropFirst(most) : []
        return taken
    }

    /// Takes one out of the queue of its app; nil when it is no longer there.
    mutating func withdraw(serial: Int, of app: String) -> Waiter? {
        guard let waiter = queues[app]?.take(serial: serial) else { return nil }
        waitingCount -= 1
        if queues[app]?.count == 0 { queues[app] = nil }
        return waiter
    }

    /// Takes in nobody new; returns who waited.
    mutating func drain() -> [Waiter] {
        isDraining = true
        var waiters = Array(takeExpired(atMost: .max))
        while let next = takeWaiter(freed: nil) { waiters.append(next.waiter) }
        deadlines = Heap()
        return waiters
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
        return workers.filter { $0.value.app == app && $0.value.idleSince != nil }
            .max { rank($0) < rank($1) }?.key
    }

    private func longestIdle() -> Int? {
        workers.filter { $0.value.idleSince != nil }
            .min { ($0.value.idleSince ?? .now, $0.key) < ($1.value.idleSince ?? .now, $1.key) }?.key
    }

    /// The first waiter of the app that has the fewest workers at work, not counting the one that is free.
    private mutating func takeWaiter(freed app: String?) -> (waiter: Waiter, app: String)? {
        guard waitingCount > 0 else { return nil }
        var busy: [String: Int] = [:]
        if queues.count > 1 {
            for worker in workers.values where worker.idleSince == nil { busy[worker.app, default: 0] += 1 }
            if let app { busy[app, default: 1] -= 1 }
        }
        let best = queues.min { left, right in
            (busy[left.key, default: 0], left.value.first) < (busy[right.key, default: 0], right.value.first)
        }
        guard let name = best?.key, let waiter = queues[name]?.takeFirst() else { return nil }
        waitingCount -= 1
        if queues[name]?.count == 0 { queues[name] = nil }
        return (waiter, name)
    }
}

/// Which connection serves whom: places for connections, and a queue of those who wait.
///
/// Pure: events in, decisions out; ``ConnectionPool`` performs them. A place is *empty* until somebody
/// needs it, *opening* while a connection is being made (→ *leased* or *idle* when it opened, → *empty* when
/// it failed), *idle* (→ *leased*, or → *empty* when lost), *leased* (→ *idle* or the next waiter when
/// returned, → *empty* when lost). After a failure to connect only one place tries at a time, at growing
/// distances, until one succeeds. Times are nanoseconds on any timeline that grows.
struct PoolStateMachine<Waiter: Sendable>: Sendable {
    /// The bounds.
    struct Limits: Sendable {
        var maxConnections: Int
        var maxWaiting: Int
        /// The first distance between attempts to connect, and the largest, in nanoseconds.
        var firstRetry: Int64 = 50_000_000
        var lastRetry: Int64 = 5_000_000_000
    }

    /// What to do for somebody who wants a connection.
    enum Lease: Equatable, Sendable {
        /// This connection is theirs.
        case run(on: Int)
        /// They wait; a connection is to be opened at `opening`, if given.
        case wait(opening: Int?)
        /// The queue is full.
        case refuseFull
        /// The pool is closing or closed.
        case refuseClosed
    }

    /// What to do with a connection that is free.
    enum Return {
        case serve(Waiter)
        case keep
        case close
    }

    private enum Place: Equatable {
        case empty
        case opening
        case idle(tag: Int)
        case leased
    }

    private struct Entry {
        var waiter: Waiter
        var tag: Int
        var expiry: Int64
        /// How often somebody behind was served before.
        var skips = 0
    }

    /// How far behind the head a waiter may be served first because the free connection suits it, and how often
    /// the head lets that happen.
    private static var reach: Int { 16 }

    private let limits: Limits
    private var places: [Place]
    /// Idle places by tag, most recently used last: warm sessions first.
    private var idle: [[Int]]
    private var queue: ArraySlice<Entry> = []
    private var failures = 0
    private var retryAt: Int64?
    private(set) var isDraining = false

    /// An empty pool.
    ///
    /// - Parameters:
    ///   - limits: The bounds.
    ///   - tags: How many kinds of connections callers prefer between.
    init(limits: Limits, tags: Int = 1) {
        self.limits = limits
        places = Array(repeating: .empty, count: max(1, limits.maxConnections))
        idle = Array(repeating: [], count: max(1, tags))
    }

    var waitingCount: Int { queue.count }
    var idleCount: Int { idle.reduce(0) { $0 + $1.count } }
    var openCount: Int { places.count { $0 != .empty && $0 != .opening } }
    var leasedCount: Int { places.count { $0 == .leased } }
    /// How often in a row connecting has failed.
    var failureCount: Int { failures }
    /// Whether a drain has come to its end.
    var isDrained: Bool { isDraining && places.allSatisfy { $0 == .empty } }

    /// When something is due without an event: a waiter's expiry or the next attempt to connect.
    var nextTimer: Int64 { min(queue.lazy.map(\.expiry).min() ?? .max, retryAt ?? .max) }

    /// Somebody wants a connection, best one with this tag.
    mutating func lease(_ waiter: @autoclosure () -> Waiter, tag: Int = 0, expiry: Int64) -> Lease {
        guard !isDraining else { return .refuseClosed }
        if queue.isEmpty, let place = takeIdle(tag) {
            places[place] = .leased
            return .run(on: place)
        }
        guard queue.count < limits.maxWaiting else { return .refuseFull }
        queue.append(Entry(waiter: waiter(), tag: tag, expiry: expiry))
        return .wait(opening: placeToOpen())
    }

    /// A connection was opened.
    mutating func opened(_ place: Int, tag: Int = 0) -> Return {
        failures = 0
        retryAt = nil
        return free(place, tag: tag)
    }

    /// A connection was given back in order.
    mutating func returned(_ place: Int, tag: Int = 0) -> Return {
        free(place, tag: tag)
    }

    /// A connection could not be opened.
    ///
    /// - Parameters:
    ///   - place: Where it was to be.
    ///   - now: The time.
    ///   - jitter: Between 0 and 1; spreads the attempts of several gateways.
    /// - Returns: The distance to the next attempt, in nanoseconds; nil when nobody needs one.
    mutating func failedToOpen(_ place: Int, now: Int64, jitter: Double) -> Int64? {
        places[place] = .empty
        failures += 1
        guard !isDraining, !queue.isEmpty else { return nil }
        let full = min(limits.lastRetry, limits.firstRetry << Int64(min(failures - 1, 20)))
        let delay = full / 2 + Int64(Double(full / 2) * min(max(jitter, 0), 1))
        retryAt = now + delay
        return delay
    }

    /// A connection is gone, idle or leased.
    mutating func lost(_ place: Int) {
        if case .idle(let tag) = places[place] { idle[tag].removeAll { $0 == place } }
        places[place] = .empty
    }

    /// One more place to open, when those who wait justify it; to be asked after every change until nil.
    mutating func grow() -> Int? {
        isDraining || queue.isEmpty ? nil : placeToOpen()
    }

    /// Time has passed: who has waited too long.
    ///
    /// Connecting may be due again: see ``grow()``.
    mutating func elapsed(now: Int64) -> [Waiter] {
        var expired: [Waiter] = []
        if queue.contains(where: { $0.expiry <= now }) {
            expired = queue.filter { $0.expiry <= now }.map(\.waiter)
            queue.removeAll { $0.expiry <= now }
        }
        if let due = retryAt, due <= now { retryAt = nil }
        return expired
    }

    /// Takes somebody out of the queue; false when they are not in it.
    mutating func withdraw(where isThem: (Waiter) -> Bool) -> Bool {
        guard let index = queue.firstIndex(where: { isThem($0.waiter) }) else { return false }
        queue.remove(at: index)
        return true
    }

    /// Takes in nobody new.
    ///
    /// Returns who waited and which idle connections to close; leased ones are closed as they come back.
    mutating func drain() -> (waiters: [Waiter], closing: [Int]) {
        isDraining = true
        retryAt = nil
        defer {
            queue = []
            idle = idle.map { _ in [] }
        }
        let closing = idle.flatMap { $0 }
        for place in closing { places[place] = .empty }
        return (queue.map(\.waiter), closing)
    }

    private mutating func free(_ place: Int, tag: Int) -> Return {
        guard !isDraining else {
            places[place] = .empty
            return .close
        }
        if let next = takeWaiter(tag) {
            places[place] = .leased
            return .serve(next)
        }
        places[place] = .idle(tag: tag)
        idle[tag].append(place)
        return .keep
    }

    /// The first waiter that wants this kind of connection among the first few, else the very first.
    private mutating func takeWaiter(_ tag: Int) -> Waiter? {
        guard let head = queue.first else { return nil }
        if head.tag != tag, head.skips < Self.reach,
            let better = queue.prefix(Self.reach).firstIndex(where: { $0.tag == tag })
        {
            let chosen = queue[better]
            for index in stride(from: better, to: queue.startIndex, by: -1) {
                queue[index] = queue[index - 1]
            }
            queue[queue.startIndex] = chosen
            queue[queue.startIndex + 1].skips += 1
        }
        return queue.popFirst()?.waiter
    }

    private mutating func takeIdle(_ tag: Int) -> Int? {
        if let place = idle[tag].popLast() { return place }
        for other in idle.indices where other != tag {
            if let place = idle[other].popLast() { return place }
        }
        return nil
    }

    /// An empty place, marked as opening, when the queue justifies one more attempt.
    private mutating func placeToOpen() -> Int? {
        let attempts = places.count { $0 == .opening }
        let allowed = failures == 0 ? queue.count : (retryAt == nil ? 1 : 0)
        guard attempts < allowed, let place = places.firstIndex(of: .empty) else { return nil }
        places[place] = .opening
        return place
    }
}

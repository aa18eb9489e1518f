import CEpoll
import Glibc
import Synchronization
import Threading

/// Something with a file descriptor that a ``Reactor`` watches.
protocol ReactorClient: AnyObject, Sendable {
    /// Called on the reactor's thread when the descriptor can be read or, if asked for, written.
    func descriptorIsReady()
    /// Called on the reactor's thread when a timer may be due; returns when to look again.
    func timersMayBeDue(at now: Int64) -> Int64
}

/// One thread that waits for many descriptors at once.
///
/// Callers send on their own threads; the reactor reads replies. It sleeps until a descriptor is ready or the
/// earliest timer is due, so a caller has to wake it only for a timer that comes sooner than planned.
final class Reactor: Sendable {
    private let poll: Int32
    private let wakeup: Int32
    private let clients = Mutex<[UInt64: any ReactorClient]>([:])
    private let isStopped = Atomic(false)
    /// When the thread will look at the timers next; `Int64.max` while it has none, or is just looking.
    private let plannedLook = Atomic(Int64.max)
    private static let wakeupToken = UInt64.max
    private static let serial = Atomic<UInt64>(0)

    init(name: String) {
        poll = epoll_create1(Int32(EPOLL_CLOEXEC))
        wakeup = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        precondition(poll >= 0 && wakeup >= 0, "cannot make an epoll instance: errno \(errno)")
        _ = cepoll_control(poll, EPOLL_CTL_ADD, wakeup, EPOLLIN.rawValue, Self.wakeupToken)
        // The thread keeps the reactor alive until `stop`.
        DedicatedThread.start(name: name) { self.loop() }
    }

    deinit {
        close(poll)
        close(wakeup)
    }

    /// Begins to watch a descriptor for input; the token names it from then on.
    func add(_ descriptor: Int32, _ client: any ReactorClient) -> UInt64 {
        let token = Self.serial.add(1, ordering: .relaxed).newValue
        clients.withLock { $0[token] = client }
        _ = cepoll_control(poll, EPOLL_CTL_ADD, descriptor, EPOLLIN.rawValue, token)
        return token
    }

    /// Asks a client for its timers, without a descriptor.
    func add(timersOf client: any ReactorClient) {
        clients.withLock { $0[Self.serial.add(1, ordering: .relaxed).newValue] = client }
    }

    /// Watches for room to write as well, or no longer.
    func watchWrites(_ isWatching: Bool, _ descriptor: Int32, token: UInt64) {
        let events = isWatching ? EPOLLIN.rawValue | EPOLLOUT.rawValue : EPOLLIN.rawValue
        _ = cepoll_control(poll, EPOLL_CTL_MOD, descriptor, events, token)
    }

    /// Stops watching; to be called before the descriptor is closed.
    func remove(_ descriptor: Int32, token: UInt64) {
        _ = cepoll_control(poll, EPOLL_CTL_DEL, descriptor, 0, token)
        clients.withLock { $0[token] = nil }
    }

    /// Sees to it that timers are looked at no later than a point in time.
    func look(by point: Int64) {
        guard point < plannedLook.load(ordering: .sequentiallyConsistent) else { return }
        wake()
    }

    /// Ends the thread.
    func stop() {
        isStopped.store(true, ordering: .releasing)
        wake()
    }

    private func wake() {
        var one: UInt64 = 1
        _ = write(wakeup, &one, 8)
    }

    private func loop() {
        var tokens = [UInt64](repeating: 0, count: 64)
        var events = [UInt32](repeating: 0, count: 64)
        while !isStopped.load(ordering: .acquiring) {
            let count = cepoll_wait(poll, &tokens, &events, 64, timeout())
            for index in 0..<max(0, Int(count)) {
                if tokens[index] == Self.wakeupToken {
                    var value: UInt64 = 0
                    _ = read(wakeup, &value, 8)
                    lookAtTimers()
                } else if let client = clients.withLock({ $0[tokens[index]] }) {
                    client.descriptorIsReady()
                }
            }
        }
        clients.withLock { $0 = [:] }
    }

    /// Milliseconds until the next timer, after looking at those that are due; -1 for none.
    private func timeout() -> Int32 {
        while true {
            let planned = plannedLook.load(ordering: .relaxed)
            guard planned != .max else { return -1 }
            let left = planned - Timeline.now
            if left > 0 { return Int32(clamping: left / 1_000_000 + 1) }
            lookAtTimers()
        }
    }

    private func lookAtTimers() {
        // Whoever sets a timer from here on wakes us again, so none falls between looking and sleeping.
        plannedLook.store(.max, ordering: .sequentiallyConsistent)
        let now = Timeline.now
        var next = Int64.max
        for client in clients.withLock({ Array($0.values) }) {
            next = min(next, client.timersMayBeDue(at: now))
        }
        // Not sooner than a millisecond hence: a timer that cannot be served must not spin the thread.
        plannedLook.store(next == .max ? .max : max(next, now + 1_000_000), ordering: .sequentiallyConsistent)
    }
}

import CEpoll
import Glibc
import Synchronization
import Threading

/// One thread that reads from all workers.
final class WorkerReactor: Sendable {
    private let poll: Int32
    private let wakeup: Int32
    private let clients = Mutex<[UInt64: ScriptWorker]>([:])
    private let isStopped = Atomic(false)
    private let tick: @Sendable (ContinuousClock.Instant) -> Duration?
    private static let wakeupToken = UInt64.max

    /// While there are workers, so often at the least their deadlines are looked at.
    private static let period = Duration.milliseconds(100)

    /// - Parameter tick: Called now and then on the reactor's thread, as long as there are workers; answers when it wants
    ///   to be called again, if sooner than usual.
    init(tick: @escaping @Sendable (ContinuousClock.Instant) -> Duration?) {
        self.tick = tick
        poll = epoll_create1(Int32(EPOLL_CLOEXEC))
        wakeup = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        precondition(poll >= 0 && wakeup >= 0, "cannot make an epoll instance: errno \(errno)")
        _ = cepoll_control(poll, EPOLL_CTL_ADD, wakeup, EPOLLIN.rawValue | EPOLLET.rawValue, Self.wakeupToken)
        // The thread keeps the reactor alive until `stop`.
        DedicatedThread.start(name: "script-pool") { self.loop() }
    }

    deinit {
        close(poll)
        close(wakeup)
    }

    /// Begins to watch a worker's socket.
    func add(_ worker: ScriptWorker) {
        clients.withLock { $0[UInt64(worker.id)] = worker }
        _ = cepoll_control(poll, EPOLL_CTL_ADD, worker.socket, EPOLLIN.rawValue, UInt64(worker.id))
        // It may sleep without end.
        wake()
    }

    /// Changes what is waited for.
    func watch(_ worker: ScriptWorker, reads: Bool, writes: Bool) {
        let events = (reads ? EPOLLIN.rawValue : 0) | (writes ? EPOLLOUT.rawValue : 0)
        _ = cepoll_control(poll, EPOLL_CTL_MOD, worker.socket, events, UInt64(worker.id))
    }

    /// Stops watching; to be called before the socket is closed.
    func remove(_ worker: ScriptWorker) {
        _ = cepoll_control(poll, EPOLL_CTL_DEL, worker.socket, 0, 0)
        clients.withLock { $0[UInt64(worker.id)] = nil }
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
        var looked = ContinuousClock.now
        var period = Self.period
        while !isStopped.load(ordering: .acquiring) {
            // Without workers it has nothing to do, unless it was asked to look again soon.
            let isIdle = period == Self.period && clients.withLock(\.isEmpty)
            let count = cepoll_wait(
                poll,
                &tokens,
                &events,
                64,
                isIdle ? -1 : Int32(period / .milliseconds(1))
            )
            for index in 0..<max(0, Int(count)) {
                guard let worker = clients.withLock({ $0[tokens[index]] }) else { continue }
                if events[index] & EPOLLOUT.rawValue != 0 { worker.canWrite() }
                if events[index] & ~EPOLLOUT.rawValue != 0 { worker.canRead() }
            }
            let now = ContinuousClock.now
            guard now - looked >= period else { continue }
            looked = now
            for worker in clients.withLock({ Array($0.values) }) { worker.endOverdue(at: now) }
            period = min(Self.period, tick(now) ?? Self.period)
        }
        clients.withLock { $0 = [:] }
    }
}

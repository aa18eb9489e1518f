import CEpoll
import Glibc
import HTTPGateway
import NIOCore
import Synchronization
import Threading

/// Takes connections in at a door, and keeps each of them until it has said something.
///
/// A thread of its own, for which a connection is a descriptor and costs microseconds. An event loop makes a channel, its
/// handlers and tasks of it, which takes a fraction of a millisecond: when thousands connect at once, that would hold up
/// whoever is being served, and those who come behind them. What a connection says first also tells who may wait.
final class Reception: Sendable {
    /// A connection that has said something, all of which is still to be read.
    struct Arrival: Sendable {
        let socket: Int32
        /// Whether its first request calls a function.
        let callsFunction: Bool
    }

    private let listening: ListeningSocket
    private let isPlain: Bool
    private let connections: ConnectionCount
    /// How long a connection may say nothing, in milliseconds.
    private let patience: Int64
    private let receive: @Sendable ([Arrival]) -> Void
    private let poll = epoll_create1(Int32(EPOLL_CLOEXEC))
    private let wakeup = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
    private let isStopped = Atomic(false)
    private let ending = Mutex((isOver: false, waiting: CheckedContinuation<Void, Never>?.none))

    private static let listenToken = UInt64.max - 1
    private static let wakeToken = UInt64.max
    /// Connections that are taken in before those that have said something are looked at again.
    private static let width = 64
    /// How long nobody is taken in after the system had no descriptor left, in milliseconds.
    private static let pause: Int64 = 100
    /// Of what a connection says first, so many bytes are looked at.
    private static let glance = 512

    /// - Parameters:
    ///   - listening: Closed when this stops.
    ///   - isPlain: Whether what comes is HTTP/1.1 as it is.
    ///   - connections: Counts them; whoever gets an arrival takes it out at its end.
    ///   - patience: How long a connection may say nothing.
    ///   - receive: Takes those that have said something, on the reception's thread.
    init(
        _ listening: ListeningSocket,
        isPlain: Bool,
        connections: ConnectionCount,
        patience: TimeAmount,
        receive: @escaping @Sendable ([Arrival]) -> Void
    ) {
        precondition(poll >= 0 && wakeup >= 0, "cannot make an epoll instance: errno \(errno)")
        self.listening = listening
        self.isPlain = isPlain
        self.connections = connections
        self.patience = patience.nanoseconds / 1_000_000
        self.receive = receive
    }

    deinit {
        Glibc.close(poll)
        Glibc.close(wakeup)
    }

    /// Starts the thread, which keeps the reception alive until ``stop()``; to be called once, and before that.
    func start() {
        _ = cepoll_control(poll, EPOLL_CTL_ADD, wakeup, EPOLLIN.rawValue, Self.wakeToken)
        listen(true)
        DedicatedThread.start(name: "reception") { self.run() }
    }

    /// Takes in who waits, hands on who has said something by now, closes all others and returns when that is done.
    func stop() async {
        isStopped.store(true, ordering: .releasing)
        var one: UInt64 = 1
        _ = write(wakeup, &one, 8)
        await withCheckedContinuation { continuation in
            let isOver = ending.withLock { ending in
                if !ending.isOver { ending.waiting = continuation }
                return ending.isOver
            }
            if isOver { continuation.resume() }
        }
    }

    private func listen(_ isListening: Bool) {
        let operation = isListening ? EPOLL_CTL_ADD : EPOLL_CTL_DEL
        _ = cepoll_control(poll, operation, listening.descriptor, EPOLLIN.rawValue, Self.listenToken)
    }

    // MARK: On the thread

    private func run() {
        var silent = SilentConnections()
        var resumes: Int64?
        var tokens = [UInt64](repeating: 0, count: Self.width)
        var events = [UInt32](repeating: 0, count: Self.width)
        while !isStopped.load(ordering: .acquiring) {
            let due = min(silent.firstDeadline ?? .max, resumes ?? .max)
            let wait = due == .max ? -1 : max(0, min(due - Self.now(), 60_000))
            let count = Int(cepoll_wait(poll, &tokens, &events, Int32(Self.width), Int32(wait)))
            var arrivals: [Arrival] = []
            for token in tokens.prefix(max(0, count)) {
                switch token {
                case Self.wakeToken: break
                case Self.listenToken:
                    if !takeIn(&silent) {
                        listen(false)
                        resumes = Self.now() + Self.pause
                    }
                default: hear(Int32(truncatingIfNeeded: token), &silent, &arrivals)
                }
            }
            if !arrivals.isEmpty { receive(arrivals) }
            let now = Self.now()
            for socket in silent.takeLate(now) { drop(socket) }
            if let at = resumes, at <= now {
                resumes = nil
                listen(true)
            }
        }
        end(&silent)
        let waiting = ending.withLock { ending in
            ending.isOver = true
            return ending.waiting.take()
        }
        waiting?.resume()
    }

    private func end(_ silent: inout SilentConnections) {
        // Those for whom the system has made a connection already; more than it keeps cannot wait.
        for _ in 0..<256 { _ = takeIn(&silent) }
        Glibc.close(listening.descriptor)
        var arrivals: [Arrival] = []
        for socket in silent.sockets { hear(socket, &silent, &arrivals) }
        if !arrivals.isEmpty { receive(arrivals) }
        for socket in silent.sockets { drop(socket) }
    }

    /// - Returns: Whether the system has room for more.
    private func takeIn(_ silent: inout SilentConnections) -> Bool {
        for _ in 0..<Self.width {
            let socket = cepoll_accept(listening.descriptor)
            if socket < 0 {
                switch errno {
                case EMFILE, ENFILE, ENOBUFS, ENOMEM: return false
                // Nobody waits any more, or one who did has gone.
                default: return true
                }
            }
            guard connections.add() else {
                if isPlain { refuse(socket) }
                drop(socket)
                continue
            }
            var one: Int32 = 1
            setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
            _ = cepoll_control(
                poll,
                EPOLL_CTL_ADD,
                socket,
                EPOLLIN.rawValue | EPOLLRDHUP.rawValue,
                UInt64(socket)
            )
            silent.add(socket, deadline: Self.now() + patience)
        }
        return true
    }

    /// Hands on who has said something, and lets go who has gone.
    private func hear(_ socket: Int32, _ silent: inout SilentConnections, _ arrivals: inout [Arrival]) {
        let (count, callsFunction) = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.glance) {
            buffer in
            let count = recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_PEEK))
            guard isPlain, count > 0 else { return (count, false) }
            return (count, EndpointPath.isCalled(by: UnsafeBufferPointer(buffer)[..<count]))
        }
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        silent.remove(socket)
        guard count > 0 else { return drop(socket) }
        _ = cepoll_control(poll, EPOLL_CTL_DEL, socket, 0, 0)
        arrivals.append(Arrival(socket: socket, callsFunction: callsFunction))
    }

    private func refuse(_ socket: Int32) {
        let text = """
            HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n
            """
        _ = text.utf8.withContiguousStorageIfAvailable {
            send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        }
    }

    private func drop(_ socket: Int32) {
        // Who sees it closed may come again, and finds the place free.
        connections.remove()
        Glibc.close(socket)
    }

    /// Milliseconds of a clock that only goes forward.
    private static func now() -> Int64 {
        Int64(truncatingIfNeeded: NIODeadline.now().uptimeNanoseconds / 1_000_000)
    }
}

/// The connections that have said nothing yet, in the order in which they came.
struct SilentConnections {
    private var line = CircularBuffer<(socket: Int32, number: UInt64, deadline: Int64)>()
    /// Descriptors are given again to others.
    private var numbers: [Int32: UInt64] = [:]
    private var last: UInt64 = 0

    /// No later than the first one that is due.
    var firstDeadline: Int64? { line.first?.deadline }

    mutating func add(_ socket: Int32, deadline: Int64) {
        last += 1
        numbers[socket] = last
        line.append((socket, last, deadline))
    }

    mutating func remove(_ socket: Int32) {
        numbers[socket] = nil
        while let first = line.first, numbers[first.socket] != first.number { line.removeFirst() }
    }

    /// Those whose time is up.
    mutating func takeLate(_ now: Int64) -> [Int32] {
        var late: [Int32] = []
        while let first = line.first, first.deadline <= now {
            line.removeFirst()
            guard numbers[first.socket] == first.number else { continue }
            numbers[first.socket] = nil
            late.append(first.socket)
        }
        return late
    }

    /// All of them, in no order.
    var sockets: [Int32] { Array(numbers.keys) }
}

import NIOCore
import Synchronization

/// Lets what may wait in a few at a time, on each event loop by itself: first requests of new connections, and calls
/// of functions, for which the number of workers sets the pace anyway.
///
/// A loop sees to everything in the order in which it comes. When thousands connect or call at once, whoever asks for
/// something else would wait for all of them.
public final class Turnstiles: Sendable {
    private let loops = Mutex<[ObjectIdentifier: NIOLoopBound<LoopTurnstiles>]>([:])

    /// Nobody waits at first.
    public init() {}

    /// Those of an event loop; to be asked on it.
    func of(_ loop: any EventLoop) -> LoopTurnstiles {
        loops.withLock { loops in
            if let known = loops[ObjectIdentifier(loop)] { return known }
            let new = NIOLoopBound(LoopTurnstiles(loop), eventLoop: loop)
            loops[ObjectIdentifier(loop)] = new
            return new
        }.value
    }

    /// Waits for the turn of a call, which usually has come.
    ///
    /// - Parameter loop: Where the task runs; on another one nobody waits.
    func pass(on loop: any EventLoop) async {
        if !loop.inEventLoop || of(loop).calls.admits() { return }
        await withUnsafeContinuation { (turn: UnsafeContinuation<Void, Never>) in
            of(loop).calls.wait {
                turn.resume()
                return true
            }
        }
    }
}

/// The turnstiles of one event loop.
struct LoopTurnstiles {
    let newcomers: Turnstile
    let calls: Turnstile

    init(_ loop: any EventLoop) {
        newcomers = Turnstile(loop)
        calls = Turnstile(loop)
    }
}

/// Who waits on one event loop, in the order in which they came.
final class Turnstile {
    private let loop: any EventLoop
    private var waiting = CircularBuffer<() -> Bool>()
    /// When the first of those was let in whose number is limited.
    private var begun: NIODeadline?
    private var admitted = 0
    private var isPlanned = false

    /// Let in at once: what others wait for at the most.
    private static let atOnce = 4
    /// In which so many pass without waiting.
    private static let window = TimeAmount.milliseconds(1)
    /// In which the sockets are looked at.
    private static let shortestPause = TimeAmount.microseconds(100)

    init(_ loop: any EventLoop) {
        self.loop = loop
    }

    /// Whether one may pass at once; who may not can wait.
    func admits() -> Bool {
        guard waiting.isEmpty, !isPlanned else { return false }
        let now = loop.now
        if begun.map({ now - $0 >= Self.window }) ?? true {
            begun = now
            admitted = 0
        }
        guard admitted < Self.atOnce else { return false }
        admitted += 1
        return true
    }

    /// - Parameter pass: Called when the turn has come; answers whether somebody has taken it.
    func wait(_ pass: @escaping () -> Bool) {
        waiting.append(pass)
        plan()
    }

    private func plan() {
        if isPlanned { return }
        isPlanned = true
        let isolated = loop.assumeIsolated()
        let began = loop.now
        // When those who were let in have been seen to, others have as much time as that took.
        isolated.execute {
            let pause = max(Self.shortestPause, self.loop.now - began)
            isolated.scheduleTask(in: pause) { self.letIn() }
        }
    }

    private func letIn() {
        isPlanned = false
        begun = loop.now
        admitted = 0
        while admitted < Self.atOnce, let pass = waiting.popFirst() {
            if pass() { admitted += 1 }
        }
        if !waiting.isEmpty { plan() }
    }
}

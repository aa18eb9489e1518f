import NIOCore
public import NIOPosix
import Scripting
import Synchronization

/// Lets what may wait in a few at a time, on each event loop by itself: first requests of new connections, what follows
/// a call of a function on the same connection, and calls themselves, for which the number of workers sets the pace
/// anyway.
///
/// A loop sees to everything in the order in which it comes. When thousands connect or call at once, whoever asks for
/// something else would wait for all of them. So a loop looks at its sockets again after every few: to be told when it
/// did, this belongs to the loops' group as its delegate.
public final class Turnstiles: NIOEventLoopMetricsDelegate {
    private let loops = Mutex<[ObjectIdentifier: NIOLoopBound<LoopTurnstiles>]>([:])

    /// Nobody waits at first.
    public init() {}

    /// A loop has worked off what it had, and looks at its sockets next.
    public func processedTick(info: NIOEventLoopTickInfo) {
        loops.withLock { $0[info.eventLoopID] }?.value.ticks.count += 1
    }

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
        CallerPresence.current?.callsFunctions = true
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
    let callers: Turnstile
    let calls: Turnstile
    let ticks = LoopTicks()

    init(_ loop: any EventLoop) {
        // Others wait for about a millisecond then, and what comes in such numbers all the time is not held up.
        newcomers = Turnstile(loop, ticks, atOnce: 8)
        callers = Turnstile(loop, ticks, atOnce: 16)
        calls = Turnstile(loop, ticks, atOnce: 16)
    }
}

/// How often an event loop has come to looking at its sockets.
final class LoopTicks {
    var count = 0
}

/// Who waits on one event loop, in the order in which they came.
final class Turnstile {
    private let loop: any EventLoop
    private let ticks: LoopTicks
    /// Let in at once: what others wait for at the most.
    let atOnce: Int
    private var waiting = CircularBuffer<() -> Bool>()
    /// When the first of those was let in whose number is limited, and how often the loop had looked at its sockets.
    private var begun: (time: NIODeadline, tick: Int)?
    private var admitted = 0
    private var isPlanned = false

    /// In which so many pass without waiting.
    private static let window = TimeAmount.milliseconds(1)
    private static let pause = TimeAmount.microseconds(100)
    /// After so many pauses the next come in, whether or not the sockets were looked at.
    private static let patience = 20

    init(_ loop: any EventLoop, _ ticks: LoopTicks, atOnce: Int) {
        self.loop = loop
        self.ticks = ticks
        self.atOnce = atOnce
    }

    /// Whether one may pass at once; who may not can wait.
    func admits() -> Bool {
        guard waiting.isEmpty, !isPlanned else { return false }
        // Once the loop has looked at its sockets, nobody else waits for those who were let in before.
        if begun.map({ $0.tick != ticks.count || loop.now - $0.time >= Self.window }) ?? true {
            begun = (loop.now, ticks.count)
            admitted = 0
        }
        guard admitted < atOnce else { return false }
        admitted += 1
        return true
    }

    /// - Parameter pass: Called when the turn has come; answers whether somebody has taken it.
    func wait(_ pass: @escaping () -> Bool) {
        waiting.append(pass)
        if !isPlanned { plan(behind: ticks.count, pauses: 1) }
    }

    /// What is due while the loop still works something off comes before it looks at the sockets.
    private func plan(behind tick: Int, pauses: Int) {
        isPlanned = true
        loop.assumeIsolated().scheduleTask(in: Self.pause) {
            if self.ticks.count == tick, pauses < Self.patience {
                self.plan(behind: tick, pauses: pauses + 1)
            } else {
                self.letIn()
            }
        }
    }

    private func letIn() {
        isPlanned = false
        begun = (loop.now, ticks.count)
        admitted = 0
        while admitted < atOnce, let pass = waiting.popFirst() {
            if pass() { admitted += 1 }
        }
        if !waiting.isEmpty { plan(behind: ticks.count, pauses: 1) }
    }
}

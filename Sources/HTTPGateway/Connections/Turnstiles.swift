public import NIOCore
public import NIOPosix
import Scripting
import Synchronization

/// Lets what may wait in a few at a time, on each event loop by itself: new connections, what follows a call of a function
/// on the same connection, calls themselves, for which the number of workers sets the pace anyway, and the end of
/// those who have left.
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

    /// Has something done when the turn of a new connection has come, which usually is at once; to be called on the loop.
    ///
    /// - Parameters:
    ///   - loop: Where the connection is to be.
    ///   - body: Makes the connection.
    public func enter(on loop: any EventLoop, _ body: @escaping () -> Void) {
        of(loop).newcomers.pass(body)
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
    let leavers: Turnstile
    let ticks = LoopTicks()

    init(_ loop: any EventLoop) {
        // Others wait for about a millisecond then, and what comes in such numbers all the time is not held up.
        // A connection costs several times what a request does.
        newcomers = Turnstile(loop, ticks, atOnce: 4, rests: true)
        callers = Turnstile(loop, ticks, atOnce: 16)
        calls = Turnstile(loop, ticks, atOnce: 16)
        leavers = Turnstile(loop, ticks, atOnce: 16)
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
    /// Whether others have the loop to themselves for a while after each lot.
    private let rests: Bool
    /// How long: what a lot costs at once, and about as much again in what follows of it.
    private var rest = TimeAmount.zero
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
    private static let longestRest = TimeAmount.milliseconds(2)

    init(_ loop: any EventLoop, _ ticks: LoopTicks, atOnce: Int, rests: Bool = false) {
        self.loop = loop
        self.ticks = ticks
        self.atOnce = atOnce
        self.rests = rests
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

    /// Has something done when its turn has come, which usually is at once.
    func pass(_ body: @escaping () -> Void) {
        if admits() { return body() }
        wait {
            body()
            return true
        }
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
            } else if self.rests {
                self.loop.assumeIsolated().scheduleTask(in: self.rest) { self.letIn() }
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
        if rests, let begun { rest = min((loop.now - begun.time) * 2, Self.longestRest) }
        if !waiting.isEmpty { plan(behind: ticks.count, pauses: 1) }
    }
}

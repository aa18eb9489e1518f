internal import BSON
import CEpoll
import CScriptRuntime
import Glibc
import Synchronization
import Threading

/// A thread that ends the worker when the gateway is gone, or when a run takes more than it may.
///
/// It works however busy the script keeps the main thread.
final class WorkerWatch: Sendable {
    private let link: WorkerLink
    private let limits: ScriptLimits
    private let wakeup: Int32
    private let state = Mutex(State())

    private struct State {
        var run: RunRecord?
        var isAsleep = false
    }

    /// How often a run is looked at, and how long after its last run a worker is still looked at so often.
    private static let period: Int32 = 10
    /// The engine's own time limit comes first; what it cannot interrupt ends so much later.
    private static let grace = Duration.milliseconds(250)

    init(link: WorkerLink, limits: ScriptLimits) {
        self.link = link
        self.limits = limits
        wakeup = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        DedicatedThread.start(name: "script-watch") { self.loop() }
    }

    /// Which run is on, if any.
    func watch(_ run: RunRecord?) {
        let wasAsleep = state.withLock { state in
            state.run = run
            defer { if run != nil { state.isAsleep = false } }
            return state.isAsleep && run != nil
        }
        if wasAsleep {
            var one: UInt64 = 1
            _ = write(wakeup, &one, 8)
        }
    }

    private func loop() {
        var quiet = 0
        while true {
            quiet = state.withLock { $0.run != nil } ? 0 : quiet + 1
            let sleeps =
                quiet > 100
                && state.withLock { state in
                    state.isAsleep = state.run == nil
                    return state.isAsleep
                }
            var entries = [
                pollfd(fd: WorkerLink.descriptor, events: cscript_peer_closed, revents: 0),
                pollfd(fd: wakeup, events: Int16(POLLIN), revents: 0),
            ]
            if poll(&entries, 2, sleeps ? -1 : Self.period) < 0, errno != EINTR { _exit(1) }
            if entries[0].revents != 0 { _exit(0) }
            if entries[1].revents != 0 {
                var value: UInt64 = 0
                _ = read(wakeup, &value, 8)
                quiet = 0
            }
            if let run = state.withLock({ $0.run }) { look(at: run) }
        }
    }

    private func look(at run: RunRecord) {
        let bytes = ResidentMemory.bytes
        let total = run.sample(bytes: bytes)
        if bytes > limits.memoryBytes {
            end(run, .memory, total)
        } else if ContinuousClock.now > run.deadline + Self.grace {
            end(run, .time, total)
        }
    }

    private func end(_ run: RunRecord, _ failure: ScriptFailure, _ memoryTime: Int64) {
        // A run that ended this very moment is not to be reported twice.
        guard state.withLock({ $0.run === run }) else { return }
        let outcome = WorkerOutcome(ending: .failed(failure), messages: run.lines, memoryTime: memoryTime)
        link.sendLast(.done(run: run.id, outcome, mayGoOn: false))
        _exit(failure.reason == .memory ? WorkerExit.memory : WorkerExit.time)
    }
}

/// How a worker says why it ended when it could not say more.
enum WorkerExit {
    static let memory: Int32 = 86
    static let time: Int32 = 87
}

/// What this process holds in memory.
enum ResidentMemory {
    private static let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
    private static let page = Int(sysconf(Int32(_SC_PAGESIZE)))

    /// As ``bytes``, or as it was a moment ago when less than a millisecond has been worked since: no script takes
    /// much in that.
    static func bytes(after work: Duration, _ known: inout (bytes: Int, at: ContinuousClock.Instant)?) -> Int
    {
        let now = ContinuousClock.now
        if let known, work < .milliseconds(1), now - known.at < .milliseconds(50) { return known.bytes }
        let bytes = bytes
        known = (bytes, now)
        return bytes
    }

    /// Bytes; 0 where the system does not tell.
    static var bytes: Int {
        withUnsafeTemporaryAllocation(byteCount: 128, alignment: 1) { space in
            let count = pread(file, space.baseAddress, space.count, 0)
            guard count > 0 else { return 0 }
            // The second of numbers with blanks between.
            var number = 0
            var pages = 0
            for byte in space[0..<count] {
                if byte == UInt8(ascii: " ") { number += 1 }
                if number == 1, byte != UInt8(ascii: " ") { pages = pages * 10 + Int(byte) - 48 }
            }
            return pages * page
        }
    }
}

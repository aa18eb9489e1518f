internal import BSON
internal import NIOCore
import Synchronization

/// One worker as the gateway sees it: sends requests, and passes on what comes.
///
/// Its socket belongs to an event loop; sending never blocks. What says that a run is over frees the worker there and
/// then, before the run's own task has come to it: it need not wait for its next run.
final class ScriptWorker: Sendable {
    /// Names it within the pool.
    let id: Int
    private let process: WorkerProcess
    private let whenFree: @Sendable (ScriptWorker) -> Void
    private let whenEnded: @Sendable (ScriptWorker) -> Void
    private let state = Mutex(State())

    private struct State {
        var channel: (any Channel)?
        var run: Run?
        /// Bytes passed on and not yet worked off; reading pauses while there are too many.
        var unread = 0
        var isPaused = false
        var isClosed = false
        var bundle: (app: String, version: Int64)?
    }

    /// What is on.
    private struct Run {
        let id: Int64
        let answers: WorkerAnswers
        /// When it must be over.
        let limit: ContinuousClock.Instant?
    }

    private static let unreadLimit = 32 << 20

    init(
        id: Int,
        process: WorkerProcess,
        whenFree: @escaping @Sendable (ScriptWorker) -> Void,
        whenEnded: @escaping @Sendable (ScriptWorker) -> Void
    ) {
        self.id = id
        self.process = process
        self.whenFree = whenFree
        self.whenEnded = whenEnded
    }

    /// Begins to read from it, on a loop; then it can be sent to.
    func open(on loop: any EventLoop, then ready: @escaping @Sendable () -> Void) {
        WorkerInput.open(process.socket, of: self, on: loop).whenComplete { result in
            switch result {
            case .success(let channel): self.state.withLock { $0.channel = channel }
            case .failure: self.close()
            }
            ready()
        }
    }

    /// The kernel's number of the process.
    var processID: Int32 { process.id }

    /// Begins a run; what the worker tells of it ends when the worker does, which is ended when it takes longer than
    /// until then.
    func begin(_ run: Int64, until limit: ContinuousClock.Instant?) -> WorkerAnswers {
        let answers = WorkerAnswers()
        let isClosed = state.withLock { state in
            state.run = Run(id: run, answers: answers, limit: limit)
            return state.isClosed
        }
        if isClosed { answers.end() }
        return answers
    }

    /// Gives up a run that was not sent; the worker is not freed by that.
    func withdraw(_ run: Int64) {
        state.withLock { state in
            if state.run?.id == run { state.run = nil }
        }
    }

    /// So many bytes were worked off.
    func consumed(_ bytes: Int) {
        let paused = state.withLock { state -> (any Channel)? in
            state.unread -= bytes
            guard state.isPaused, state.unread < Self.unreadLimit / 2 else { return nil }
            state.isPaused = false
            return state.channel
        }
        paused?.setOption(.autoRead, value: true).whenSuccess { paused?.read() }
    }

    /// Sends what the worker lacks of a bundle.
    func send(_ bundle: ScriptBundle) {
        let isKnown = state.withLock { state in
            defer { state.bundle = (bundle.app, bundle.version) }
            return state.bundle.map { $0 == (bundle.app, bundle.version) } ?? false
        }
        if isKnown { return }
        send(.bundle(bundle.document))
        for (path, content) in bundle.modules { send(.module(path: path, content: content)) }
    }

    /// Sends one request; false when it is too large, or cannot be written.
    @discardableResult
    func send(_ request: WorkerRequest) -> Bool {
        guard let bytes = try? WorkerFrame.encode(request.document) else { return false }
        // One that is gone takes nothing: its answers end.
        guard let channel = state.withLock(\.channel) else { return true }
        channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
        return true
    }

    /// Ends the process at once.
    func kill() {
        process.kill()
    }

    /// The same, unless that run is over.
    func kill(during run: Int64) {
        // Within the lock: afterwards it may be another's.
        state.withLock { state in
            if state.run?.id == run { process.kill() }
        }
    }

    /// How the process ended; waits for it.
    func exitCode() -> Int32 {
        process.waitForEnd()
    }

    /// Ends the process if its run takes longer than it may.
    func endOverdue(at now: ContinuousClock.Instant) {
        state.withLock { state in
            if let limit = state.run?.limit, now > limit { process.kill() }
        }
    }

    // MARK: On the event loop

    /// A frame has come; false when it says what no worker says.
    func take(_ frame: [UInt8]) -> Bool {
        // Nobody hears what comes after a run.
        guard state.withLock({ $0.run != nil }) else { return true }
        guard let document = try? WorkerFrame.decode(frame), let answer = WorkerAnswer(document) else {
            return false
        }
        let (run, isFree, paused) = state.withLock { state -> (Run?, Bool, (any Channel)?) in
            guard let run = state.run else { return (nil, false, nil) }
            let isFree = answer.freedBy == run.id
            if isFree { state.run = nil }
            state.unread += frame.count
            guard state.unread > Self.unreadLimit, !state.isPaused else { return (run, isFree, nil) }
            state.isPaused = true
            return (run, isFree, state.channel)
        }
        paused?.setOption(.autoRead, value: false).whenComplete { _ in }
        // First, so that one call after the other has the same worker.
        if isFree { whenFree(self) }
        run?.answers.put(answer, bytes: frame.count)
        return true
    }

    /// Nothing more comes.
    func close() {
        let (run, wasClosed) = state.withLock { state in
            defer {
                state.isClosed = true
                state.channel = nil
                state.run = nil
            }
            return (state.run, state.isClosed)
        }
        if wasClosed { return }
        process.kill()
        whenEnded(self)
        run?.answers.end()
    }
}

internal import BSON
import Glibc
import Synchronization

/// One worker as the gateway sees it: sends requests, and passes on what comes.
///
/// Sending never blocks: what the socket does not take waits here for the reactor's thread.
final class ScriptWorker: Sendable {
    /// Names it within the pool.
    let id: Int
    let socket: Int32
    private let process: WorkerProcess
    private let reactor: WorkerReactor
    private let whenEnded: @Sendable (ScriptWorker) -> Void
    private let state = Mutex(State())

    private struct State {
        var buffer = FrameBuffer()
        var outbox: ArraySlice<UInt8> = []
        var listener: WorkerFrames?
        /// Bytes passed on and not yet worked off; reading pauses while there are too many.
        var unread = 0
        var isPaused = false
        var isClosed = false
        var bundle: (app: String, version: Int64)?
        /// When the run must be over.
        var limit: ContinuousClock.Instant?
    }

    private let noSignal = Int32(truncatingIfNeeded: MSG_NOSIGNAL)
    private static let unreadLimit = 32 << 20

    init(
        id: Int,
        process: WorkerProcess,
        reactor: WorkerReactor,
        whenEnded: @escaping @Sendable (ScriptWorker) -> Void
    ) {
        self.id = id
        self.process = process
        self.reactor = reactor
        self.whenEnded = whenEnded
        socket = process.socket
    }

    /// The kernel's number of the process.
    var processID: Int32 { process.id }

    /// The frames of one run; ends when the worker does, which is ended when it takes longer than until then.
    func listen(until limit: ContinuousClock.Instant?) -> WorkerFrames {
        let frames = WorkerFrames()
        let isClosed = state.withLock { state in
            state.listener = frames
            state.limit = limit
            return state.isClosed
        }
        if isClosed { frames.end() }
        return frames
    }

    /// Nobody listens any more.
    func hush() {
        state.withLock { state in
            state.listener = nil
            state.limit = nil
        }
    }

    /// A frame was worked off.
    func consumed(_ bytes: Int) {
        state.withLock { state in
            state.unread -= bytes
            if state.isPaused, state.unread < Self.unreadLimit / 2, !state.isClosed {
                state.isPaused = false
                reactor.watch(self, reads: true, writes: !state.outbox.isEmpty)
            }
        }
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
        state.withLock { state in
            guard !state.isClosed else { return }
            let wasEmpty = state.outbox.isEmpty
            state.outbox += bytes
            if wasEmpty {
                flush(&state)
                if !state.outbox.isEmpty { reactor.watch(self, reads: !state.isPaused, writes: true) }
            }
        }
        return true
    }

    /// Ends the process at once.
    func kill() {
        process.kill()
    }

    /// How the process ended; waits for it.
    func exitCode() -> Int32 {
        process.waitForEnd()
    }

    // MARK: On the reactor's thread

    func endOverdue(at now: ContinuousClock.Instant) {
        if state.withLock({ $0.limit.map { now > $0 } ?? false }) { kill() }
    }

    func canWrite() {
        state.withLock { state in
            guard !state.isClosed else { return }
            flush(&state)
            if state.outbox.isEmpty { reactor.watch(self, reads: !state.isPaused, writes: false) }
        }
    }

    func canRead() {
        let hasEnded = state.withLock { state in
            guard !state.isClosed else { return false }
            return !read(&state)
        }
        if hasEnded { close() }
    }

    private func flush(_ state: inout State) {
        while !state.outbox.isEmpty {
            let sent = state.outbox.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, noSignal) }
            if sent > 0 {
                state.outbox.removeFirst(sent)
            } else if errno != EINTR {
                // Full, or broken: then reading finds out.
                if errno != EAGAIN { state.outbox = [] }
                return
            }
        }
        state.outbox = []
    }

    /// False when the worker is gone, or sent what it must not.
    private func read(_ state: inout State) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { space in
            let count = recv(socket, space.baseAddress, space.count, 0)
            if count < 0, errno == EINTR || errno == EAGAIN { return true }
            guard count > 0 else { return false }
            state.buffer.append(UnsafeRawBufferPointer(rebasing: space[0..<count]))
            do {
                while let frame = try state.buffer.next() {
                    guard let listener = state.listener else { continue }
                    state.unread += frame.count
                    listener.put(frame)
                }
            } catch {
                return false
            }
            if state.unread > Self.unreadLimit, !state.isPaused {
                state.isPaused = true
                reactor.watch(self, reads: false, writes: !state.outbox.isEmpty)
            }
            return true
        }
    }

    private func close() {
        reactor.remove(self)
        let listener = state.withLock { state in
            state.isClosed = true
            defer { state.listener = nil }
            return state.listener
        }
        process.kill()
        Glibc.close(socket)
        whenEnded(self)
        listener?.end()
    }
}

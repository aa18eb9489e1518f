import Accounts
public import Errors
import Glibc
import Synchronization
import Threading

/// Runs password hashes on threads of their own, few at a time, and turns callers away when too many wait.
///
/// A hash of the standard cost takes 128 MiB and some tenths of a second: unbounded, logins would be the
/// cheapest way to stop a gateway. Source: `reference/peers.md` §6.1, password hashing.
public final class PasswordQueue: Sendable {
    private struct Job: Sendable {
        let id: UInt64
        let work: @Sendable () -> Void
        let refuse: @Sendable () -> Void
    }

    private struct State: Sendable {
        var running = 0
        var nextID: UInt64 = 0
        var waiting: [Job] = []
    }

    /// Half of the machine's processors: a flood of logins leaves the other half to everybody else.
    public static let standardWidth = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)) / 2)
    /// On a processor that both want, requests for data get about three times as much of it.
    private static let niceness: Int32 = 5

    private let state = Mutex(State())
    private let width: Int
    private let capacity: Int

    /// - Parameters:
    ///   - width: Hashes at once.
    ///   - capacity: Callers that may wait beside those; one more is refused.
    public init(width: Int = PasswordQueue.standardWidth, capacity: Int = 64) {
        self.width = max(1, width)
        self.capacity = max(0, capacity)
    }

    /// Hashes at work at this moment.
    public var running: Int { state.withLock { $0.running } }

    /// Pieces of work that were ever asked for.
    public var turns: UInt64 { state.withLock { $0.nextID } }

    /// Callers that wait at this moment.
    public var waiting: Int { state.withLock { $0.waiting.count } }

    /// Runs one piece of work in turn.
    ///
    /// - Throws: ``ServiceError`` `tooManyRequests` when the queue is full, or when the caller was
    ///   cancelled before its turn.
    public func run<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value
    ) async throws(ServiceError) -> Value {
        let id = state.withLock { state in
            state.nextID &+= 1
            return state.nextID
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Value?, Never>) in
                submit(
                    Job(
                        id: id,
                        work: { continuation.resume(returning: work()) },
                        refuse: { continuation.resume(returning: nil) }
                    )
                )
            }
        } onCancel: {
            cancel(id)
        }
        guard let result else { throw AccountFailure.tooManyLogins }
        return result
    }

    private enum Admission {
        case start
        case wait
        case refuse
    }

    private func submit(_ job: Job) {
        let admission: Admission = state.withLock { state in
            if state.running < width {
                state.running += 1
                return .start
            }
            guard state.waiting.count < capacity else { return .refuse }
            state.waiting.append(job)
            return .wait
        }
        switch admission {
        case .start: start(job)
        case .wait: break
        case .refuse: job.refuse()
        }
    }

    private func start(_ job: Job) {
        // A thread of its own: Dispatch's queues share their few threads with Swift's tasks, all of which would wait
        // while passwords are hashed.
        DedicatedThread.start(name: "password", niceness: Self.niceness) {
            job.work()
            self.finished()
        }
    }

    private func finished() {
        let next: Job? = state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.running -= 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        if let next { start(next) }
    }

    private func cancel(_ id: UInt64) {
        let job: Job? = state.withLock { state in
            guard let index = state.waiting.firstIndex(where: { $0.id == id }) else { return nil }
            return state.waiting.remove(at: index)
        }
        job?.refuse()
    }
}

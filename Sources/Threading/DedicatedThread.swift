import Glibc

/// A serial executor with a thread of its own, for C libraries that block.
///
/// An actor that returns ``asUnownedSerialExecutor()`` as its `unownedExecutor` runs there and holds no
/// thread of the cooperative pool; ``run(_:)`` takes plain closures. Work runs in the order in which it
/// arrived. When the last reference goes, what is queued still runs, and the thread ends.
public final class DedicatedThread: SerialExecutor {
    private let inbox = Inbox()

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - name: Shown by `top -H` and debuggers; the kernel keeps 15 bytes.
    ///   - niceness: As for ``start(name:stackBytes:niceness:_:)``; programs that are started here have it, too.
    public init(name: String, niceness: Int32 = 0) {
        let inbox = inbox
        Self.start(name: name, niceness: niceness) {
            while let work = inbox.next() {
                switch work {
                case .job(let job, let executor): job.runSynchronously(on: executor)
                case .closure(let body): body()
                }
            }
        }
    }

    deinit {
        inbox.stop()
    }

    /// Queues one closure.
    public func run(_ body: @escaping @Sendable () -> Void) {
        inbox.append(.closure(body))
    }

    /// Queues one step of an actor.
    public func enqueue(_ job: consuming ExecutorJob) {
        inbox.append(.job(UnownedJob(job), asUnownedSerialExecutor()))
    }

    /// Starts a detached thread that runs one body to its end.
    ///
    /// - Parameters:
    ///   - name: As for ``init(name:)``.
    ///   - stackBytes: How deep it may call.
    ///   - niceness: How far others come first when processors are short, as for `nice`.
    ///   - body: What the thread does; it may block as it likes.
    public static func start(
        name: String,
        stackBytes: Int = 1 << 20,
        niceness: Int32 = 0,
        _ body: @escaping @Sendable () -> Void
    ) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, stackBytes)
        let start = Unmanaged.passRetained(
            ThreadStart(name: String(name.prefix(15)), niceness: niceness, body: body)
        )
        var thread = pthread_t()
        let status = pthread_create(
            &thread,
            &attributes,
            { context in
                guard let context else { return nil }
                let start = Unmanaged<ThreadStart>.fromOpaque(context).takeRetainedValue()
                nameThisThread(start.name)
                // Linux has this of a thread.
                if start.niceness != 0 { _ = nice(start.niceness) }
                start.body()
                return nil
            },
            start.toOpaque()
        )
        pthread_attr_destroy(&attributes)
        // Out of threads while a process composes itself: nothing sensible can follow.
        precondition(status == 0, "cannot start thread \(name): errno \(status)")
    }
}

/// Sets the calling thread's name; `pthread_setname_np` is not in Swift's Glibc module.
private func nameThisThread(_ name: String) {
    let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    _ = name.withCString { write(file, $0, strlen($0)) }
    close(file)
}

/// What a new thread needs, across the C boundary.
private final class ThreadStart: Sendable {
    let name: String
    let niceness: Int32
    let body: @Sendable () -> Void

    init(name: String, niceness: Int32, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.niceness = niceness
        self.body = body
    }
}

private enum Work: Sendable {
    case job(UnownedJob, UnownedSerialExecutor)
    case closure(@Sendable () -> Void)
}

/// A queue that a thread can sleep on.
///
/// `@unchecked Sendable`: every field is used under `mutex` alone, which `Synchronization.Mutex` cannot
/// replace since it has no condition variable.
private final class Inbox: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var arriving: [Work] = []
    private var leaving: ArraySlice<Work> = []
    private var isStopped = false

    init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func append(_ work: Work) {
        pthread_mutex_lock(mutex)
        arriving.append(work)
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    func stop() {
        pthread_mutex_lock(mutex)
        isStopped = true
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    /// The next piece of work; nil once stopped and empty.
    ///
    /// Called by the one thread only.
    func next() -> Work? {
        if let work = leaving.popFirst() { return work }
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while arriving.isEmpty && !isStopped { pthread_cond_wait(condition, mutex) }
        leaving = arriving[...]
        arriving = []
        return leaving.popFirst()
    }
}

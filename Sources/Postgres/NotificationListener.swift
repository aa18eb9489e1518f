import CEpoll
import CLibpq
import Errors
import Glibc
import Observability
import SQL
import Synchronization
import Threading

extension Database {
    /// What a listener hears.
    public enum Notification: Sendable, Equatable {
        /// Listening began, or began again after a break or an overflow: anything may have been missed.
        case reconnected
        /// A `NOTIFY`.
        case received(channel: String, payload: String)
    }
}

/// `LISTEN` over a connection and a thread of its own, connecting again whenever the connection breaks.
///
/// A thread, since it does nothing but wait: for the socket, for the next attempt, or for the end, which
/// arrives through an eventfd.
final class NotificationListener: Sendable {
    private let channels: [String]
    private let settings: PostgresSettings
    private let observer: Observer?
    private let continuation: AsyncStream<Database.Notification>.Continuation
    /// An eventfd: written to once, readable from then on.
    private let end = eventfd(0, Int32(EFD_CLOEXEC))
    private let isStopped = Atomic(false)

    init(
        channels: [String],
        settings: PostgresSettings,
        observer: Observer?,
        continuation: AsyncStream<Database.Notification>.Continuation
    ) {
        self.channels = channels
        self.settings = settings
        self.observer = observer
        self.continuation = continuation
    }

    deinit {
        Glibc.close(end)
    }

    /// Starts the thread, which keeps the listener alive until ``stop()``.
    func start() {
        DedicatedThread.start(name: "pg-listen") { self.loop() }
    }

    /// Whether ``stop()`` was called.
    var isEnded: Bool { isStopped.load(ordering: .acquiring) }

    /// Ends the listening and the stream.
    func stop() {
        guard !isStopped.exchange(true, ordering: .acquiringAndReleasing) else { return }
        var one: UInt64 = 1
        _ = write(end, &one, 8)
        continuation.finish()
    }

    private func loop() {
        var attempt = 0
        while !isStopped.load(ordering: .acquiring) {
            do throws(ServiceError) {
                let session = try OpenedSession(settings, extra: listening)
                attempt = 0
                observer?.record(.listening(channels: channels))
                tell(.reconnected)
                let reason = listen(on: session.take())
                guard !isStopped.load(ordering: .acquiring) else { return }
                observer?.record(.connectionLost(reason: "listener: \(reason)"))
            } catch {
                attempt += 1
                let full = min(5000, 50 << min(attempt - 1, 10))
                let delay = full / 2 + Int.random(in: 0...(full / 2))
                observer?.record(
                    .connectFailed(
                        reason: "listener: \(error.cause ?? error)",
                        attempt: attempt,
                        retryIn: .milliseconds(delay)
                    )
                )
                _ = wait(for: nil, milliseconds: Int32(delay))
            }
        }
    }

    /// Channel names are quoted as identifiers; a listening session may idle for days.
    private var listening: [String] {
        channels.map { "LISTEN \(SQLIdentifier($0).quoted)" } + ["SET application_name = 'tidegate listener'"]
    }

    /// Hands on what arrives until the session breaks or the end comes; returns why.
    private func listen(on handle: OpaquePointer) -> String {
        defer { PQfinish(handle) }
        while wait(for: PQsocket(handle), milliseconds: -1) {
            guard PQconsumeInput(handle) == 1 else {
                return PQerrorMessage(handle).map { String(cString: $0) } ?? "connection closed"
            }
            while let notification = PQnotifies(handle) {
                defer { PQfreemem(notification) }
                tell(
                    .received(
                        channel: String(cString: notification.pointee.relname),
                        payload: String(cString: notification.pointee.extra)
                    )
                )
            }
        }
        return "stopped"
    }

    private func tell(_ notification: Database.Notification) {
        if case .dropped = continuation.yield(notification) { continuation.yield(.reconnected) }
    }

    /// Sleeps until the socket can be read (true), or the time or the listening is over (false).
    private func wait(for socket: Int32?, milliseconds: Int32) -> Bool {
        var descriptors = [pollfd(fd: end, events: Int16(POLLIN), revents: 0)]
        if let socket { descriptors.append(pollfd(fd: socket, events: Int16(POLLIN), revents: 0)) }
        while poll(&descriptors, nfds_t(descriptors.count), milliseconds) < 0 && errno == EINTR {}
        return descriptors[0].revents == 0 && descriptors.count == 2
    }
}

internal import BSON
import Glibc
import Synchronization

/// The worker's end of the socket.
final class WorkerLink: Sendable {
    /// Where the gateway puts it.
    static let descriptor: Int32 = 3

    private let sending = Mutex<Void>(())
    /// Read by the main thread alone.
    private let received = Mutex(FrameBuffer())

    /// The gateway is gone, or speaks nonsense.
    struct Ended: Error {}

    /// The next message; nil when none came in time.
    func next(within timeout: Duration?) throws(Ended) -> WorkerRequest? {
        while true {
            if let frame = try buffered() {
                guard let document = try? WorkerFrame.decode(frame), let request = WorkerRequest(document)
                else {
                    throw Ended()
                }
                return request
            }
            guard try wait(timeout) else { return nil }
        }
    }

    /// Whether a message, or its beginning, has come.
    var hasInput: Bool {
        var entry = pollfd(fd: Self.descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) > 0
    }

    func send(_ answer: WorkerAnswer) throws(Ended) {
        guard let bytes = try? WorkerFrame.encode(answer.document) else { throw Ended() }
        guard sending.withLock({ _ in Self.write(bytes) }) else { throw Ended() }
    }

    /// Sends from a thread that is about to end the process; gives up when the main thread is just sending.
    func sendLast(_ answer: WorkerAnswer) {
        guard let bytes = try? WorkerFrame.encode(answer.document) else { return }
        for _ in 0..<50 {
            if sending.withLockIfAvailable({ _ in Self.write(bytes) }) != nil { return }
            usleep(1000)
        }
    }

    private func buffered() throws(Ended) -> [UInt8]? {
        let result = received.withLock { buffer in Result { try buffer.next() } }
        guard case .success(let frame) = result else { throw Ended() }
        return frame
    }

    /// Reads what has come; false when nothing came in time.
    private func wait(_ timeout: Duration?) throws(Ended) -> Bool {
        // Without a limit of time the reading itself waits.
        if let timeout {
            var entry = pollfd(fd: Self.descriptor, events: Int16(POLLIN), revents: 0)
            let milliseconds = Int32(clamping: Int64((timeout / .milliseconds(1)).rounded(.up)))
            let ready = poll(&entry, 1, milliseconds)
            if ready == 0 { return false }
            if ready < 0 {
                guard errno == EINTR else { throw Ended() }
                return true
            }
        }
        return try withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) {
            (space) throws(Ended) -> Bool in
            let count = recv(Self.descriptor, space.baseAddress, space.count, 0)
            if count < 0, errno == EINTR || errno == EAGAIN { return true }
            guard count > 0 else { throw Ended() }
            let bytes = UnsafeRawBufferPointer(rebasing: space[0..<count])
            received.withLock { $0.append(bytes) }
            return true
        }
    }

    private static func write(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { buffer in
            var sent = 0
            while sent < buffer.count {
                let rest = UnsafeRawBufferPointer(rebasing: buffer[sent...])
                let count = Glibc.send(
                    descriptor,
                    rest.baseAddress,
                    rest.count,
                    Int32(truncatingIfNeeded: MSG_NOSIGNAL)
                )
                if count > 0 {
                    sent += count
                } else if errno != EINTR {
                    return false
                }
            }
            return true
        }
    }
}

import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A lock that processes share: a file that one at a time has locked, until it lets go or dies.
struct FileLock: Sendable {
    let path: String

    /// A lock that is held.
    struct Held: ~Copyable {
        fileprivate let descriptor: Int32

        deinit {
            // Closing lets go only when nobody has a copy of the descriptor: a program that another thread
            // starts at this moment has one until its exec.
            flock(descriptor, LOCK_UN)
            close(descriptor)
        }

        /// Lets go; said where the end of a scope would not do.
        consuming func release() {}
    }

    private func open() throws -> Int32 {
        #if canImport(Darwin)
        let descriptor = Darwin.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        #else
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        #endif
        guard descriptor >= 0 else {
            throw TidegateError(.storage, "\(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        return descriptor
    }

    /// Takes the lock when nobody has it.
    func tryAcquire() throws -> Held? {
        let descriptor = try open()
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            return nil
        }
        return Held(descriptor: descriptor)
    }

    /// Waits for the lock on the caller's thread; for those who hold it for milliseconds.
    func acquireBlocking() throws -> Held {
        let descriptor = try open()
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else {
                let reason = String(cString: strerror(errno))
                close(descriptor)
                throw TidegateError(.storage, "\(path) cannot be locked: \(reason)")
            }
        }
        return Held(descriptor: descriptor)
    }

    /// Waits for the lock without holding a thread.
    ///
    /// - Throws: `CancellationError`, or ``TidegateError`` of the kind `storage`.
    func acquire() async throws -> Held {
        var pause = 2
        while true {
            if let held = try tryAcquire() { return held }
            try await Task.sleep(for: .milliseconds(pause))
            pause = min(pause * 2, 50)
        }
    }
}

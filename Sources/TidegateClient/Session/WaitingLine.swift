import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The order in which processes get a lock: first come, first served.
///
/// A lock of the kernel's goes to whoever is quickest when it is let go, which is who had it. Here each takes a number,
/// and waits for the one before it to be done, or dead. This keeps nobody out, which is the lock's part: where it fails,
/// turns are unfair, no more.
struct WaitingLine: Sendable {
    let path: String

    /// A place in the line; those behind it wait as long as it is held.
    struct Place: ~Copyable {
        fileprivate let descriptor: Int32

        deinit {
            // Closing lets go of the numbers.
            close(descriptor)
        }

        /// Leaves the line; said where the end of a scope would not do.
        consuming func leave() {}
    }

    /// Waits until whoever came before is gone, on the caller's thread.
    ///
    /// - Throws: ``TidegateError`` of the kind `storage` when the file cannot be opened.
    func wait() throws -> Place {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw TidegateError(.storage, "\(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        let place = Place(descriptor: descriptor)
        guard let number = takeNumber(descriptor) else { return place }
        if number > 0 { _ = lock(descriptor, number - 1, waits: true) }
        return place
    }

    /// The next number, locked before anybody can wait for it.
    private func takeNumber(_ descriptor: Int32) -> Int64? {
        while flock(descriptor, LOCK_EX) != 0 { guard errno == EINTR else { return nil } }
        defer { _ = flock(descriptor, LOCK_UN) }
        var number: Int64 = 0
        guard pread(descriptor, &number, 8, 0) >= 0 else { return nil }
        // Whatever stands there is a number that can be counted on from.
        number &= 0x0FFF_FFFF_FFFF_FFFF
        guard lock(descriptor, number, waits: false) else { return nil }
        var next = number &+ 1
        return pwrite(descriptor, &next, 8, 0) == 8 ? number : nil
    }

    /// Locks the byte of a number; bytes that are not there can be locked as well.
    private func lock(_ descriptor: Int32, _ number: Int64, waits: Bool) -> Bool {
        var range = flock()
        range.l_type = .init(F_WRLCK)
        range.l_whence = .init(SEEK_SET)
        range.l_start = .init(8 + number)
        range.l_len = 1
        while fcntl(descriptor, waits ? F_SETLKW : F_SETLK, &range) != 0 {
            guard errno == EINTR else { return false }
        }
        return true
    }
}

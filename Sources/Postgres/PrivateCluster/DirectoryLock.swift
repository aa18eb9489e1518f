import Errors
import Glibc

/// The exclusive use of a directory, until it is dropped or the process ends.
///
/// An advisory lock on a file, which the kernel gives up with the process, so none is ever left over.
final class DirectoryLock: Sendable {
    private let descriptor: Int32

    /// Takes the lock.
    ///
    /// - Throws: `invalidSetting` when another process holds it.
    init(_ path: String) throws(ServiceError) {
        let file = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o644)
        guard file >= 0 else {
            throw ServiceError(
                .invalidSetting,
                "cannot open \(path): \(String(cString: strerror(errno)))"
            )
        }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            let owner = Self.readOwner(file)
            close(file)
            throw ServiceError(
                .invalidSetting,
                "another tidegate\(owner) is already running on this data directory",
                details: ["lock": path]
            )
        }
        _ = ftruncate(file, 0)
        let text = "\(getpid())\n"
        _ = text.withCString { pwrite(file, $0, strlen($0), 0) }
        descriptor = file
    }

    deinit {
        // Closing alone would not do: a program that another thread starts at this moment has a copy of the
        // descriptor until its exec, and the lock lives as long as any copy.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    private static func readOwner(_ file: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = pread(file, &bytes, 16, 0)
        let digits = bytes.prefix(max(0, count)).prefix { (48...57).contains($0) }
        return digits.isEmpty ? "" : " (process \(String(decoding: digits, as: UTF8.self)))"
    }
}

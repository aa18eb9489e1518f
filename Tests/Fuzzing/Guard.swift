import Glibc
import Synchronization

/// Says which input it was when the process crashes on it, or does not come back from it.
enum Guard {
    private static let capacity = 1 << 16
    nonisolated(unsafe) private static let current = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    nonisolated(unsafe) private static var length = 0
    private static let begun = Atomic<Int>(0)
    /// Seconds that one input may take, on a busy machine, in a debug build.
    private static let patience = 60
    nonisolated(unsafe) private static var file: UnsafeMutablePointer<CChar>?

    /// - Parameter path: A file to keep the input in; the text on standard error is all there is without it.
    static func install(keepingIn path: String? = nil) {
        // No string may be made in a handler.
        file = path.flatMap { strdup($0) }
        // A stack that overflowed leaves no room for a handler.
        var alternate = stack_t()
        alternate.ss_sp = UnsafeMutableRawPointer.allocate(byteCount: 1 << 16, alignment: 16)
        alternate.ss_size = 1 << 16
        sigaltstack(&alternate, nil)
        for signal in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT, SIGFPE] {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { _ in Guard.die("CRASH on ") }
            action.sa_flags = Int32(SA_ONSTACK)
            sigaction(signal, &action, nil)
        }
        var thread = pthread_t()
        pthread_create(
            &thread,
            nil,
            { _ in
                while true {
                    sleep(1)
                    let start = Guard.begun.load(ordering: .relaxed)
                    if start > 0, time(nil) - start > Guard.patience { Guard.die("HANG on ") }
                }
            },
            nil
        )
    }

    static func enter(_ input: [UInt8]) {
        length = min(input.count, capacity)
        input.withUnsafeBufferPointer {
            if let base = $0.baseAddress { current.update(from: base, count: length) }
        }
        begun.store(time(nil), ordering: .relaxed)
    }

    static func leave() {
        begun.store(0, ordering: .relaxed)
    }

    private static func die(_ what: StaticString) {
        _ = write(2, what.utf8Start, what.utf8CodeUnitCount)
        _ = write(2, current, length)
        _ = write(2, "\n", 1)
        if let file {
            let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
            _ = write(descriptor, current, length)
            _ = write(2, "kept in ", 8)
            _ = write(2, file, strlen(file))
            _ = write(2, "\n", 1)
        }
        _exit(77)
    }
}

import Errors
import Glibc
import Synchronization

/// A program that we started, in a process group of its own, with its output in a file.
final class ChildProcess: Sendable {
    private let id: pid_t
    private let exitStatus = Mutex<Int32?>(nil)

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - command: Path and arguments.
    ///   - log: The file to which output and errors are appended.
    /// - Throws: `invalidSetting` when the program cannot be run.
    init(_ command: [String], log: String) throws(ServiceError) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_APPEND | O_CREAT, 0o644)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)

        // Signals that we ignore or block would stay so in the child.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)
        )

        var arguments = command.map { strdup($0) }
        defer { for argument in arguments { free(argument) } }
        arguments.append(nil)
        // Locale and time zone come from the command line, and `PG…` of the user's shell must not leak in.
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        var environment: [UnsafeMutablePointer<CChar>?] = [
            strdup("PATH=" + path), strdup("LC_ALL=C.UTF-8"), nil,
        ]
        defer { for variable in environment { free(variable) } }
        var id = pid_t()
        let status = posix_spawn(&id, command[0], &actions, &attributes, &arguments, &environment)
        guard status == 0 else {
            throw ServiceError(
                .invalidSetting,
                "cannot run \(command[0]): \(String(cString: strerror(status)))"
            )
        }
        self.id = id
    }

    /// Whether it still runs.
    var isAlive: Bool { reap(blocking: false) == nil }

    /// Waits for its end; returns the exit code, or 128 and the signal.
    func waitForEnd() -> Int32 { reap(blocking: true) ?? -1 }

    /// Asks PostgreSQL for a fast shutdown, insists after half a minute, and waits for the end.
    func stop() {
        for (signal, patience) in [(SIGINT, 1500), (SIGQUIT, 250), (SIGKILL, 250)] {
            guard isAlive else { return }
            kill(id, signal)
            for _ in 0..<patience where isAlive { Pause.milliseconds(20) }
        }
    }

    private func reap(blocking: Bool) -> Int32? {
        exitStatus.withLock { known in
            if let known { return known }
            var status: Int32 = 0
            var answer = waitpid(id, &status, blocking ? 0 : WNOHANG)
            while answer < 0 && errno == EINTR { answer = waitpid(id, &status, blocking ? 0 : WNOHANG) }
            if answer == 0 { return nil }
            // A child that somebody else has reaped is gone all the same.
            known = answer < 0 ? -1 : (status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + status & 0x7f)
            return known
        }
    }
}

/// Sleeping on a thread that may block.
enum Pause {
    static func milliseconds(_ count: UInt32) {
        usleep(count * 1000)
    }
}

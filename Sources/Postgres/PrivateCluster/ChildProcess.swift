import Errors
import Glibc
import Synchronization
import Threading

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
        // Locale and time zone come from the command line, and `PG…` of the user's shell must not leak in.
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        let (id, status) = ProgramStart.spawn(command, environment: ["PATH=" + path, "LC_ALL=C.UTF-8"]) {
            posix_spawn_file_actions_addopen(&$0, 0, "/dev/null", O_RDONLY, 0)
            posix_spawn_file_actions_addopen(&$0, 1, log, O_WRONLY | O_APPEND | O_CREAT, 0o644)
            posix_spawn_file_actions_adddup2(&$0, 1, 2)
        }
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

internal import CScriptRuntime
import Glibc
import Synchronization
import Threading

/// A child process that shares a socket with us and nothing else.
///
/// It gets descriptor 3 and `/dev/null` three times, an environment of the engine's own settings, and a
/// process group of its own.
final class WorkerProcess: Sendable {
    /// Our end of the socket; the owner closes it.
    let socket: Int32
    /// The kernel's number.
    let id: pid_t
    private let exitStatus = Mutex<Int32?>(nil)

    /// It could not be started.
    struct NotStarted: Error {
        let reason: String
    }

    /// Starts a program.
    ///
    /// To be called on a thread that lives as long as the child may: the kernel ends the child with the
    /// thread that started it.
    init(_ command: [String], memoryBytes: Int) throws(NotStarted) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw NotStarted(reason: "no socket pair: \(String(cString: strerror(errno)))")
        }
        defer { close(ends[1]) }

        // Nothing of ours: it may hold secrets. The engine collects garbage with the memory in mind that it
        // may use. Most of what it runs is short, and of the runtime: its last tier costs more than it gains
        // until a loop has gone round so often. Collecting while a script runs crashed workers that were given new
        // sources again and again, once in some 20,000; without it none did in 86,000.
        let (id, status) = ProgramStart.spawn(
            command,
            // A worker that crashes is reported by its pool; printing its stack would keep a process for minutes.
            environment: [
                "LC_ALL=C.UTF-8", "TZ=UTC", "JSC_forceRAMSize=\(memoryBytes)",
                "JSC_thresholdForFTLOptimizeAfterWarmUp=1000000", "JSC_useConcurrentGC=0",
                "SWIFT_BACKTRACE=enable=no",
            ]
        ) {
            posix_spawn_file_actions_adddup2(&$0, ends[1], 3)
            posix_spawn_file_actions_addopen(&$0, 0, "/dev/null", O_RDONLY, 0)
            posix_spawn_file_actions_addopen(&$0, 1, "/dev/null", O_WRONLY, 0)
            posix_spawn_file_actions_adddup2(&$0, 1, 2)
            cscript_close_from(&$0, 4)
        }
        guard status == 0 else {
            close(ends[0])
            throw NotStarted(reason: "cannot run \(command[0]): \(String(cString: strerror(status)))")
        }
        self.id = id
        socket = ends[0]
        _ = fcntl(socket, F_SETFL, O_NONBLOCK)
    }

    /// Ends it at once; harmless when it has ended.
    func kill() {
        exitStatus.withLock { known in
            if known == nil { _ = Glibc.kill(id, SIGKILL) }
        }
    }

    /// Waits for its end; returns the exit code, or 128 and the signal.
    @discardableResult
    func waitForEnd() -> Int32 {
        var status: Int32 = 0
        // Waits without the lock, and without reaping, so that `kill` never meets a number that is another's.
        var information = siginfo_t()
        while waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
        return exitStatus.withLock { known in
            if let known { return known }
            var answer = waitpid(id, &status, 0)
            while answer < 0 && errno == EINTR { answer = waitpid(id, &status, 0) }
            // A child that somebody else has reaped is gone all the same.
            let code = answer < 0 ? -1 : (status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + status & 0x7f)
            known = code
            return code
        }
    }
}

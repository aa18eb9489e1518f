public import Errors
import Synchronization
import Threading

/// A PostgreSQL cluster of our own in a directory, reached by a Unix socket alone.
///
/// For development and tests: the same engine as in production, nothing to set up. The server is a child
/// process in a process group of its own (Ctrl-C reaches only us, and we stop it) and is told by the kernel
/// to shut down when this process dies. A server that was left over nevertheless is stopped by the next
/// ``start()``. As root, the server runs as the user `postgres`, since it refuses to run as root.
///
/// In the directory: `data`, `socket`, `postgres.log`, and `lock`, held while this process uses it.
public final class PrivateCluster: Sendable {
    /// Whether acknowledged writes survive a crash of the machine.
    public enum Durability: Sendable {
        /// As PostgreSQL comes.
        case durable
        /// No waiting for the disk: for tests, where the cluster is thrown away.
        case none
    }

    private struct Running {
        var process: ChildProcess
        var lock: DirectoryLock
    }

    private let layout: ClusterLayout
    private let durability: Durability
    /// Starts the server: the kernel ties the child's life to the thread that made it, not to the process.
    private let thread = DedicatedThread(name: "pg-cluster")
    private let running = Mutex<Running?>(nil)

    /// Names a directory; nothing is touched before ``start()``.
    public init(directory: String, durability: Durability = .durable) {
        layout = ClusterLayout(directory: directory)
        self.durability = durability
    }

    /// Makes the cluster when there is none, starts it, and sees to it that a database exists.
    ///
    /// - Parameter database: The database to make when it is not there.
    /// - Throws: `invalidSetting` when another process uses the directory, PostgreSQL is not installed, or
    ///   the user `postgres` cannot reach the directory; `internalServerError` when the server does not
    ///   start, with the end of its log in `details["log"]`.
    public func start(database: String = "tidegate") async throws(ServiceError) {
        let outcome = await withUnsafeContinuation {
            (waiting: UnsafeContinuation<Result<Void, ServiceError>, Never>) in
            thread.run {
                do throws(ServiceError) {
                    try self.startBlocking(database)
                    waiting.resume(returning: .success(()))
                } catch {
                    waiting.resume(returning: .failure(error))
                }
            }
        }
        try outcome.get()
    }

    /// Stops the server and waits for it: running transactions are rolled back, data is written out.
    public func stop() async {
        await withUnsafeContinuation { (waiting: UnsafeContinuation<Void, Never>) in
            thread.run {
                self.stopNow()
                waiting.resume()
            }
        }
    }

    /// As ``stop()``, blocking: for the end of a process.
    public func stopNow() {
        running.withLock { running in
            guard let server = running?.process else { return }
            server.stop()
            layout.removeFarSocketDirectory()
            running = nil
        }
    }

    /// Whether the server process is alive.
    public var isRunning: Bool { running.withLock { $0?.process.isAlive ?? false } }

    /// How to reach a database of the cluster, as its superuser.
    public func connectionString(database: String = "tidegate") -> String {
        "host='\(layout.socketDirectory.escaped)' user=postgres dbname='\(database.escaped)'"
    }

    private func startBlocking(_ database: String) throws(ServiceError) {
        guard !isRunning else { return }
        // A server that crashed; what held the directory for it goes, or we would lock ourselves out.
        running.withLock { $0 = nil }
        let tools = try ClusterTools.find()
        try layout.prepare(owner: tools.account)
        let lock = try DirectoryLock(layout.lockFile)
        LeftoverServer.stop(dataDirectory: layout.dataDirectory)
        if !layout.isInitialized { try initialize(tools) }
        layout.trimLog()
        let process = try ChildProcess(
            tools.command("postgres", serverArguments, endsWithUs: true),
            log: layout.logFile
        )
        do throws(ServiceError) {
            try waitUntilReady(process)
            try create(database)
        } catch {
            process.stop()
            throw error
        }
        running.withLock { $0 = Running(process: process, lock: lock) }
    }

    private func initialize(_ tools: ClusterTools) throws(ServiceError) {
        // Made beside its place and moved there when whole: being killed halfway leaves no half a cluster.
        try layout.prepareFresh(owner: tools.account)
        var arguments = [
            "-D", layout.freshDirectory, "-U", "postgres", "--auth-local=trust", "--auth-host=reject",
            "--encoding=UTF8", "--locale=C.UTF-8", "--no-instructions",
        ]
        if durability == .none { arguments.append("--no-sync") }
        let initdb = try ChildProcess(
            tools.command("initdb", arguments, endsWithUs: true),
            log: layout.logFile
        )
        guard initdb.waitForEnd() == 0 else { throw failure("initdb failed") }
        try layout.adoptFresh()
    }

    private var serverArguments: [String] {
        var settings = [
            "listen_addresses=", "unix_socket_directories=\(layout.socketDirectory)", "max_connections=200",
            "shared_buffers=256MB", "max_wal_size=2GB", "jit=off", "timezone=UTC", "log_timezone=UTC",
            "unix_socket_permissions=0700", "logging_collector=off", "cluster_name=tidegate",
        ]
        if durability == .none {
            settings += ["fsync=off", "synchronous_commit=off", "full_page_writes=off"]
        }
        return ["-D", layout.dataDirectory] + settings.flatMap { ["-c", $0] }
    }

    private func waitUntilReady(_ process: ChildProcess) throws(ServiceError) {
        let end = Timeline.adding(.seconds(60), to: Timeline.now)
        while true {
            do throws(ServiceError) {
                _ = try OpenedSession(
                    PostgresSettings(connectionString: connectionString(database: "postgres"))
                )
                return
            } catch {
                guard error.code == .maintenanceInProgress else { throw error }
            }
            guard process.isAlive else { throw failure("PostgreSQL ended while starting") }
            guard Timeline.now < end else { throw failure("PostgreSQL did not become ready within a minute") }
            Pause.milliseconds(20)
        }
    }

    private func create(_ database: String) throws(ServiceError) {
        guard database != "postgres" else { return }
        do throws(ServiceError) {
            _ = try OpenedSession(PostgresSettings(connectionString: connectionString(database: database)))
        } catch {
            let settings = PostgresSettings(connectionString: connectionString(database: "postgres"))
            let quoted = "\"" + database.replacing("\"", with: "\"\"") + "\""
            _ = try OpenedSession(settings, alone: "CREATE DATABASE \(quoted)")
        }
    }

    private func failure(_ message: String) -> ServiceError {
        ServiceError(
            .internalServerError,
            "\(message); see \(layout.logFile)",
            details: ["log": layout.logTail()]
        )
    }
}

extension String {
    /// For a quoted value in a libpq connection string.
    fileprivate var escaped: String {
        replacing("\\", with: "\\\\").replacing("'", with: "\\'")
    }
}

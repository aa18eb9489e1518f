import Foundation
import Glibc
import Postgres
import SQL
import Synchronization

/// The PostgreSQL of a run: durable as in production, and at our mercy.
final class DatabaseServer: Sendable {
    let directory: String
    private let cluster: PrivateCluster

    init(directory: String) {
        self.directory = directory
        cluster = PrivateCluster(directory: directory, durability: .durable)
    }

    /// Where its socket is.
    var socketDirectory: String { directory + "/socket" }

    /// How to reach it directly, past the proxy.
    var connectionString: String { cluster.connectionString() }

    func start() throws {
        try wait { [cluster] in try await cluster.start() }
    }

    /// A fast shutdown, as `systemctl restart` does.
    func restartFast() throws {
        try wait { [cluster] in await cluster.stop() }
        try start()
    }

    /// As after a loss of power: no process has time for anything; then recovery from the write-ahead log.
    func crashAndRecover() throws {
        for process in processes() { kill(process, SIGKILL) }
        while cluster.isRunning || !processes().isEmpty { usleep(2000) }
        try start()
    }

    /// As when only the postmaster dies: the others end as they notice, while the next server starts.
    func loseMasterAndRecover() throws {
        if let master { kill(master, SIGKILL) }
        while cluster.isRunning { usleep(2000) }
        try start()
    }

    /// Everything of PostgreSQL's stands still.
    func freeze() {
        for process in processes() { kill(process, SIGSTOP) }
    }

    func thaw() {
        for process in processes() { kill(process, SIGCONT) }
    }

    /// The processes that serve gateways.
    func backends() throws -> [Int32] {
        try query(
            "SELECT pid FROM pg_stat_activity WHERE application_name = 'tidegate' AND backend_type = 'client backend'"
        ).compactMap { Int32($0[0]) }
    }

    func stop() {
        thaw()
        cluster.stopNow()
    }

    /// Rows as text, read over a session of our own.
    func query(_ statement: SQLFragment) throws -> [[String]] {
        let connection = connectionString
        return try wait {
            var settings = PostgresSettings(connectionString: connection, maxConnections: 1)
            // The fault before may have left PostgreSQL in recovery.
            settings.acquireTimeout = .seconds(60)
            let database = Database(settings: settings)
            do {
                let rows = try await database.run(statement, within: .seconds(60))
                await database.close()
                return (0..<rows.rowCount).map { row in
                    rows.columns.indices.map { rows.text(row, $0) ?? "" }
                }
            } catch {
                await database.close()
                throw error
            }
        }
    }

    private var master: Int32? {
        guard let text = try? String(contentsOfFile: directory + "/data/postmaster.pid", encoding: .utf8)
        else { return nil }
        return text.split(separator: "\n").first.flatMap { Int32($0) }
    }

    /// Every process works in the data directory.
    private func processes() -> [Int32] {
        let data = directory + "/data"
        return ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap {
            Int32($0)
        }
        .filter { (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\($0)/cwd")) == data }
    }

    private func wait<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
        let done = DispatchSemaphore(value: 0)
        let outcome = Mutex<Result<Value, any Error>?>(nil)
        Task.detached {
            do {
                let value = try await body()
                outcome.withLock { $0 = .success(value) }
            } catch {
                outcome.withLock { $0 = .failure(error) }
            }
            done.signal()
        }
        done.wait()
        guard let result = outcome.withLock({ $0 }) else { preconditionFailure("the task left no outcome") }
        return try result.get()
    }
}

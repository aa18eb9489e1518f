import Errors
import Foundation
import SQL
import TestSupport
import Testing

@testable import Postgres

@Suite("Private cluster")
struct PrivateClusterTests {
    private func directory(_ name: String) -> String {
        "/tmp/tidegate-tests-\(ProcessInfo.processInfo.processIdentifier)-\(name)"
    }

    private func remember(_ text: String, in cluster: PrivateCluster) async throws {
        let database = Database(settings: .patient(cluster.connectionString()))
        _ = try await database.run("CREATE TABLE IF NOT EXISTS public.memory (text text)")
        _ = try await database.run("INSERT INTO public.memory VALUES (\(bind: .text(text)))")
        await database.close()
    }

    private func memory(of cluster: PrivateCluster) async throws -> Int? {
        let database = Database(settings: .patient(cluster.connectionString()))
        let count = try await database.run("SELECT count(*) FROM public.memory").int(0, 0)
        await database.close()
        return count
    }

    @Test("keeps its data over a stop and a start")
    func keepsData() async throws {
        let path = directory("keeps")
        defer { try? FileManager.default.removeItem(atPath: path) }
        let first = PrivateCluster(directory: path, durability: .none)
        try await first.start()
        try await remember("a", in: first)
        await first.stop()
        #expect(!first.isRunning)
        let second = PrivateCluster(directory: path, durability: .none)
        try await second.start()
        #expect(try await memory(of: second) == 1)
        await second.stop()
    }

    @Test("refuses a directory that is in use")
    func refusesSecond() async throws {
        let path = directory("second")
        defer { try? FileManager.default.removeItem(atPath: path) }
        let first = PrivateCluster(directory: path, durability: .none)
        try await first.start()
        let error = await #expect(throws: ServiceError.self) {
            try await PrivateCluster(directory: path, durability: .none).start()
        }
        #expect(error?.code == .invalidSetting)
        #expect(error?.message.contains("already running") == true)
        await first.stop()
    }

    @Test("starts again after its server was killed, with whatever of it still runs")
    func startsAfterCrash() async throws {
        let path = directory("crash")
        defer { try? FileManager.default.removeItem(atPath: path) }
        let cluster = PrivateCluster(directory: path, durability: .durable)
        try await cluster.start()
        try await remember("a", in: cluster)
        // A session in the middle of a statement notices only later that its postmaster is gone.
        let busy = Database(settings: .patient(cluster.connectionString()))
        let statement = Task { try await busy.run("SELECT count(*) FROM generate_series(1, 1e12::bigint)") }
        try await eventually { busy.health.leased == 1 }
        let pid = try String(contentsOfFile: path + "/data/postmaster.pid", encoding: .utf8)
        let master = try #require(pid.split(separator: "\n").first.flatMap { pid_t($0) })
        kill(master, SIGKILL)
        try await eventually { !cluster.isRunning }
        try await cluster.start()
        #expect(try await memory(of: cluster) == 1)
        await #expect(throws: ServiceError.self) { try await statement.value }
        await busy.close()
        await cluster.stop()
    }

    @Test("gives its directory up although a program that is being started has a copy of the descriptor")
    func givesUpCopiedLock() throws {
        let path = directory("lock")
        defer { try? FileManager.default.removeItem(atPath: path) }
        var lock: DirectoryLock? = try DirectoryLock(path)
        let copy = try copyDescriptor(of: path)
        defer { close(copy) }
        #expect(throws: ServiceError.self) { try DirectoryLock(path) }
        #expect(lock != nil)
        lock = nil
        lock = try DirectoryLock(path)
    }

    @Test("uses a short directory for its socket when the path is too long for one")
    func shortensSocket() async throws {
        let path = directory("long") + "/" + String(repeating: "x", count: 100)
        defer { try? FileManager.default.removeItem(atPath: directory("long")) }
        let cluster = PrivateCluster(directory: path, durability: .none)
        try await cluster.start()
        try await remember("a", in: cluster)
        #expect(!cluster.connectionString().contains("xxx"))
        await cluster.stop()
    }

    @Test("says which directory PostgreSQL's user may not enter", .enabled(if: geteuid() == 0))
    func saysWhatIsClosed() async throws {
        let path = directory("closed")
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        defer { try? FileManager.default.removeItem(atPath: path) }
        let error = await #expect(throws: ServiceError.self) {
            try await PrivateCluster(directory: path + "/inner", durability: .none).start()
        }
        #expect(error?.code == .invalidSetting)
        #expect(error?.message.contains(path) == true)
    }
}

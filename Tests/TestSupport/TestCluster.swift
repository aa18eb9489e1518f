import Errors
import Foundation
import Migrations
public import Postgres
import SQL
import Synchronization

/// The private PostgreSQL cluster of one test process: started when first needed, gone with the process.
public actor TestCluster {
    /// The one of this process.
    public static let shared = TestCluster()

    private static let directory = "/tmp/tidegate-tests-\(getpid())"
    private static let started = Mutex<PrivateCluster?>(nil)
    private var start: Task<PrivateCluster, any Error>?
    private var template: Task<Void, any Error>?
    private var serial = 0

    /// The cluster, running.
    public func cluster() async throws -> PrivateCluster {
        if let start { return try await start.value }
        let task = Task {
            Self.removeLeftovers()
            let cluster = PrivateCluster(directory: Self.directory, durability: .none)
            try await cluster.start()
            Self.started.withLock { $0 = cluster }
            atexit { TestCluster.end() }
            return cluster
        }
        start = task
        return try await task.value
    }

    /// A new database; returns its connection string.
    ///
    /// - Parameter migrated: Whether it has been through the migrations, or is empty.
    /// - Returns: A connection string for its superuser.
    /// - Throws: What starting the cluster or migrating throws.
    public func makeDatabase(migrated: Bool) async throws -> String {
        let cluster = try await cluster()
        if migrated { try await prepareTemplate(cluster) }
        serial += 1
        let name = "test_\(serial)"
        let source = migrated ? "migrated" : "template0"
        try await administer(
            cluster,
            "CREATE DATABASE \(SQLIdentifier(name)) TEMPLATE \(SQLIdentifier(source))"
        )
        return cluster.connectionString(database: name)
    }

    private func prepareTemplate(_ cluster: PrivateCluster) async throws {
        if let template { return try await template.value }
        let task = Task {
            try await self.administer(cluster, "CREATE DATABASE migrated TEMPLATE template0")
            let database = Database(
                settings: .patient(cluster.connectionString(database: "migrated"), maxConnections: 1)
            )
            try await Migrator(database: database).migrate()
            // A template must have no session; the server may notice the end of ours a little later.
            await database.close()
        }
        template = task
        try await task.value
    }

    private func administer(_ cluster: PrivateCluster, _ statement: SQLFragment) async throws {
        let database = Database(
            settings: .patient(cluster.connectionString(database: "postgres"), maxConnections: 1)
        )
        var patience = 3000
        while try await isInUse(database, statement, mayFail: patience > 0) {
            patience -= 1
            try await Task.sleep(for: .milliseconds(20))
        }
        await database.close()
    }

    /// Runs a statement; true when it may be tried again since somebody still uses the template.
    private func isInUse(_ database: Database, _ statement: SQLFragment, mayFail: Bool) async throws -> Bool {
        do throws(ServiceError) {
            _ = try await database.run(statement)
            return false
        } catch {
            guard mayFail, error.postgresFailure?.sqlState == SQLState("55006") else { throw error }
            return true
        }
    }

    private static func end() {
        started.withLock { $0?.stopNow() }
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Directories of test processes that were killed; their servers ended with them.
    private static func removeLeftovers() {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/tmp")) ?? []
        where name.hasPrefix("tidegate-tests-") {
            guard let id = pid_t(name.dropFirst("tidegate-tests-".count)), kill(id, 0) != 0, errno == ESRCH
            else { continue }
            try? FileManager.default.removeItem(atPath: "/tmp/" + name)
        }
    }
}

import BSON
import Foundation
package import Postgres
import SQL
package import Sync
package import TestSupport

/// One server with the app of random scripts, for all of them.
package struct SyncModelServer: Sendable {
    package let api: APICaller
    package let users: [APICaller.User]
    package let database: Database
    package let schema: [Instruction]
    /// Whether its devices hold partitions.
    package let isPartitioned: Bool

    private static let task = Task { try await start(SyncModelApp.files, "sync-model", false) }
    private static let partitions = Task {
        try await start(SyncModelApp.partitionedFiles, "sync-model-partitions", true)
    }

    private static func start(
        _ files: [String: String],
        _ name: String,
        _ isPartitioned: Bool
    ) async throws -> SyncModelServer {
        let server = try await RunningServer.start(app: files, name: name)
        let api = APICaller(server: server, app: SyncModelApp.clientAppID)
        return SyncModelServer(
            api: api,
            users: [try await api.newUser(), try await api.newUser()],
            database: Database(
                settings: PostgresSettings(connectionString: server.database, maxConnections: 2)
            ),
            schema: try SyncModelApp.schema(),
            isPartitioned: isPartitioned
        )
    }

    package static func shared() async throws -> SyncModelServer { try await task.value }

    /// The same with partition-based sync.
    package static func partitioned() async throws -> SyncModelServer { try await partitions.value }

    /// The same for new users: a login is good for half an hour.
    package func withNewUsers() async throws -> SyncModelServer {
        SyncModelServer(
            api: api,
            users: [try await api.newUser(), try await api.newUser()],
            database: database,
            schema: schema,
            isPartitioned: isPartitioned
        )
    }

    /// A new device that holds the objects of one script.
    package func device(of user: APICaller.User, group: String) throws -> RealmClient {
        let device = RealmClient(
            api,
            user,
            schema: schema,
            partition: isPartitioned ? #""\#(group)""# : nil
        )
        try device.connect()
        if !isPartitioned { try device.subscribe(["T": #"(g == "\#(group)")"#]) }
        try device.catchUp()
        return device
    }

    /// What PostgreSQL holds of one script.
    package func stored(_ group: String) async throws -> RealmState {
        let rows = try await database.run(
            #"SELECT doc FROM todo."T" WHERE doc->>'g' = \#(bind: .text(group))"#,
            within: .seconds(60)
        )
        let documents = try (0..<rows.rowCount).map { row in
            try StoredForm.read(Array((rows.text(row, 0) ?? "").utf8), shape: nil)
        }
        return try RealmState(documents, of: ByteText("T"))
    }

    /// Waits until all that was written past devices is history.
    package func settle() async throws {
        for _ in 0..<30_000 {
            let rows = try await database.run(
                "SELECT count(*) FROM tidegate.sync_pending",
                within: .seconds(60)
            )
            if rows.text(0, 0) == "0" { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw BrokenRule("what was written past devices does not become history")
    }
}

import Foundation
import Postgres
import TestSupport
import Testing

/// The request log while PostgreSQL is away.
@Suite("Request log and outages")
struct LogOutageTests {
    @Test("keeps rows while PostgreSQL is stopped, and writes what is left when the gateway ends")
    func outage() async throws {
        let directory = "/tmp/tidegate-tests-\(ProcessInfo.processInfo.processIdentifier)-logs"
        let cluster = PrivateCluster(directory: directory, durability: .none)
        try await cluster.start()
        let database = cluster.connectionString()
        try Shell.run(RunningServer.binary, ["migrate", "--database-url", database])
        try Shell.psql(database, "select tidegate.create_app('outage', 'outage-abcde')")
        let server = try await RunningServer.start(
            database: database,
            name: "log-outage",
            arguments: ["--log-retention", "1"]
        )
        let api = APICaller(server: server, app: "outage-abcde")
        func fail() async throws -> String {
            let answer = try await api.act("find", "Item", as: ["apiKey": "nonsense"])
            #expect(answer.status >= 400)
            return try #require(answer.header("X-Appservices-Request-Id"))
        }
        func count(_ ids: [String]) throws -> Int? {
            let list = ids.map { "'\($0)'" }.joined(separator: ",")
            return Int(
                try Shell.psql(database, "select count(*) from tidegate.logs where request_id in (\(list))")
            )
        }
        let before = try await fail()
        try await eventually { try count([before]) == 1 }
        await cluster.stop()
        var during: [String] = []
        for _ in 0..<20 { during.append(try await fail()) }
        try await cluster.start()
        try await eventually { try count(during) == 20 }
        // One that waits when the server is told to end.
        let last = try await fail()
        server.stop()
        #expect(try count([before, last] + during) == 22)
        await cluster.stop()
        try? FileManager.default.removeItem(atPath: directory)
    }
}

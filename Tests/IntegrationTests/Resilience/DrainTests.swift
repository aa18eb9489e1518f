import Foundation
import Postgres
import SQL
import Synchronization
import TestSupport
import Testing
import Threading

@Suite("A gateway that is told to stop")
struct DrainTests {
    /// Holds a collection's table, so that writes to it stay in flight until it lets go.
    private final class Lock: Sendable {
        private let database: Database
        private let (release, releasing) = AsyncStream.makeStream(of: Void.self)
        private let collection: String

        init(_ database: Database, _ collection: String) {
            self.database = database
            self.collection = collection
        }

        /// Returns once it has the table.
        func hold() async throws -> Task<Void, any Error> {
            let (taken, taking) = AsyncStream.makeStream(of: Void.self)
            let task = Task { [database, collection, release] in
                let table: SQLFragment = "\(SQLIdentifier("todo")).\(SQLIdentifier(collection))"
                try await database.transaction(within: .seconds(60)) { transaction in
                    _ = try await transaction.run("LOCK TABLE \(table) IN ACCESS EXCLUSIVE MODE")
                    taking.finish()
                    for await _ in release { break }
                }
            }
            for await _ in taken {}
            return task
        }

        func letGo() {
            releasing.finish()
        }

        /// How many statements wait for the table.
        func waiting() async throws -> Int {
            try await database.run(
                """
                SELECT count(*) FROM pg_locks
                WHERE NOT granted AND relation = \(bind: .text("todo.\"\(collection)\""))::regclass
                """
            ).int(0, 0) ?? 0
        }
    }

    private func setUp(_ collection: String) async throws -> (Database, APICaller.User, APICaller) {
        let (api, user) = try await SharedServer.user()
        _ = try await api.act("insertOne", collection, #""document":{"n":0}"#, as: user.bearer)
        let database = Database(
            settings: .patient(api.server.database, maxConnections: 3)
        )
        return (database, user, api)
    }

    private func insert(
        _ port: UInt16,
        _ user: APICaller.User,
        _ number: Int,
        _ collection: String = "Bytes"
    ) async -> Int {
        await withCheckedContinuation { waiting in
            Thread.detachNewThread {
                let http = PlainHTTP(port: port)
                let status = try? insertOne(http, collection, number, user).status
                waiting.resume(returning: status ?? 0)
            }
        }
    }

    @Test("is not ready at once, finishes what is in flight, and ends with 0")
    func finishesRequests() async throws {
        let (database, user, api) = try await setUp("Bytes")
        let gateway = try GatewayProcess(database: api.server.database, arguments: ["--drain-delay", "2"])
        defer { gateway.remove() }
        let port = try await gateway.started()
        let lock = Lock(database, "Bytes")
        let held = try await lock.hold()
        let requests = (1...6).map { number in Task { await insert(port, user, number) } }
        try await eventually { try await lock.waiting() >= 6 }
        gateway.send(SIGTERM)
        try await eventually { (try? PlainHTTP(port: port).send("GET", "/ready").status) != 200 }
        // Only once nobody can connect any more are the requests let on.
        try await eventually {
            do throws(PlainHTTP.Failure) {
                _ = try PlainHTTP(port: port).send("GET", "/health")
                return false
            } catch {
                if case .refused = error { return true }
                return false
            }
        }
        lock.letGo()
        try await held.value
        for request in requests { #expect(await request.value == 201) }
        try await eventually { gateway.exitCode != nil }
        #expect(gateway.exitCode == 0, "\(gateway.output)")
        await database.close()
    }

    @Test("finishes an answer that its client takes slowly")
    func finishesSlowReader() async throws {
        let (database, user, api) = try await setUp("Open")
        let text = String(repeating: "x", count: 1 << 20)
        for _ in 0..<12 {
            let big = #""document":{"big":"\#(text)","ownerId":"\#(user.id)"}"#
            #expect(try await api.act("insertOne", "Open", big, as: user.bearer).status == 201)
        }
        let gateway = try GatewayProcess(database: api.server.database, arguments: ["--drain-delay", "0"])
        defer { gateway.remove() }
        let port = try await gateway.started()
        let path = "/app/\(api.app)/endpoint/data/v1/action/find"
        let body =
            #"{"dataSource":"mongodb-atlas","database":"todo","collection":"Open","filter":{"ownerId":"\#(user.id)"}}"#
        let answer: PlainHTTP.Answer? = await withCheckedContinuation { waiting in
            Thread.detachNewThread {
                let headers = [
                    ("Content-Type", "application/json"), ("Authorization", "Bearer \(user.accessToken)"),
                ]
                let answer = try? PlainHTTP(port: port).send("POST", path, headers, body) {
                    // The sockets are full before the doors close; nothing is read until then.
                    usleep(500_000)
                    gateway.send(SIGTERM)
                    while (try? PlainHTTP(port: port).send("GET", "/health")) != nil { usleep(20_000) }
                }
                waiting.resume(returning: answer)
            }
        }
        #expect(answer?.status == 200)
        #expect((answer?.body.utf8.count ?? 0) > 12 << 20)
        try await eventually { gateway.exitCode != nil }
        #expect(gateway.exitCode == 0)
        await database.close()
    }

    @Test("finishes what is in flight over HTTP/2")
    func finishesStreams() async throws {
        let (database, user, api) = try await setUp("Filtered")
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = ["cert.pem", "key.pem"].map { folder.appendingPathComponent($0).path }
        try TestCertificate.make("localhost", files[0], files[1])
        let gateway = try GatewayProcess(
            database: api.server.database,
            arguments: ["--drain-delay", "0", "--tls-certificate", files[0], "--tls-key", files[1]]
        )
        defer { gateway.remove() }
        _ = try await gateway.started()
        let port = try #require(gateway.port("HTTPS "))
        let lock = Lock(database, "Filtered")
        let held = try await lock.hold()
        async let answer = Shell.finish(
            URL(fileURLWithPath: "/usr/bin/curl"),
            [
                "-sSk", "--http2", "-w", "%{http_version} %{http_code}", "-H",
                "Content-Type: application/json",
                "-H", "Authorization: Bearer \(user.accessToken)", "-d",
                #"{"dataSource":"mongodb-atlas","database":"todo","collection":"Filtered","document":{"n":1}}"#,
                "-o", "/dev/null",
                "https://localhost:\(port)/app/\(api.app)/endpoint/data/v1/action/insertOne",
            ]
        )
        try await eventually { try await lock.waiting() == 1 }
        gateway.send(SIGTERM)
        try await eventually {
            (try? Shell.run(
                URL(fileURLWithPath: "/usr/bin/curl"),
                ["-sk", "https://localhost:\(port)/health"]
            ))?
            .status == 7
        }
        lock.letGo()
        try await held.value
        let result = try await answer
        #expect(result.output == "2 201", "\(result.errors)")
        try await eventually { gateway.exitCode != nil }
        #expect(gateway.exitCode == 0)
        await database.close()
    }

    @Test("tells clients to close their connections")
    func tellsClients() async throws {
        let (database, _, api) = try await setUp("Bytes")
        let gateway = try GatewayProcess(database: api.server.database, arguments: ["--drain-delay", "60"])
        defer { gateway.remove() }
        let http = PlainHTTP(port: try await gateway.started())
        #expect(try http.send("GET", "/health").closes == false)
        gateway.send(SIGTERM)
        try await eventually { try http.send("GET", "/health").closes }
        #expect(try http.send("GET", "/ready").status == 503)
        gateway.send(SIGTERM)
        try await eventually { gateway.exitCode != nil }
        await database.close()
    }

    @Test("ends at once when it is told so again")
    func endsAtOnce() async throws {
        let (database, user, api) = try await setUp("Feed")
        let gateway = try GatewayProcess(database: api.server.database, arguments: ["--drain-delay", "0"])
        defer { gateway.remove() }
        let port = try await gateway.started()
        let lock = Lock(database, "Feed")
        let held = try await lock.hold()
        let request = Task { await insert(port, user, 1, "Feed") }
        try await eventually { try await lock.waiting() == 1 }
        gateway.send(SIGTERM)
        try await eventually { (try? PlainHTTP(port: port).send("GET", "/ready").status) == nil }
        #expect(gateway.exitCode == nil, "a request is in flight")
        gateway.send(SIGTERM)
        try await eventually { gateway.exitCode != nil }
        #expect(gateway.exitCode == 143)
        lock.letGo()
        try await held.value
        #expect(await request.value == 0)
        await database.close()
    }
}

/// One insert over a connection.
func insertOne(_ http: PlainHTTP, _ collection: String, _ number: Int, _ user: APICaller.User)
    throws(PlainHTTP.Failure) -> PlainHTTP.Answer
{
    try http.send(
        "POST",
        "/app/\(TestApp.clientAppID)/endpoint/data/v1/action/insertOne",
        [("Content-Type", "application/json"), ("Authorization", "Bearer \(user.accessToken)")],
        #"{"dataSource":"mongodb-atlas","database":"todo","collection":"\#(collection)","document":{"n":\#(number),"ownerId":"\#(user.id)"}}"#
    )
}

import Foundation
import TestSupport
import Testing

@Suite("Overload", .serialized)
struct OverloadTests {
    /// One connection to PostgreSQL, two callers in its queue, few requests at once.
    private enum Tiny {
        private static let task = Task {
            try await RunningServer.start(
                app: TestApp.files,
                name: "tiny",
                arguments: [
                    "--pool-size", "1", "--max-waiting-statements", "2", "--pool-wait", "600",
                    "--max-concurrent-requests", "8", "--max-concurrent-requests-per-user", "6",
                    "--max-buffered-body-bytes", "300000", "--body-timeout", "600",
                ]
            )
        }

        static func caller() async throws -> APICaller {
            APICaller(server: try await task.value, app: TestApp.clientAppID)
        }
    }

    /// A session that holds a collection's table until its input ends.
    private final class Lock: @unchecked Sendable {
        private let process = Process()
        private let input = Pipe()

        /// `@unchecked`: used by one test at a time.
        init(_ database: String, _ table: String) throws {
            process.executableURL = URL(fileURLWithPath: "/usr/bin/psql")
            process.arguments = ["-X", "-q", database]
            process.standardInput = input
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            try input.fileHandleForWriting.write(
                contentsOf: Data("begin; lock table \(table) in access exclusive mode;\n".utf8)
            )
        }

        func release() throws {
            try input.fileHandleForWriting.close()
            process.waitUntilExit()
        }
    }

    private func isLocked(_ api: APICaller, _ table: String) throws -> Bool {
        try Shell.psql(
            api.server.database,
            "select exists (select from pg_locks where relation = '\(table)'::regclass and mode = 'AccessExclusiveLock' and granted)"
        ) == "t"
    }

    /// An answer that is not "try again": what the gateway asks of the database by itself, as after its start, may
    /// have the whole queue of two.
    private func served(
        _ send: @Sendable () async throws -> APICaller.Answer
    ) async throws -> APICaller.Answer {
        var answer = try await send()
        try await eventually {
            if answer.status == 503 { answer = try await send() }
            return answer.status != 503
        }
        return answer
    }

    /// A new user, asked for until the gateway has a place for it.
    private func newUser(_ api: APICaller) async throws -> APICaller.User {
        var user: APICaller.User?
        try await eventually {
            do {
                user = try await api.newUser()
                return true
            } catch let refused as APICaller.UnexpectedAnswer where refused.answer.status == 503 {
                return false
            }
        }
        return try #require(user)
    }

    /// Statements that stand before the lock.
    private func blocked(_ api: APICaller, _ table: String) throws -> Int {
        Int(
            try Shell.psql(
                api.server.database,
                "select count(*) from pg_locks where relation = '\(table)'::regclass and not granted"
            )
        ) ?? 0
    }

    @Test(
        "what the pool and its queue cannot take is shed with 503, health answers, and all is well afterwards"
    )
    func shed() async throws {
        let api = try await Tiny.caller()
        let users = [try await newUser(api), try await newUser(api), try await newUser(api)]
        let inserted = try await served {
            try await api.act("insertOne", "Open", #""document":{"n":1}"#, as: users[0].bearer)
        }
        #expect(inserted.status == 201)
        for user in users[1...] {
            #expect(try await served { try await api.act("find", "Open", as: user.bearer) }.status == 200)
        }
        let table = #"todo."Open""#
        let lock = try Lock(api.server.database, table)
        try await eventually { try isLocked(api, table) }
        let first = Task { try await served { try await api.act("find", "Open", as: users[0].bearer) } }
        try await eventually { try blocked(api, table) == 1 }
        // One holds the only connection; of thirty more, two may wait.
        let answers = try await withThrowingTaskGroup(of: APICaller.Answer.self) { group in
            for index in 0..<30 {
                group.addTask { try await api.act("find", "Open", as: users[index % 3].bearer) }
            }
            var answers: [APICaller.Answer] = []
            for try await answer in group {
                answers.append(answer)
                if answers.count == 28 {
                    let health = try await api.send("GET", "/health")
                    #expect(health.status == 200)
                    try lock.release()
                }
            }
            return answers
        }
        let refused = answers.filter { $0.status == 503 || $0.status == 429 }
        // What the gateway asks of the database by itself may be among those that wait.
        #expect((28...30).contains(refused.count), "\(answers.map(\.status))")
        for answer in refused {
            #expect((answer.header("retry-after").flatMap { Int($0) } ?? 0) >= 1, "\(answer.text)")
            #expect(["MaintenanceInProgress", "TooManyRequests"].contains(answer.errorCode ?? ""))
        }
        #expect(answers.filter { $0.status == 200 }.count == 30 - refused.count)
        #expect(try await first.value.status == 200)
        for _ in 0..<20 {
            #expect(try await served { try await api.act("find", "Open", as: users[0].bearer) }.status == 200)
        }
    }

    /// A request whose head has come and whose body has not.
    private func holdOpen(_ api: APICaller, _ user: APICaller.User, bytes: Int) throws -> RawConnection {
        let connection = try RawConnection(api.server.http)
        connection.send(
            """
            POST /app/\(api.app)/endpoint/data/v1/action/insertOne HTTP/1.1\r
            Host: localhost\r
            Authorization: Bearer \(user.accessToken)\r
            Content-Length: \(bytes)\r
            \r
            {
            """
        )
        return connection
    }

    @Test("more requests at once than the limit are turned away, health is not, and places come back")
    func concurrent() async throws {
        let api = try await Tiny.caller()
        let user = try await newUser(api)
        let held = try (0..<8).map { _ in try holdOpen(api, user, bytes: 100) }
        let path = "/api/client/v2.0/app/\(api.app)/location"
        try await eventually { try await api.send("GET", path).status == 503 }
        let refused = try await api.send("GET", path)
        #expect(refused.errorCode == "MaintenanceInProgress")
        #expect(refused.error.contains("(limit max-concurrent-requests)"))
        #expect(refused.header("retry-after") == "1")
        #expect(try await api.send("GET", "/health").status == 200)
        for connection in held { connection.close() }
        try await eventually { try await api.send("GET", path).status == 200 }
    }

    @Test("large bodies at once are bounded together, small ones pass")
    func bodies() async throws {
        let api = try await Tiny.caller()
        let user = try await newUser(api)
        var held = [try holdOpen(api, user, bytes: 200_000)]
        let large = #""document":{"a":"\#(String(repeating: "x", count: 150_000))"}"#
        try await eventually {
            let answer = try await api.act("insertOne", "Open", large, as: user.bearer)
            if answer.status == 503, answer.error.contains("(limit max-buffered-body-bytes)") { return true }
            // The one that is held may have been turned away: the requests of the test before it may not be over.
            held.append(try holdOpen(api, user, bytes: 200_000))
            return false
        }
        try await eventually {
            try await api.act("insertOne", "Open", #""document":{"a":1}"#, as: user.bearer).status == 201
        }
        #expect(try await api.act("insertOne", "Open", large, as: user.bearer).status == 503)
        for connection in held { connection.close() }
        try await eventually {
            try await api.act("insertOne", "Open", large, as: user.bearer).status == 201
        }
    }
}

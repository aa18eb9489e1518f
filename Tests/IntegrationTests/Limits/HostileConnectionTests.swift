import Foundation
import TestSupport
import Testing

@Suite("Hostile connections", .serialized)
struct HostileConnectionTests {
    /// A server that waits for nobody.
    private enum Impatient {
        private static let task = Task {
            try await RunningServer.start(
                app: TestApp.files,
                name: "impatient",
                arguments: [
                    "--header-timeout", "2", "--body-timeout", "2", "--idle-timeout", "600",
                    "--write-timeout", "2", "--max-header-bytes", "8000",
                ]
            )
        }

        static func caller() async throws -> APICaller {
            APICaller(server: try await task.value, app: TestApp.clientAppID)
        }
    }

    private func expectAlive(_ api: APICaller) async throws {
        #expect(try await api.send("GET", "/health").status == 200)
    }

    @Test("a header that trickles in is answered 408 and cut off, first or after another request")
    func slowHeader() async throws {
        let api = try await Impatient.caller()
        let first = try RawConnection(api.server.http)
        first.send("GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        #expect(first.receiveAll()?.hasPrefix("HTTP/1.1 408") == true)
        let second = try RawConnection(api.server.http)
        second.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        let answer = String(decoding: second.receive() ?? [], as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 200"))
        second.send("GET /health HTTP/1.1\r\n")
        #expect(second.receiveAll()?.contains("HTTP/1.1 408") == true)
        try await expectAlive(api)
    }

    @Test("a connection that says nothing, or only half of TLS's handshake, is closed")
    func silent() async throws {
        let api = try await Impatient.caller()
        let plain = try RawConnection(api.server.http)
        #expect(plain.receiveAll() == "")
        let secure = try RawConnection(
            "http://127.0.0.1:" + (api.server.https.split(separator: ":").last ?? "")
        )
        secure.send([0x16, 0x03, 0x01, 0x02, 0x00])
        #expect(secure.receiveAll() != nil)
        let half = try RawConnection(api.server.http)
        half.send("GET /health HTTP/1.1\r\nHost: loc")
        half.finishSending()
        #expect(half.receiveAll() != nil)
        try await expectAlive(api)
    }

    @Test("a body that trickles in ends with an answer")
    func slowBody() async throws {
        let api = try await Impatient.caller()
        let user = try await api.newUser()
        let connection = try RawConnection(api.server.http)
        connection.send(
            """
            POST /app/\(api.app)/endpoint/data/v1/action/find HTTP/1.1\r
            Host: localhost\r
            Authorization: Bearer \(user.accessToken)\r
            Content-Length: 1000\r
            \r
            {"dataSource":
            """
        )
        #expect(connection.receiveAll()?.hasPrefix("HTTP/1.1 400") == true)
        try await expectAlive(api)
    }

    /// What is sent, and how the one answer begins; nil where closing is all.
    static let malformed: [(String, String)] = [
        (
            "both lengths",
            "POST /health HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        ),
        (
            "two lengths",
            "POST /health HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"
        ),
        ("a folded field", "GET /health HTTP/1.1\r\nHost: a\r\nX-Fold: one\r\n two\r\n\r\n"),
        ("a space before the colon", "GET /health HTTP/1.1\r\nHost : a\r\n\r\n"),
        ("a bad chunk", "POST /health HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
        ("a NUL in a field", "GET /health HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n"),
        (
            "a huge field",
            "GET /health HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "x", count: 9000))\r\n\r\n"
        ),
        ("a huge URL", "GET /\(String(repeating: "x", count: 100_000)) HTTP/1.1\r\nHost: a\r\n\r\n"),
        ("garbage", "\u{16}\u{3}\u{1}\0\0 not HTTP at all\r\n\r\n"),
        ("no such version", "GET /health HTTP/9.9\r\nHost: a\r\n\r\n"),
    ]

    @Test("what is not HTTP is answered 4xx or cut off, never understood halfway", arguments: malformed)
    func malformedHead(what: String, bytes: String) async throws {
        let api = try await Impatient.caller()
        let connection = try RawConnection(api.server.http)
        connection.send(bytes)
        // A second request, smuggled behind: it must not be answered.
        connection.send("GET /ready HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        connection.finishSending()
        let answer = connection.receiveAll()
        #expect(answer != nil, "\(what): still open")
        #expect(answer?.contains("ready") == false, "\(what): \(answer ?? "")")
        let status = answer?.split(separator: " ").dropFirst().first
        #expect(status == nil || status?.first == "4", "\(what): \(answer ?? "")")
        try await expectAlive(api)
    }

    @Test("garbage behind a good request does not harm the good one")
    func pipelined() async throws {
        let api = try await Impatient.caller()
        let connection = try RawConnection(api.server.http)
        connection.send("GET /health HTTP/1.1\r\nHost: a\r\n\r\n\0\0 garbage \r\n\r\n")
        let answer = try #require(connection.receiveAll())
        #expect(answer.hasPrefix("HTTP/1.1 200"))
        #expect(answer.contains(#"{"status":"ok"}"#))
        try await expectAlive(api)
    }

    @Test("a connection without requests is closed after a while, whoever answered its last one")
    func idle() async throws {
        let server = try await RunningServer.start(
            app: TestApp.files,
            name: "forgetful",
            arguments: ["--idle-timeout", "2"]
        )
        defer { server.stop() }
        let direct = "GET /app/\(TestApp.clientAppID)/endpoint/nothing HTTP/1.1\r\nHost: a\r\n\r\n"
        let routed = "GET /health HTTP/1.1\r\nHost: a\r\n\r\n"
        for request in [direct, routed] {
            let (busy, idle) = (try RawConnection(server.http), try RawConnection(server.http))
            idle.send(request)
            #expect(idle.receive()?.isEmpty == false)
            // For longer than the limit.
            for _ in 0..<12 {
                busy.send(request)
                let answer = busy.receive().map { String(decoding: $0, as: UTF8.self) }
                #expect(answer?.hasPrefix("HTTP/1.1") == true)
                try await Task.sleep(for: .milliseconds(250))
            }
            #expect(idle.receiveAll() == "")
        }
    }

    @Test("a thousand idle connections do not keep a good request out; those past the limit are told so")
    func many() async throws {
        let server = try await RunningServer.start(
            app: TestApp.files,
            name: "crowded",
            arguments: ["--header-timeout", "600", "--max-connections", "1100"]
        )
        defer { server.stop() }
        let api = APICaller(server: server, app: TestApp.clientAppID)
        var idle = try (0..<1000).map { _ in try RawConnection(server.http) }
        try await expectAlive(api)
        idle += try (0..<200).map { _ in try RawConnection(server.http) }
        try await eventually { idle.contains { $0.hasBytes } }
        let refused = try #require(idle.first { $0.hasBytes })
        let answer = refused.receiveAll() ?? ""
        #expect(answer.hasPrefix("HTTP/1.1 503"), "\(answer)")
        #expect(answer.contains("Retry-After: 1"))
        idle = []
        try await eventually { (try? await api.send("GET", "/health").status) == 200 }
    }

    @Test("a client that does not read its answer is cut off")
    func slowReader() async throws {
        let api = try await Impatient.caller()
        let user = try await api.newUser()
        let text = String(repeating: "x", count: 1_000_000)
        for _ in 0..<16 {
            let answer = try await api.act(
                "insertOne",
                "Bytes",
                #""document":{"text":"\#(text)"}"#,
                as: user.bearer
            )
            #expect(answer.status == 201)
        }
        let body = #"{"dataSource":"mongodb-atlas","database":"todo","collection":"Bytes"}"#
        let connection = try RawConnection(api.server.http)
        connection.send(
            """
            POST /app/\(api.app)/endpoint/data/v1/action/find HTTP/1.1\r
            Host: localhost\r
            Authorization: Bearer \(user.accessToken)\r
            Content-Length: \(body.utf8.count)\r
            \r
            \(body)
            """
        )
        // Sixteen megabytes do not fit into the sockets between. The server closes before they are read, and
        // its answer ends early.
        try await eventually { try connection.otherSideIsOpen }
        try await eventually { try !connection.otherSideIsOpen }
        var received = 0
        while let more = connection.receive(), !more.isEmpty { received += more.count }
        #expect(received < 16_000_000)
        try await expectAlive(api)
    }
}

import Foundation
import TestSupport
import Testing

@Suite("Watches past a limit", .serialized)
struct WatchLimitTests {
    private static let task = Task {
        try await RunningServer.start(
            app: TestApp.files,
            name: "watch-limits",
            arguments: [
                "--max-watches", "3", "--max-watches-per-user", "2", "--max-watch-lag", "1",
                "--write-timeout", "5",
            ]
        )
    }

    private func start() async throws -> ServiceCall {
        let api = APICaller(server: try await Self.task.value, app: TestApp.clientAppID)
        return ServiceCall(api: api, user: try await api.newUser(), collection: "Open")
    }

    /// How many watches the gateway has.
    private func count(_ call: ServiceCall) async throws -> Int? {
        let admin = APICaller(server: call.api.server, app: call.api.app, base: call.api.server.admin)
        let metrics = try await admin.send("GET", "/metrics").text
        return metrics.split(separator: "\n").first { $0.hasPrefix("tidegate_watches ") }
            .flatMap { $0.split(separator: " ").last }.flatMap { Int($0) }
    }

    @Test("are refused, by user and by gateway, until others have gone")
    func counts() async throws {
        let (ann, bob) = (try await start(), try await start())
        let first = try await ann.watch()
        let second = try await ann.watch()
        let third = try ann.watchUnasked()
        try await eventually { third.isOver }
        #expect(third.status == 429)
        #expect(third.text.contains("max-watches-per-user"))
        #expect(third.head.contains { $0.lowercased().hasPrefix("retry-after:") })
        let bobs = try await bob.watch()
        let fourth = try bob.watchUnasked()
        try await eventually { fourth.isOver }
        #expect(fourth.status == 503)
        #expect(fourth.text.contains("max-watches"))
        // The gateway notices that a client has gone.
        for watch in [first, second, bobs] { watch.stop() }
        try await eventually { try await count(ann) == 0 }
        try await bob.watch().stop()
    }

    /// A connection that asks for a stream and does not read it.
    private func slowReader(_ call: ServiceCall) throws -> RawConnection {
        let request = Data(
            #"{"name":"watch","service":"mongodb-atlas","arguments":[{"database":"todo","collection":"Open"}]}"#
                .utf8
        ).base64EncodedString().replacingOccurrences(of: "+", with: "%2B")
            .replacingOccurrences(of: "=", with: "%3D").replacingOccurrences(of: "/", with: "%2F")
        let connection = try RawConnection(call.api.server.http)
        connection.send(
            "GET /api/client/v2.0/app/\(call.api.app)/functions/call?baas_request=\(request) HTTP/1.1\r\n"
                + "Host: localhost\r\nAuthorization: Bearer \(call.user.accessToken)\r\n\r\n"
        )
        return connection
    }

    /// More than sockets hold: thirty documents of a megabyte.
    private func flood(_ call: ServiceCall) async throws {
        let document = #"{"text":"\#(String(repeating: "x", count: 1 << 20))"}"#
        for _ in 0..<30 {
            let answer = try await call("insertOne", #""document":\#(document)"#)
            #expect(answer.status == 200)
        }
    }

    @Test("end with an error for a client that was too slow, when it reads again")
    func slowReaders() async throws {
        let call = try await start()
        let connection = try slowReader(call)
        try await eventually { try await count(call) == 1 }
        try await flood(call)
        // The limit is a second; more than that has to pass.
        try await Task.sleep(for: .milliseconds(1500))
        let text = try #require(connection.receiveAll())
        #expect(
            text.contains(#"event: error"#) && text.contains("limit max-watch-lag"),
            "\(text.suffix(500))"
        )
        try await eventually { try await count(call) == 0 }
    }

    @Test("end for a client that does not read at all, and nothing of it is kept")
    func deadReaders() async throws {
        let call = try await start()
        let connection = try slowReader(call)
        try await eventually { try await count(call) == 1 }
        try await flood(call)
        try await eventually { try await count(call) == 0 }
        connection.close()
    }
}

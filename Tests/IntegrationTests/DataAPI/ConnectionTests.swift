import Foundation
import TestSupport
import Testing

@Suite("Connections")
struct ConnectionTests {
    /// Sends raw text and returns all that comes back until the server closes.
    private func talk(_ api: APICaller, _ request: String) throws -> String {
        let port = api.server.http.split(separator: ":").last.map(String.init) ?? ""
        let script = """
            exec 3<>/dev/tcp/127.0.0.1/\(port); cat >&3; timeout 20 cat <&3
            """
        return try Shell.run(
            URL(fileURLWithPath: "/bin/bash"),
            ["-c", script],
            input: Data(request.utf8)
        ).output
    }

    private func head(_ api: APICaller, _ user: APICaller.User, length: Int) -> String {
        """
        POST /app/\(api.app)/endpoint/data/v1/action/insertOne HTTP/1.1\r
        Host: localhost\r
        Authorization: Bearer \(user.accessToken)\r
        Content-Length: \(length)\r
        Connection: close\r
        \r

        """
    }

    @Test("that stall in a body get an answer and end; nothing is written")
    func slowBody() async throws {
        let (api, user) = try await SharedServer.user()
        let body =
            #"{"dataSource":"mongodb-atlas","database":"todo","collection":"Open","document":{"stalled":1}}"#
        let answer = try talk(api, head(api, user, length: body.utf8.count + 10) + body)
        #expect(answer.hasPrefix("HTTP/1.1 400"), "\(answer)")
        #expect(answer.contains("took too long to arrive"))
        #expect(
            try Shell.psql(
                api.server.database,
                #"select to_regclass('todo."Open"') is null or not exists (select from todo."Open" where doc ? 'stalled')"#
            ) == "t"
        )
    }

    @Test("serve HTTPS to whoever trusts the local authority, and plain HTTP/1.1 and HTTP/2")
    func https() async throws {
        let api = try await SharedServer.caller()
        let authority = api.server.directory.appendingPathComponent("data/tls/ca.pem").path
        for version in ["--http1.1", "--http2"] {
            let answer = try Shell.run(
                URL(fileURLWithPath: "/usr/bin/curl"),
                ["-sS", version, "--cacert", authority, api.server.https + "/health"]
            )
            #expect(answer.output == #"{"status":"ok"}"#, "\(answer.errors)")
        }
        let stranger = try Shell.run(
            URL(fileURLWithPath: "/usr/bin/curl"),
            ["-sS", api.server.https + "/health"]
        )
        #expect(stranger.status == 60)
    }

    @Test("answer preflights and carry the request id")
    func preflight() async throws {
        let api = try await SharedServer.caller()
        let path = "/app/\(api.app)/endpoint/data/v1/action/find"
        let answer = try await api.send(
            "OPTIONS",
            path,
            headers: ["Origin": "https://app.example", "Access-Control-Request-Headers": "authorization"]
        )
        #expect(answer.status == 204)
        #expect(answer.header("access-control-allow-origin") == "https://app.example")
        #expect(answer.header("access-control-allow-headers") == "authorization")
        #expect(answer.header("x-appservices-request-id")?.count == 24)
        let get = try await api.send("GET", path)
        #expect(get.status == 404)
        #expect(get.text == "")
        let unknown = try await api.send("POST", "/app/nobody/endpoint/data/v1/action/find")
        #expect(unknown.status == 404)
        #expect(unknown.text == #"{"error":"cannot find app using Client App ID 'nobody'"}"#)
    }
}

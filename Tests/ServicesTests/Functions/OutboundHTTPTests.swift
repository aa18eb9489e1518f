import BSON
import Postgres
import SQL
import Scripting
import Services
import Synchronization
import TestSupport
import Testing

@Suite("HTTP of functions")
struct OutboundHTTPTests {
    private let http: OutboundHTTP
    private let database: Database

    init() async throws {
        database = TestDatabase.current.database
        http = OutboundHTTP(database: database)
        _ = try await database.run("SELECT tidegate.create_app('shop', 'shop-abcde')")
    }

    private func allow(_ pattern: String, _ allowed: Bool = true) async throws {
        _ = try await database.run(
            "SELECT tidegate.set_outbound_host('shop', \(bind: .text(pattern)), \(bind: .bool(allowed)))"
        )
    }

    private func call(_ arguments: BSONDocument) async throws -> Result<BSONValue, HostError> {
        let app = try await database.run("SELECT tidegate.app_id('shop')").text(0, 0) ?? ""
        return await http.answer(arguments, app: app, deadline: .now + .seconds(60))
    }

    /// The status and the text of an answer, or the message of a refusal.
    private func text(_ arguments: BSONDocument) async throws -> String {
        switch try await call(arguments) {
        case .failure(let error): return error.message
        case .success(let value):
            guard let document = value.document, case .binary(let body)? = document["body"] else {
                return "?"
            }
            return "\(document["status"]?.string ?? "?") \(String(decoding: body.bytes, as: UTF8.self))"
        }
    }

    private func get(_ url: String) async throws -> String {
        try await text(["method": "GET", "url": .string(url)])
    }

    /// A server that answers by path, and the heads of the requests that it saw.
    private final class Server: Sendable {
        private let seen = Mutex<[[String]]>([])
        private let lines = Mutex<LineServer?>(nil)

        init(_ answer: @escaping @Sendable (_ path: String, _ head: [String]) -> String) throws {
            lines.withLock { $0 = nil }
            let server = try LineServer { [weak self] connection in
                var head: [String] = []
                while let line = connection.line(), !line.isEmpty { head.append(line) }
                self?.seen.withLock { $0.append(head) }
                let path = head.first?.split(separator: " ").dropFirst().first.map(String.init) ?? ""
                connection.send(answer(path, head))
            }
            lines.withLock { $0 = server }
        }

        var port: UInt16 { lines.withLock { $0?.port ?? 0 } }
        var heads: [[String]] { seen.withLock { $0 } }
        func stop() { lines.withLock { $0?.stop() } }
    }

    private static func response(_ status: String, _ headers: [String] = [], _ body: String = "") -> String {
        (["HTTP/1.1 \(status)"] + headers + ["Content-Length: \(body.utf8.count)", "Connection: close"])
            .joined(separator: "\r\n") + "\r\n\r\n" + body
    }

    @Test("is refused to private addresses in whatever form, and to other schemes", .postgres)
    func refusals() async throws {
        let server = try Server { _, _ in Self.response("200 OK", [], "secret") }
        defer { server.stop() }
        for host in [
            "127.0.0.1", "localhost", "2130706433", "0177.0.0.1", "0x7f.1", "127.1", "[::1]",
            "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "0.0.0.0", "10.0.0.1", "169.254.169.254",
        ] {
            let refusal = try await get("http://\(host):\(server.port)/latest/meta-data")
            #expect(refusal.hasSuffix("are not allowed"), "\(host): \(refusal)")
        }
        #expect(server.heads.isEmpty)
        for url in [
            "file:///etc/passwd", "ftp://a.example/", "http+unix://%2Ftmp%2Fs/", "http:///x", "", "x",
        ] {
            #expect(try await get(url) == "url must be an http or https URL with a host")
        }
        #expect(try await get("http://no-such-host.invalid/").contains("is not known"))
    }

    @Test("goes where an operator allows it, at once, and no longer when he takes it back", .postgres)
    func allowed() async throws {
        let server = try Server { path, _ in
            Self.response(
                "201 Created",
                ["Set-Cookie: a=1; Path=/", "Set-Cookie: b=x=y", "X-A: 1", "X-A: 2"],
                path
            )
        }
        defer { server.stop() }
        let url = "http://127.0.0.1:\(server.port)/p?q=1"
        try await allow("127.0.0.0/8")
        guard
            case .success(let value) = try await call([
                "method": "post", "url": .string(url),
                "headers": ["X-Own": ["1", "2"], "Content-Length": "7"],
                "body": .binary(BSONBinary(subtype: 0, bytes: Array("hello".utf8))), "username": "u",
                "password": "p",
            ]), let document = value.document
        else {
            Issue.record("no answer")
            return
        }
        #expect(document["statusCode"] == 201)
        #expect(document["headers"]?.document?["X-A"] == ["1", "2"])
        #expect(document["cookies"] == ["a": "1", "b": "x=y"])
        #expect(document["contentLength"] == .int64(6))
        let head = try #require(server.heads.first)
        #expect(head.first == "POST /p?q=1 HTTP/1.1")
        #expect(head.contains("content-length: 5") || head.contains("Content-Length: 5"), "\(head)")
        #expect(head.contains("Authorization: Basic dTpw"))
        #expect(head.filter { $0.hasPrefix("X-Own") } == ["X-Own: 1", "X-Own: 2"])

        try await allow("127.0.0.1", false)
        #expect(try await get(url) == "calls to 127.0.0.1 are not allowed")
        #expect(
            try await database.run("SELECT tidegate.remove_outbound_host('shop', '127.0.0.1')").bool(0, 0)
                == true
        )
        #expect(try await get(url) == "201 Created /p?q=1")
    }

    @Test("judges each redirect anew, and keeps credentials from other origins", .postgres)
    func redirects() async throws {
        let inner = try Server { _, _ in Self.response("200 OK", [], "inner") }
        defer { inner.stop() }
        let innerPort = inner.port
        let outer = try Server { path, _ in
            switch path {
            case "/loop": Self.response("302 Found", ["Location: /loop"])
            case "/private": Self.response("302 Found", ["Location: http://localhost:\(innerPort)/"])
            case "/file": Self.response("301 Moved", ["Location: file:///etc/passwd"])
            case "/other": Self.response("307 Again", ["Location: http://127.0.0.1:\(innerPort)/x"])
            case "/same": Self.response("303 See", ["Location: end"])
            default: Self.response("200 OK", [], "end")
            }
        }
        defer { outer.stop() }
        try await allow("127.0.0.1")
        try await allow("localhost", false)
        func follow(_ path: String, follows: Bool = true) async throws -> String {
            try await text([
                "method": "POST", "url": .string("http://127.0.0.1:\(outer.port)\(path)"),
                "followRedirects": .bool(follows),
                "headers": ["Authorization": ["secret"], "Cookie": ["c=1"]],
                "body": .binary(BSONBinary(subtype: 0, bytes: [1])),
            ])
        }
        #expect(try await follow("/private", follows: false) == "302 Found ")
        #expect(try await follow("/private") == "calls to localhost are not allowed")
        #expect(
            try await follow("/file") == "the redirect of 127.0.0.1 must be an http or https URL with a host"
        )
        #expect(try await follow("/loop") == "stopped after 10 redirects")
        #expect(inner.heads.isEmpty)
        #expect(try await follow("/other") == "200 OK inner")
        let head = try #require(inner.heads.first)
        #expect(head.first == "POST /x HTTP/1.1")
        #expect(!head.contains { $0.contains("secret") || $0.contains("c=1") })
        #expect(try await follow("/same") == "200 OK end")
        #expect(outer.heads.last?.first == "GET /end HTTP/1.1")
        #expect(outer.heads.last?.contains("Authorization: secret") == true)
    }

    @Test("bounds what it reads, and answers failures with a message", .postgres)
    func bounds() async throws {
        let server = try Server { path, _ in
            path == "/cut"
                ? "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"
                : "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + String(repeating: "x", count: 19 << 20)
        }
        try await allow("127.0.0.1")
        let base = "http://127.0.0.1:\(server.port)"
        #expect(try await get(base + "/big") == "the answer of 127.0.0.1 is larger than 18874368 bytes")
        #expect(try await get(base + "/cut").hasPrefix("the request to 127.0.0.1 failed"))
        server.stop()
        #expect(try await get(base + "/gone").hasPrefix("the request to 127.0.0.1 failed"))
    }

    @Test("answers a digest challenge, and asks authUrl for its cookies first", .postgres)
    func authentication() async throws {
        let server = try Server { path, head in
            if path == "/login" { return Self.response("200 OK", ["Set-Cookie: session=abc; HttpOnly"]) }
            guard let line = head.first(where: { $0.hasPrefix("Authorization: Digest ") }) else {
                return Self.response(
                    "401 No",
                    [#"WWW-Authenticate: Digest realm="a, b", nonce="n", qop="auth,auth-int", opaque="o""#]
                )
            }
            return Self.response("200 OK", [], line)
        }
        defer { server.stop() }
        try await allow("127.0.0.1")
        let answer = try await text([
            "method": "GET", "url": .string("http://127.0.0.1:\(server.port)/dir"), "digestAuth": true,
            "username": "Mufasa", "password": "Circle of Life",
            "authUrl": .string("http://127.0.0.1:\(server.port)/login"),
        ])
        #expect(
            answer.hasPrefix(
                #"200 OK Authorization: Digest username="Mufasa", realm="a, b", nonce="n", uri="/dir""#
            )
        )
        #expect(
            server.heads.map { $0.first } == [
                "GET /login HTTP/1.1", "GET /dir HTTP/1.1", "GET /dir HTTP/1.1",
            ]
        )
        #expect(server.heads.last?.contains("Cookie: session=abc") == true)
    }
}

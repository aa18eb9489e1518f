import Foundation
import TestSupport
import Testing

/// Requests whose end two readers would see in different places; `peers.md` §6.3.
@Suite("Attack: framing of requests")
struct RequestSmugglingTests {
    /// Sends raw bytes and returns what comes back until the server closes or is silent.
    private func talk(_ api: APICaller, _ request: String) throws -> String {
        let port = api.server.http.split(separator: ":").last.map(String.init) ?? ""
        let script = "exec 3<>/dev/tcp/127.0.0.1/\(port); cat >&3; timeout 8 cat <&3"
        return try Shell.run(URL(fileURLWithPath: "/bin/bash"), ["-c", script], input: Data(request.utf8))
            .output
    }

    private func statuses(_ text: String) -> [String] {
        text.components(separatedBy: "HTTP/1.1 ").dropFirst().map { String($0.prefix(3)) }
    }

    @Test("a request that is framed twice, or badly, is refused, and what follows it is no request")
    func framing() async throws {
        let (api, user) = try await AttackApp.user()
        let tag = UUID().uuidString
        let path = "/app/\(api.app)/endpoint/data/v1/action/insertOne"
        let body =
            #"{"dataSource":"mongodb-atlas","database":"vault","collection":"Open","document":{"smuggled":"\#(tag)"}}"#
        let inner =
            "POST \(path) HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(user.accessToken)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        let head = "POST \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        let hex = String(inner.utf8.count, radix: 16)
        let attacks: [String: String] = [
            "both lengths":
                "\(head)Content-Length: \(inner.utf8.count + 5)\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n\(inner)",
            "both, the other way":
                "\(head)Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n\(hex)\r\n\(inner)\r\n0\r\n\r\n",
            "two lengths": "\(head)Content-Length: 0\r\nContent-Length: \(inner.utf8.count)\r\n\r\n\(inner)",
            "a list of lengths": "\(head)Content-Length: 0, \(inner.utf8.count)\r\n\r\n\(inner)",
            "a negative length": "\(head)Content-Length: -1\r\n\r\n\(inner)",
            "a signed length": "\(head)Content-Length: +0\r\n\r\n\(inner)",
            "a length in hex": "\(head)Content-Length: 0x0\r\n\r\n\(inner)",
            "a length past 64 bits": "\(head)Content-Length: 18446744073709551616\r\n\r\n\(inner)",
            "chunked, and identity":
                "\(head)Transfer-Encoding: identity, chunked, identity\r\n\r\n0\r\n\r\n\(inner)",
            "xchunked": "\(head)Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n\(inner)",
            "space before the colon":
                "\(head)Transfer-Encoding : chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n\(inner)",
            "obs-fold": "\(head)X: y\r\n Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n\(inner)",
            "a bad chunk size": "\(head)Transfer-Encoding: chunked\r\n\r\nzz\r\n\(inner)\r\n0\r\n\r\n",
            "a chunk size that overflows":
                "\(head)Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n\(inner)\r\n0\r\n\r\n",
            "bare line feeds":
                "POST \(path) HTTP/1.1\nHost: x\nContent-Length: 0\nTransfer-Encoding: chunked\n\n0\n\n\(inner)",
            "NUL in a header": "\(head)X: a\u{0}b\r\nContent-Length: 0\r\n\r\n\(inner)",
        ]
        for (name, request) in attacks.sorted(by: { $0.key < $1.key }) {
            let answer = try talk(api, request)
            let all = statuses(answer)
            // One refusal at the most; never the answer of a request that was inside another.
            #expect(all.count <= 1, "\(name): \(answer.prefix(600))")
            #expect(
                all.allSatisfy { $0.hasPrefix("4") || $0.hasPrefix("5") },
                "\(name): \(answer.prefix(600))"
            )
        }
        let smuggled = try await api.attack(
            "find",
            "Open",
            #""filter":{"smuggled":"\#(tag)"}"#,
            as: user.bearer
        )
        #expect(smuggled.text == #"{"documents":[]}"#)
        // The same request alone is served: the tests above could have seen it.
        let alone = try talk(
            api,
            inner.replacingOccurrences(of: "Host: x\r\n", with: "Host: x\r\nConnection: close\r\n")
        )
        #expect(statuses(alone) == ["201"], "\(alone.prefix(400))")
    }

    @Test("headers that a proxy sets do not count from clients that are none")
    func forwarded() async throws {
        let (api, user) = try await AttackApp.user()
        for header in [
            "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-For", "Forwarded", "X-Original-URL",
            "X-Rewrite-URL", "X-HTTP-Method-Override",
        ] {
            var headers = user.bearer
            headers[header] =
                header.contains("URL") ? "/app/tests-abcde/endpoint/data/v1/action/find" : "evil.example"
            let location = try await api.send(
                "GET",
                "/api/client/v2.0/app/\(api.app)/location",
                headers: headers
            )
            #expect(location.status == 200)
            #expect(!location.text.contains("evil.example"), "\(header): \(location.text)")
        }
        let overridden = try await api.send(
            "GET",
            "/api/client/v2.0/auth/profile",
            headers: user.bearer.merging(["X-HTTP-Method-Override": "DELETE"]) { $1 }
        )
        #expect(overridden.status == 200)
    }
}

import NIOHTTP1
import Testing

@testable import HTTPGateway

@Suite("Requests that go past the router")
struct DirectRequestTests {
    @Test("are those whose path is spelt as usual")
    func path() throws {
        let path = try #require(DataAPIPath("/app/my-app_1-abcde/endpoint/data/v1/action/findOne"))
        #expect(path.appID == "my-app_1-abcde" && path.version == "v1" && path.action == "findOne")
    }

    @Test(
        "are no others",
        arguments: [
            "", "/", "/app", "/app//endpoint/data/v1/action/find", "/app/a/endpoint/data/v1/action/",
            "/app/a/endpoint/data/v1/action/find/", "/app/a/endpoint/data/v1/action/find?secret=x",
            "/app/a/endpoint/data/v1/action/find/x", "/app/a%2Fb/endpoint/data/v1/action/find",
            "/app/a/endpoint/data/v1/actions/find", "/App/a/endpoint/data/v1/action/find",
            "/app/\u{212A}/endpoint/data/v1/action/find", "http://h/app/a/endpoint/data/v1/action/find",
            "/app/a/endpoint/data//action/find", "/app/../endpoint/data/v1/action/find",
        ]
    )
    func otherPaths(path: String) {
        #expect(DataAPIPath(path) == nil)
    }

    @Test("are those of an endpoint whose path is spelt as usual")
    func endpointPath() throws {
        let path = try #require(EndpointPath("/app/my-app_1-abcde/endpoint/orders/new?a=/b"))
        #expect(path.appID == "my-app_1-abcde" && path.route == "/orders/new")
        #expect(EndpointPath("/app/a/endpoint/orders/")?.route == "/orders/")
        #expect(EndpointPath("/app/a/endpoint/database")?.route == "/database")
    }

    @Test(
        "are those of no other endpoint",
        arguments: [
            "", "/app/a/endpoint", "/app/a/endpoint/", "/app/a/endpoint/?a=b", "/app/a/endpoint//orders",
            "/app/a/endpoints/orders", "/app//endpoint/orders", "/app/a%20b/endpoint/orders",
            "/app/a/endpoint/my%20orders", "/app/a/endpoint/orders#top",
            "/app/a/endpoint/data/v1/action/find?secret=x", "http://h/app/a/endpoint/orders",
        ]
    )
    func otherEndpointPaths(path: String) {
        #expect(EndpointPath(path) == nil)
    }

    private func isDirect(
        _ method: HTTPMethod,
        _ headers: HTTPHeaders,
        to uri: String = "/app/a/endpoint/data/v1/action/find",
        in version: HTTPVersion = .http1_1
    ) -> Bool {
        DirectRequest.path(of: HTTPRequestHead(version: version, method: method, uri: uri, headers: headers))
            != nil
    }

    @Test("announce a small body and leave the connection open")
    func head() {
        #expect(isDirect(.POST, ["Content-Length": "65536"]))
        #expect(isDirect(.POST, ["content-length": "2", "CONNECTION": "keep-alive"]))
        #expect(!isDirect(.POST, ["Content-Length": "65537"]))
        #expect(!isDirect(.POST, [:]))
        #expect(!isDirect(.POST, ["Transfer-Encoding": "chunked"]))
        #expect(!isDirect(.POST, ["Content-Length": "2", "Transfer-Encoding": "chunked"]))
        #expect(!isDirect(.POST, ["Content-Length": "2", "Content-Length": "2"]))
        #expect(!isDirect(.POST, ["Content-Length": "2", "Connection": "close"]))
        #expect(!isDirect(.POST, ["Content-Length": "2", "Connection": "upgrade"]))
        #expect(!isDirect(.POST, ["Content-Length": "2", "Expect": "100-continue"]))
        #expect(!isDirect(.OPTIONS, ["Content-Length": "2"]))
        #expect(!isDirect(.POST, ["Content-Length": "2"], in: .http1_0))
        let endpoint = "/app/a/endpoint/orders"
        #expect(isDirect(.GET, [:], to: endpoint) && isDirect(.DELETE, [:], to: endpoint))
        #expect(isDirect(.PUT, ["Content-Length": "2"], to: endpoint))
        #expect(!isDirect(.HEAD, [:], to: endpoint) && !isDirect(.PUT, ["Expect": "x"], to: endpoint))
    }

    @Test(
        "are dated as HTTP has it",
        arguments: [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
        ]
    )
    func date(second: Int, text: String) {
        #expect(HTTPDate.text(of: second) == text)
    }
}

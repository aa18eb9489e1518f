import HTTPTypes
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

    private func isDirect(_ method: HTTPRequest.Method, _ headers: HTTPFields) -> Bool {
        let head = HTTPRequest(
            method: method,
            scheme: "http",
            authority: "localhost",
            path: "/app/a/endpoint/data/v1/action/find",
            headerFields: headers
        )
        return DirectRequest.path(of: head) != nil
    }

    @Test("announce a small body and leave the connection open")
    func head() {
        #expect(isDirect(.post, [.contentLength: "65536"]))
        #expect(isDirect(.post, [.contentLength: "2", .connection: "keep-alive"]))
        #expect(!isDirect(.post, [.contentLength: "65537"]))
        #expect(!isDirect(.post, [:]))
        #expect(!isDirect(.post, [.transferEncoding: "chunked"]))
        #expect(!isDirect(.post, [.contentLength: "2", .transferEncoding: "chunked"]))
        #expect(!isDirect(.post, [.contentLength: "2", .connection: "close"]))
        #expect(!isDirect(.post, [.contentLength: "2", .connection: "upgrade"]))
        #expect(!isDirect(.options, [.contentLength: "2"]))
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

import HTTPTypes
public import Hummingbird
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1

/// A request of the Data API, or of an endpoint, that has arrived whole.
public struct DirectRequest: Sendable {
    let head: HTTPRequest
    let path: DirectPath
    let body: ByteBuffer
    /// The connection's.
    let loop: any EventLoop

    init(_ head: HTTPRequestHead, _ path: DirectPath, body: ByteBuffer, loop: any EventLoop) {
        self.head = HTTPRequest(
            method: DirectPath.method(of: head) ?? .post,
            scheme: "http",
            authority: head.headers.first(name: "host"),
            path: head.uri,
            headerFields: HTTPFields(head.headers, splitCookie: false)
        )
        self.path = path
        self.body = body
        self.loop = loop
    }
}

/// What a request is for that is answered without the framework.
enum DirectPath: Sendable {
    /// An action of the Data API.
    case dataAPI(DataAPIPath)
    /// An endpoint of an app.
    case endpoint(EndpointPath)

    /// Of a request's path and method; nil for what is the framework's.
    init?(_ head: HTTPRequestHead) {
        if head.method == .POST, let path = DataAPIPath(head.uri) {
            self = .dataAPI(path)
        } else if Self.method(of: head) != nil, let path = EndpointPath(head.uri) {
            self = .endpoint(path)
        } else {
            return nil
        }
    }

    /// One that endpoints and the Data API are asked by; nil for others.
    static func method(of head: HTTPRequestHead) -> HTTPRequest.Method? {
        switch head.method {
        case .GET: .get
        case .POST: .post
        case .PUT: .put
        case .PATCH: .patch
        case .DELETE: .delete
        default: nil
        }
    }
}

/// Answers requests of the Data API and of endpoints as they come out of a connection, without the framework between.
public protocol DirectResponder: Sendable {
    /// Answers one request; errors are answers, too.
    func respond(to request: DirectRequest, peerAddress: String?) async -> Response
}

extension DirectRequest {
    /// The path of a request that may be answered directly; nil for all others.
    ///
    /// That is one of the Data API or of an endpoint that has no body or announces a small one, and leaves the
    /// connection open.
    static func path(of head: HTTPRequestHead) -> DirectPath? {
        guard head.version == .http1_1, let path = DirectPath(head) else { return nil }
        var length: Int?
        for (name, value) in head.headers {
            switch name.utf8.count {
            // Whoever wants anything special of the connection is the framework's.
            case 6 where isName(name, "expect"), 17 where isName(name, "transfer-encoding"): return nil
            case 10 where isName(name, "connection"): guard value == "keep-alive" else { return nil }
            case 14 where isName(name, "content-length"):
                guard length == nil, let announced = Int(value), announced <= RequestGate.smallBody else {
                    return nil
                }
                length = announced
            default: break
            }
        }
        // Without a length and without an encoding there is no body.
        if length == nil, case .dataAPI = path { return nil }
        return path
    }

    private static func isName(_ name: String, _ lowercased: StaticString) -> Bool {
        lowercased.withUTF8Buffer { letters in name.utf8.elementsEqual(letters) { $0 | 0x20 == $1 } }
    }
}

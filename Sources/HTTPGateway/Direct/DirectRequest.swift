import HTTPTypes
public import Hummingbird
import NIOCore

/// A request of the Data API, or of an endpoint, that has arrived whole.
public struct DirectRequest: Sendable {
    let head: HTTPRequest
    let path: DirectPath
    let body: ByteBuffer
    /// The connection's.
    let loop: any EventLoop
}

/// What a request is for that is answered without the framework.
enum DirectPath: Sendable {
    /// An action of the Data API.
    case dataAPI(DataAPIPath)
    /// An endpoint of the app of this id.
    case endpoint(appID: String)

    /// Of a request's path and method; nil for what is the framework's.
    init?(_ path: String, _ method: HTTPRequest.Method) {
        if method == .post, let path = DataAPIPath(path) {
            self = .dataAPI(path)
        } else if Self.methods.contains(method), let appID = Self.endpointApp(of: path) {
            self = .endpoint(appID: appID)
        } else {
            return nil
        }
    }

    private static let methods: Set<HTTPRequest.Method> = [.get, .post, .put, .patch, .delete]

    /// The app of `/app/{id}/endpoint/…`.
    private static func endpointApp(of path: String) -> String? {
        guard path.hasPrefix("/app/") else { return nil }
        let rest = path.utf8.dropFirst(5)
        guard let end = rest.firstIndex(of: UInt8(ascii: "/")), end > rest.startIndex,
            rest[end...].starts(with: "/endpoint/".utf8), rest[end...].count > "/endpoint/".utf8.count,
            // The Data API with a query, which the framework tells from an endpoint of that name.
            !rest[end...].starts(with: "/endpoint/data/".utf8)
        else { return nil }
        let id = rest[..<end]
        let isPlain = id.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        return isPlain ? String(Substring(id)) : nil
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
    static func path(of head: HTTPRequest) -> DirectPath? {
        guard let path = head.path.flatMap({ DirectPath($0, head.method) }),
            head.headerFields[.transferEncoding] == nil, keepsConnection(head.headerFields)
        else { return nil }
        // Without a length and without an encoding there is no body.
        guard let length = head.headerFields[.contentLength] else {
            if case .endpoint = path { return path }
            return nil
        }
        guard let length = Int(length), length <= RequestGate.smallBody else { return nil }
        return path
    }

    /// Whoever wants anything special of the connection is the framework's.
    private static func keepsConnection(_ headers: HTTPFields) -> Bool {
        guard let connection = headers[.connection] else { return true }
        return connection == "keep-alive"
    }
}

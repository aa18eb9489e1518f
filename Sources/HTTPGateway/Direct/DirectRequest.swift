import HTTPTypes
public import Hummingbird
import NIOCore

/// A request of the Data API that has arrived whole.
public struct DirectRequest: Sendable {
    let head: HTTPRequest
    let path: DataAPIPath
    let body: ByteBuffer
}

/// Answers requests of the Data API as they come out of a connection, without the framework between.
public protocol DirectResponder: Sendable {
    /// Answers one request; errors are answers, too.
    func respond(to request: DirectRequest, peerAddress: String?) async -> Response
}

extension DirectRequest {
    /// The path of a request that may be answered directly; nil for all others.
    ///
    /// That is a POST of the Data API that announces a small body and leaves the connection open.
    static func path(of head: HTTPRequest) -> DataAPIPath? {
        guard head.method == .post, let length = head.headerFields[.contentLength].flatMap({ Int($0) }),
            length <= RequestGate.smallBody, head.headerFields[.transferEncoding] == nil,
            keepsConnection(head.headerFields)
        else { return nil }
        return head.path.flatMap { DataAPIPath($0) }
    }

    /// Whoever wants anything special of the connection is the framework's.
    private static func keepsConnection(_ headers: HTTPFields) -> Bool {
        guard let connection = headers[.connection] else { return true }
        return connection == "keep-alive"
    }
}

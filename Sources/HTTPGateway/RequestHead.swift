import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore

/// What is looked at of a request before its body, whoever received it.
struct RequestHead: Sendable {
    let http: HTTPRequest
    /// The peer of the socket; a proxy's address when there is one.
    let peerAddress: String?
    /// Where the request is seen to.
    let loop: any EventLoop

    init(_ http: HTTPRequest, peerAddress: String?, on loop: any EventLoop) {
        self.http = http
        self.peerAddress = peerAddress
        self.loop = loop
    }

    init(_ request: Request, _ context: GatewayContext) {
        self.init(request.head, peerAddress: context.peerAddress, on: context.channel.eventLoop)
    }

    var headers: HTTPFields { http.headerFields }

    /// The URL as it came: the path and, behind a `?`, the query.
    var target: String { http.path ?? "" }

    /// The URL without its query; taken apart when somebody asks.
    var path: String { URI(target).path }
}

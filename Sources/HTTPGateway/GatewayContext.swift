public import Hummingbird
import Logging
import NIOCore
import Observability

/// What travels with one HTTP request.
public struct GatewayContext: RequestContext {
    /// What the framework keeps of every request.
    public var coreContext: CoreRequestContextStorage
    /// The peer of the socket; a proxy's address when there is one.
    let peerAddress: String?
    /// Where the request is seen to.
    let loop: any EventLoop
    /// What is learnt of the request on its way.
    ///
    /// Its id is answered as `X-Appservices-Request-Id` and in an error's `link`.
    var trace = RequestTrace(requestID: "")

    /// The context of a request that has just arrived on a socket.
    public init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        peerAddress = source.channel.remoteAddress?.ipAddress
        loop = source.channel.eventLoop
    }
}

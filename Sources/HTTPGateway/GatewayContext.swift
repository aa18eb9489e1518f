public import Hummingbird
import Logging
import NIOCore

/// What travels with one HTTP request.
public struct GatewayContext: RequestContext {
    /// What the framework keeps of every request.
    public var coreContext: CoreRequestContextStorage
    /// The peer of the socket; a proxy's address when there is one.
    let peerAddress: String?
    /// 24 hexadecimal digits; answered as `X-Appservices-Request-Id` and in an error's `link`.
    var requestID = ""

    /// The context of a request that has just arrived on a socket.
    public init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        peerAddress = source.channel.remoteAddress?.ipAddress
    }
}

public import Hummingbird
import Logging
import NIOCore

/// What travels with one HTTP request.
public struct GatewayContext: RequestContext {
    public var coreContext: CoreRequestContextStorage
    /// The peer of the socket; a proxy's address when there is one.
    let peerAddress: String?
    /// 24 hexadecimal digits; answered as `X-Appservices-Request-Id` and in an error's `link`.
    var requestID = ""

    public init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        peerAddress = source.channel.remoteAddress?.ipAddress
    }
}

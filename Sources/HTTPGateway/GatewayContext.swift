public import Hummingbird
import Logging
import NIOCore
import Observability
import Scripting

/// What travels with one HTTP request.
public struct GatewayContext: RequestContext {
    /// What the framework keeps of every request.
    public var coreContext: CoreRequestContextStorage
    /// The peer of the socket; a proxy's address when there is one.
    let peerAddress: String?
    /// On which the request came: a connection, or a stream of one.
    let channel: any Channel
    /// What is learnt of the request on its way.
    ///
    /// Its id is answered as `X-Appservices-Request-Id` and in an error's `link`.
    var trace = RequestTrace(requestID: "")

    /// The context of a request that has just arrived on a socket.
    public init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        peerAddress = source.channel.remoteAddress?.ipAddress
        channel = source.channel
    }

    /// Of whoever waits for the answer, where the request has a channel of its own; else it is the connection's.
    ///
    /// That is a stream of HTTP/2, which a client gives up by itself. Its parent is the connection, which has none.
    var streamPresence: CallerPresence? {
        guard channel.parent != nil else { return nil }
        let presence = CallerPresence()
        channel.closeFuture.whenComplete { _ in presence.leave() }
        return presence
    }
}

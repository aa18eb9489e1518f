import HTTPTypes
public import NIOCore
public import NIOHTTPTypes

/// Ends a connection of HTTP/1.1 with its next answer while the server shuts down, and says so in the answer.
///
/// The client then opens its next connection elsewhere, instead of finding this one closed under a request.
/// Streams of HTTP/2 end with their connection, which gets a GOAWAY from the server.
public final class DrainHandler: ChannelOutboundHandler, RemovableChannelHandler {
    /// What the answer consists of.
    public typealias OutboundIn = HTTPResponsePart
    /// What goes on to the socket.
    public typealias OutboundOut = HTTPResponsePart

    private let readiness: Readiness
    private var isStream = false
    private var isLast = false
    /// The end of an answer on its way to the socket, while the server shuts down.
    private var end: EventLoopFuture<Void>?

    /// - Parameter readiness: Knows when the server shuts down.
    public init(readiness: Readiness) {
        self.readiness = readiness
    }

    /// A stream's parent is a connection, and has the listener for its own parent.
    public func handlerAdded(context: ChannelHandlerContext) {
        isStream = context.channel.parent != nil
    }

    /// Marks heads, and closes behind the end of a marked answer.
    public func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isStream else { return context.write(data, promise: promise) }
        switch unwrapOutboundIn(data) {
        case .head(var head) where readiness.isShuttingDown && head.status.kind != .informational:
            isLast = true
            head.headerFields[.connection] = "close"
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end where readiness.isShuttingDown:
            let promise = promise ?? context.eventLoop.makePromise()
            end = promise.futureResult
            context.writeAndFlush(data, promise: promise)
            if isLast { close(context: context, mode: .all, promise: nil) }
        default: context.write(data, promise: promise)
        }
    }

    /// Closes once the last answer has left; closing drops what the client has not taken yet.
    public func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard let end, case .all = mode else { return context.close(mode: mode, promise: promise) }
        let connection = NIOLoopBound(context, eventLoop: context.eventLoop)
        end.whenComplete { _ in connection.value.close(mode: .all, promise: promise) }
    }
}

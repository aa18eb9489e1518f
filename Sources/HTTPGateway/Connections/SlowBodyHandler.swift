public import NIOCore
public import NIOHTTPTypes

/// Ends the wait for a body that does not come: one per connection, before the requests are handled.
///
/// When the time is up the request ends where it is, so that its reader finds it cut short and refuses it;
/// what still arrives is dropped, and the connection closes with the answer.
public final class SlowBodyHandler: ChannelDuplexHandler, RemovableChannelHandler {
    /// What arrives: heads, bodies, ends.
    public typealias InboundIn = HTTPRequestPart
    /// What goes on to the request's handler.
    public typealias InboundOut = HTTPRequestPart
    /// What the answer consists of.
    public typealias OutboundIn = HTTPResponsePart
    /// What goes on to the socket.
    public typealias OutboundOut = HTTPResponsePart

    private let timeout: TimeAmount
    private var timer: Scheduled<Void>?
    private var isWaiting = false
    private var gaveUp = false
    private var connection: ConnectionGuard?
    /// Whether this is a stream of HTTP/2, whose connection is the parent.
    private var isStream = false

    /// - Parameter timeout: How long a body may take, from the head on.
    public init(timeout: TimeAmount) {
        self.timeout = timeout
    }

    /// Finds the connection's guard, in this pipeline or, for a stream of HTTP/2, in the connection's.
    public func handlerAdded(context: ChannelHandlerContext) {
        let own = try? context.pipeline.syncOperations.handler(type: ConnectionGuard.self)
        if own == nil, let parent = context.channel.parent, parent.eventLoop.inEventLoop {
            connection = try? parent.pipeline.syncOperations.handler(type: ConnectionGuard.self)
            isStream = connection != nil
        } else {
            connection = own
        }
    }

    /// Begins to wait at a head and stops at an end; most bodies arrive with their head and need no timer.
    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if gaveUp { return }
        switch unwrapInboundIn(data) {
        case .head:
            connection?.headArrived(isMultiplexed: isStream)
            isWaiting = true
        case .end:
            isWaiting = false
            timer?.cancel()
            timer = nil
        case .body: break
        }
        context.fireChannelRead(data)
    }

    /// Sets the timer for a body that did not come at once.
    public func channelReadComplete(context: ChannelHandlerContext) {
        if isWaiting, timer == nil, !gaveUp {
            let loop = context.eventLoop.assumeIsolated()
            timer = loop.scheduleTask(in: timeout) { self.giveUp(context) }
        }
        context.fireChannelReadComplete()
    }

    private func giveUp(_ context: ChannelHandlerContext) {
        guard timer != nil else { return }
        timer = nil
        isWaiting = false
        gaveUp = true
        context.fireChannelRead(wrapInboundOut(.end(nil)))
        context.fireChannelReadComplete()
    }

    /// Closes after the answer to a request that was given up.
    public func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .end = unwrapOutboundIn(data) else {
            context.write(data, promise: promise)
            return
        }
        connection?.answerEnded()
        guard gaveUp else {
            context.write(data, promise: promise)
            return
        }
        context.writeAndFlush(data, promise: promise)
        context.close(promise: nil)
    }

    /// Lets nothing hang on to a connection that is gone.
    public func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
    }
}

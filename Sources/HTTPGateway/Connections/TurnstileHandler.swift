public import NIOCore

/// Holds what a connection sends until its turn comes, when it may wait: as long as no request of it has been seen, and
/// after a request that called a function, since the next most likely does so, too.
///
/// It stands behind the connection's ``ConnectionGuard``, whose time runs on meanwhile, and before TLS, whose
/// handshakes cost most.
public final class TurnstileHandler: ChannelDuplexHandler, RemovableChannelHandler {
    /// Bytes from the socket.
    public typealias InboundIn = ByteBuffer
    /// The same bytes.
    public typealias InboundOut = ByteBuffer
    /// What goes to the socket, which is not looked at.
    public typealias OutboundIn = IOData
    /// The same.
    public typealias OutboundOut = IOData

    private let turnstiles: Turnstiles
    private let connection: ConnectionGuard
    private var context: ChannelHandlerContext?
    private var held: ByteBuffer?
    private var wantsToRead = false

    /// - Parameters:
    ///   - turnstiles: Shared by all connections.
    ///   - connection: Knows whether the connection has sent a request before.
    public init(_ turnstiles: Turnstiles, behind connection: ConnectionGuard) {
        self.turnstiles = turnstiles
        self.connection = connection
    }

    /// Notes where it stands.
    public func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    /// Lets nothing hang on to a connection that is gone.
    public func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        held = nil
    }

    /// Passes on what comes when its turn has come.
    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if held != nil {
            var more = unwrapInboundIn(data)
            held?.writeBuffer(&more)
        } else if let turnstile = turnstile(of: context.eventLoop), !turnstile.admits() {
            held = unwrapInboundIn(data)
            // Who has gone meanwhile takes nobody's turn.
            turnstile.wait { self.letIn() }
        } else {
            context.fireChannelRead(data)
        }
    }

    /// Where what comes next is to pass, if anywhere.
    private func turnstile(of loop: any EventLoop) -> Turnstile? {
        if !connection.hasSentRequest { return turnstiles.of(loop).newcomers }
        return connection.callsFunctions ? turnstiles.of(loop).callers : nil
    }

    /// Nothing has been read yet for those who come next.
    public func channelReadComplete(context: ChannelHandlerContext) {
        if held == nil { context.fireChannelReadComplete() }
    }

    /// Reads on when what was read has been passed on.
    public func read(context: ChannelHandlerContext) {
        if held == nil { context.read() } else { wantsToRead = true }
    }

    /// Keeps the order: what was sent before the end comes before it.
    public func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        letIn()
        context.fireUserInboundEventTriggered(event)
    }

    /// Keeps the order, as above.
    public func channelInactive(context: ChannelHandlerContext) {
        letIn()
        context.fireChannelInactive()
    }

    /// Keeps the order, as above.
    public func errorCaught(context: ChannelHandlerContext, error: any Error) {
        letIn()
        context.fireErrorCaught(error)
    }

    /// Passes on what is held.
    ///
    /// - Returns: Whether there was something.
    @discardableResult
    private func letIn() -> Bool {
        guard let context, let bytes = held else { return false }
        held = nil
        context.fireChannelRead(wrapInboundOut(bytes))
        context.fireChannelReadComplete()
        if wantsToRead {
            wantsToRead = false
            context.read()
        }
        return true
    }
}

public import NIOCore

/// Holds what a connection sends after a request that called a function until its turn comes, since the next request
/// most likely calls one, too; and the news that a client is gone, for whom nobody has to hurry.
///
/// It stands behind the connection's ``ConnectionGuard``, whose time runs on meanwhile.
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
    ///   - connection: Knows what its last request did.
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
        connection.callsFunctions ? turnstiles.of(loop).callers : nil
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
        guard case ChannelEvent.inputClosed = event else {
            return context.fireUserInboundEventTriggered(event)
        }
        turnstiles.of(context.eventLoop).leavers.pass {
            self.connection.clientHasLeft()
            // Closed altogether meanwhile, of which the others know.
            guard let context = self.context, context.channel.isActive else { return }
            context.fireUserInboundEventTriggered(event)
        }
    }

    /// Keeps the order, as above.
    public func channelInactive(context: ChannelHandlerContext) {
        letIn()
        turnstiles.of(context.eventLoop).leavers.pass { self.connection.clientHasLeft() }
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

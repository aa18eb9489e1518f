public import NIOCore
public import Scripting

/// Stands between a socket and everything else: connections that do not bring a request's head to its end in time are
/// closed.
///
/// The time runs from the connection's first byte, so that it bounds the handshake of TLS too, and later from the
/// first byte after an answer. ``SlowBodyHandler`` tells of heads and answers. A connection of HTTP/2 is
/// watched until its first head; later, one without streams is idle and closed as such.
public final class ConnectionGuard: ChannelInboundHandler, RemovableChannelHandler {
    /// Bytes from the socket.
    public typealias InboundIn = ByteBuffer
    /// The same bytes.
    public typealias InboundOut = ByteBuffer
    /// Bytes to the socket.
    public typealias OutboundOut = ByteBuffer

    private let headTimeout: TimeAmount
    /// Whether answers can be written as they are.
    private let isPlain: Bool
    private let presence: CallerPresence
    private let idleTimeout: TimeAmount?
    private var timer: Scheduled<Void>?
    private var idleTimer: Scheduled<Void>?
    /// When it was last busy, as far as the timer has to know.
    private var lastBusy = NIODeadline.now()
    private var requests = 0
    private var isMultiplexed = false
    private var hasBytes = false
    /// Whether its last request called a function; a connection of HTTP/2 also brings others meanwhile.
    var callsFunctions: Bool { presence.callsFunctions }

    /// - Parameters:
    ///   - headTimeout: How long a head may take.
    ///   - isPlain: Whether the connection is without TLS.
    ///   - presence: Of whoever is at the other end, who is gone when nothing can come any more.
    ///   - idleTimeout: How long nothing need come between requests; nil is for somebody else to see to.
    public init(
        headTimeout: TimeAmount,
        isPlain: Bool,
        presence: CallerPresence,
        idleTimeout: TimeAmount? = nil
    ) {
        self.headTimeout = headTimeout
        self.isPlain = isPlain
        self.presence = presence
        self.idleTimeout = idleTimeout
    }

    /// Begins to wait for a head where the connection stands already.
    public func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { begin(context) }
    }

    /// Begins to wait for a head.
    public func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        begin(context)
    }

    private func begin(_ context: ChannelHandlerContext) {
        startTimer(context)
        if let idleTimeout { waitForIdleness(idleTimeout, context) }
    }

    /// Looks again when the connection may have been idle for so long.
    private func waitForIdleness(_ time: TimeAmount, _ context: ChannelHandlerContext) {
        idleTimer?.cancel()
        idleTimer = context.eventLoop.assumeIsolated().scheduleTask(in: time) {
            guard let timeout = self.idleTimeout, self.idleTimer != nil else { return }
            let now = NIODeadline.now()
            // A head that does not come has its own time, and so have bodies and answers.
            if self.requests > 0 || self.hasBytes { self.lastBusy = now }
            let rest = self.lastBusy + timeout - now
            if rest <= .zero { context.close(promise: nil) } else { self.waitForIdleness(rest, context) }
        }
    }

    /// Notes that a request has begun.
    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        hasBytes = true
        context.fireChannelRead(data)
    }

    /// Starts the time of a head that did not come at once; most do, and need no timer.
    public func channelReadComplete(context: ChannelHandlerContext) {
        if hasBytes, requests == 0, !isMultiplexed { startTimer(context) }
        context.fireChannelReadComplete()
    }

    /// Says that the client is gone; one who only ends what they send looks the same until they are answered.
    func clientHasLeft() {
        presence.leave()
    }

    private func startTimer(_ context: ChannelHandlerContext) {
        guard timer == nil else { return }
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: headTimeout) { self.giveUp(context) }
    }

    private func giveUp(_ context: ChannelHandlerContext) {
        guard timer != nil else { return }
        timer = nil
        if isPlain, hasBytes {
            let text = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
        }
        context.close(promise: nil)
    }

    /// A head has come whole.
    func headArrived(isMultiplexed: Bool) {
        timer?.cancel()
        timer = nil
        requests += 1
        hasBytes = false
        presence.callsFunctions = false
        if isMultiplexed { self.isMultiplexed = true }
    }

    /// An answer has been written.
    func answerEnded() {
        requests -= 1
        hasBytes = false
        if idleTimeout != nil { lastBusy = .now() }
    }

    /// Lets nothing hang on to a connection that is gone.
    public func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
        idleTimer?.cancel()
        idleTimer = nil
    }
}

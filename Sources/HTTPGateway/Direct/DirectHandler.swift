import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Takes requests of the Data API and of endpoints out of a connection of HTTP/1.1 once they have arrived whole;
/// all others go on to the framework.
///
/// It stands behind the handlers that watch over time, shutting down and slow clients, so that these see every
/// request and every answer, whoever gives it. Requests that come before an answer has ended wait here, and the
/// socket is not read on meanwhile. What does not arrive in one piece is the framework's, whose body reader and
/// timers expect that.
final class DirectHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private enum Phase {
        /// Between requests.
        case idle
        /// A request that may be ours arrives; nothing of it has gone on.
        case collecting(HTTPRequest, DirectPath)
        /// A request of the framework's arrives.
        case passing
        /// A request of ours is being answered.
        case answering
    }

    /// What came while a request was being answered, in order.
    private enum Held {
        case part(HTTPRequestPart)
        case event(Any)
        case failure(any Error)
    }

    private let requests: DirectRequests
    private var phase = Phase.idle
    private var body: ByteBuffer?
    /// Requests that went on and whose answers have not ended.
    private var unanswered = 0
    private var held: [Held] = []
    private var wantsToRead = false
    private var context: ChannelHandlerContext?

    init(_ requests: DirectRequests) {
        self.requests = requests
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        requests.end()
    }

    // MARK: What arrives

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        if case .answering = phase { held.append(.part(part)) } else { take(part, context) }
    }

    private func take(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        switch (phase, part) {
        case (.idle, .head(let head)):
            if unanswered == 0, let path = DirectRequest.path(of: head) {
                phase = .collecting(head, path)
            } else {
                unanswered += 1
                phase = .passing
                context.fireChannelRead(wrapInboundOut(part))
            }
        case (.collecting, .body(var chunk)):
            if body == nil { body = chunk } else { body?.writeBuffer(&chunk) }
        case (.collecting(let head, let path), .end(nil)):
            phase = .answering
            let request = DirectRequest(
                head: head,
                path: path,
                body: body ?? ByteBuffer(),
                loop: context.eventLoop
            )
            body = nil
            requests.deliver(request)
        case (.collecting, .head), (.collecting, .end):
            passOn(context)
            take(part, context)
        case (.passing, .end):
            phase = .idle
            context.fireChannelRead(wrapInboundOut(part))
        case (.idle, .body), (.idle, .end), (.passing, .head), (.passing, .body), (.answering, _):
            context.fireChannelRead(wrapInboundOut(part))
        }
    }

    /// Leaves what has come of a request to the framework, and the rest of it, too.
    private func passOn(_ context: ChannelHandlerContext) {
        guard case .collecting(let head, _) = phase else { return }
        unanswered += 1
        phase = .passing
        context.fireChannelRead(wrapInboundOut(.head(head)))
        if let body { context.fireChannelRead(wrapInboundOut(.body(body))) }
        body = nil
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        passOn(context)
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .answering = phase {
            held.append(.event(event))
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if case .answering = phase { held.append(.failure(error)) } else { context.fireErrorCaught(error) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        requests.end()
        context.fireChannelInactive()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { requests.roomMade() }
        context.fireChannelWritabilityChanged()
    }

    // MARK: What leaves

    func read(context: ChannelHandlerContext) {
        if held.isEmpty { context.read() } else { wantsToRead = true }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) { unanswered = max(0, unanswered - 1) }
        context.write(data, promise: promise)
    }

    /// Writes a part of our own answer.
    ///
    /// - Returns: Whether the connection has room for more.
    func send(_ part: HTTPResponsePart, flushing: Bool) -> Bool {
        guard let context else { return true }
        context.write(wrapOutboundOut(part), promise: nil)
        if flushing { context.flush() }
        return context.channel.isWritable || !context.channel.isActive
    }

    /// Our answer has been written: what was held meanwhile comes next.
    func answerEnded() {
        phase = .idle
        guard let context, !held.isEmpty else { return }
        let waiting = held
        held = []
        for (index, item) in waiting.enumerated() {
            if case .answering = phase {
                held = Array(waiting[index...])
                break
            }
            switch item {
            case .part(let part): take(part, context)
            case .event(let event): context.fireUserInboundEventTriggered(event)
            case .failure(let error): context.fireErrorCaught(error)
            }
        }
        // The end of that reading was told while these were held.
        channelReadComplete(context: context)
        if wantsToRead, held.isEmpty {
            wantsToRead = false
            context.read()
        }
    }

    /// Ends the connection under an answer that could not be written to its end.
    func abandon() {
        context?.close(promise: nil)
    }
}

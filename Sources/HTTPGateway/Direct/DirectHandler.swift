public import NIOCore
public import NIOHTTP1

/// Takes requests of the Data API and of endpoints out of a connection of HTTP/1.1 once they have arrived whole;
/// all others go on to the framework.
///
/// It stands right behind what reads and writes HTTP/1.1, so that such a request costs none of what follows. What the
/// handlers behind do for others it does itself: it tells the ``ConnectionGuard`` of requests and answers, holds events
/// until an answer has ended, and ends the connection with it while the server shuts down. A body that does not arrive
/// with its head is the framework's, with its time limit. Requests that come before an answer has ended wait here, and
/// the socket is not read on meanwhile.
public final class DirectHandler: ChannelDuplexHandler, RemovableChannelHandler {
    /// Parts of requests.
    public typealias InboundIn = HTTPServerRequestPart
    /// Those of the framework's requests.
    public typealias InboundOut = HTTPServerRequestPart
    /// Parts of the framework's answers.
    public typealias OutboundIn = HTTPServerResponsePart
    /// Parts of all answers.
    public typealias OutboundOut = HTTPServerResponsePart

    private enum Phase {
        /// Between requests.
        case idle
        /// A request that may be ours arrives; nothing of it has gone on.
        case collecting(HTTPRequestHead, DirectPath)
        /// A request of the framework's arrives.
        case passing
        /// A request of ours is being answered.
        case answering
    }

    /// What came while a request was being answered, in order.
    private enum Held {
        case part(HTTPServerRequestPart)
        case event(Any)
        case failure(any Error)
    }

    private let requests: DirectRequests
    private let readiness: Readiness
    private var connection: ConnectionGuard?
    private var phase = Phase.idle
    private var body: ByteBuffer?
    /// Requests that went on and whose answers have not ended.
    private var unanswered = 0
    private var held: [Held] = []
    private var wantsToRead = false
    private var context: ChannelHandlerContext?
    /// The end of an answer of ours on its way to the socket, while the server shuts down.
    private var ending: EventLoopFuture<Void>?

    init(_ requests: DirectRequests, readiness: Readiness) {
        self.requests = requests
        self.readiness = readiness
    }

    /// Notes where it stands.
    public func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        connection = try? context.pipeline.syncOperations.handler(type: ConnectionGuard.self)
    }

    /// Nobody waits for requests any more.
    public func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        requests.end()
    }

    // MARK: What arrives

    /// Takes a part, or holds it until the answer before has ended.
    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        if case .answering = phase { held.append(.part(part)) } else { take(part, context) }
    }

    private func take(_ part: HTTPServerRequestPart, _ context: ChannelHandlerContext) {
        switch (phase, part) {
        case (.idle, .head(let head)):
            if unanswered == 0, !readiness.isShuttingDown, let path = DirectRequest.path(of: head) {
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
            connection?.headArrived(isMultiplexed: false)
            let request = DirectRequest(
                head,
                path,
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

    /// What has not come whole by now is the framework's.
    public func channelReadComplete(context: ChannelHandlerContext) {
        passOn(context)
        context.fireChannelReadComplete()
    }

    /// Holds what is to happen after an answer.
    public func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .answering = phase {
            held.append(.event(event))
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    /// Holds it, too.
    public func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if case .answering = phase { held.append(.failure(error)) } else { context.fireErrorCaught(error) }
    }

    /// Nobody waits for an answer any more.
    public func channelInactive(context: ChannelHandlerContext) {
        requests.end()
        context.fireChannelInactive()
    }

    /// Goes on with an answer that waited for room.
    public func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { requests.roomMade() }
        context.fireChannelWritabilityChanged()
    }

    // MARK: What leaves

    /// Reads on when nothing is held.
    public func read(context: ChannelHandlerContext) {
        if held.isEmpty { context.read() } else { wantsToRead = true }
    }

    /// Counts the framework's answers.
    public func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) { unanswered = max(0, unanswered - 1) }
        context.write(data, promise: promise)
    }

    /// Closes once the last answer has left; closing drops what the client has not taken yet.
    public func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard let ending, case .all = mode else { return context.close(mode: mode, promise: promise) }
        let place = NIOLoopBound(context, eventLoop: context.eventLoop)
        ending.whenComplete { _ in place.value.close(mode: .all, promise: promise) }
    }

    /// Begins our own answer: the last of its connection while the server shuts down.
    func send(head: HTTPResponseHead) {
        guard let context else { return }
        var head = head
        if readiness.isShuttingDown {
            head.headers.replaceOrAdd(name: "connection", value: "close")
            ending = context.eventLoop.makeSucceededVoidFuture()
        }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
    }

    /// Goes on with it.
    ///
    /// - Returns: Whether the connection has room for more.
    func send(body: ByteBuffer, flushing: Bool) -> Bool {
        guard let context else { return true }
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        if flushing { context.flush() }
        return context.channel.isWritable || !context.channel.isActive
    }

    /// Ends it.
    func sendEnd() {
        guard let context else { return }
        connection?.answerEnded()
        guard ending != nil else { return context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil) }
        let promise = context.eventLoop.makePromise(of: Void.self)
        ending = promise.futureResult
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: promise)
        close(context: context, mode: .all, promise: nil)
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

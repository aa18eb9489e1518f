public import NIOCore
public import NIOHTTPTypes

/// Closes a connection, or a stream of HTTP/2, whose client does not take its answer.
///
/// Answers are written in pieces, and each piece waits until the one before has room (`ResponseBody.paced`), so
/// that a client who reads at all makes the channel writable now and then.
public final class SlowReaderHandler: ChannelDuplexHandler, RemovableChannelHandler {
    /// Requests, which only pass.
    public typealias InboundIn = HTTPRequestPart
    /// The same requests.
    public typealias InboundOut = HTTPRequestPart
    /// Answers, which only pass.
    public typealias OutboundIn = HTTPResponsePart
    /// The same answers.
    public typealias OutboundOut = HTTPResponsePart

    private let timeout: TimeAmount
    private var timer: Scheduled<Void>?

    /// - Parameter timeout: How long a client may take nothing.
    public init(timeout: TimeAmount) {
        self.timeout = timeout
    }

    /// Begins to wait when what was written found no room.
    public func flush(context: ChannelHandlerContext) {
        context.flush()
        watch(context)
    }

    /// Stops waiting when there is room, begins when there is none.
    public func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            timer?.cancel()
            timer = nil
        } else {
            watch(context)
        }
        context.fireChannelWritabilityChanged()
    }

    private func watch(_ context: ChannelHandlerContext) {
        guard timer == nil, !context.channel.isWritable else { return }
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: timeout) {
            self.timer = nil
            if !context.channel.isWritable { context.close(promise: nil) }
        }
    }

    /// Lets nothing hang on to a connection that is gone.
    public func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
    }
}

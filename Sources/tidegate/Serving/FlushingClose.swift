import NIOCore

/// Lets what was written on a TLS connection leave before it is closed.
///
/// With the last frame of its last stream, and before that frame is flushed, a connection of HTTP/2 that is
/// shutting down closes itself, and the answer would be lost. A turn of the event loop later it has been flushed.
final class FlushingClose: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard case .all = mode else { return context.close(mode: mode, promise: promise) }
        let connection = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.eventLoop.execute {
            connection.value.flush()
            connection.value.close(mode: .all, promise: promise)
        }
    }
}

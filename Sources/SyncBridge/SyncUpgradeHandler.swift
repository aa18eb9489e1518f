import HTTPTypes
import HummingbirdCore
public import NIOCore
import NIOHTTP1
public import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOWebSocket
import Services

/// Turns a connection of HTTP/1.1 into a socket for sync, when a request asks for it.
///
/// It stands behind the codec of HTTP; every other request passes through. Once the answer 101 has left, all that
/// serves HTTP is taken out before it, and what stands behind it never hears of the connection again but for its end.
public final class SyncUpgradeHandler: ChannelInboundHandler, RemovableChannelHandler {
    /// Parts of requests.
    public typealias InboundIn = HTTPRequestPart
    /// The same parts.
    public typealias InboundOut = HTTPRequestPart
    /// Parts of the answer.
    public typealias OutboundOut = HTTPResponsePart

    /// The longest message of a device: 20 MiB packed, and its header.
    static let messageLimit = 20_971_521

    private let door: SyncDoor
    /// Takes out what guards connections of HTTP.
    private let release: @Sendable (ChannelPipeline.SynchronousOperations) -> Void
    private var wanted: (request: HTTPRequest, app: String)?

    /// - Parameters:
    ///   - door: Decides, and serves the socket.
    ///   - release: Takes handlers out of the pipeline that are for HTTP alone.
    public init(
        door: SyncDoor,
        release: @escaping @Sendable (ChannelPipeline.SynchronousOperations) -> Void
    ) {
        self.door = door
        self.release = release
    }

    /// Keeps a request for a socket, and lets others pass.
    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let request):
            // A stream of HTTP/2 has no such field.
            if request.headerFields[.upgrade] != nil, let app = SyncDoor.app(of: request) {
                wanted = (request, app)
            } else {
                context.fireChannelRead(data)
            }
        case .body: if wanted == nil { context.fireChannelRead(data) }
        case .end:
            guard let wanted else { return context.fireChannelRead(data) }
            decide(wanted.request, wanted.app, context)
        }
    }

    private func decide(_ request: HTTPRequest, _ app: String, _ context: ChannelHandlerContext) {
        let place = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        let loop = context.eventLoop
        let door = door
        // Nobody waits for it: the connection goes on where it ends.
        Task {
            let upgrade = await door.decide(request, app: app)
            loop.execute { place.value.handler.answer(upgrade, place.value.context) }
        }
    }

    private func answer(_ upgrade: SyncUpgrade, _ context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        switch upgrade {
        case .refused(let status, let reason):
            var fields = HTTPFields()
            let body = ByteBuffer(string: reason)
            fields[.contentType] = "text/plain; charset=utf-8"
            fields[.contentLength] = "\(body.readableBytes)"
            fields[.connection] = "close"
            write(.head(HTTPResponse(status: status, headerFields: fields)), context)
            write(.body(body), context)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            context.close(promise: nil)
        case .accepted(let fields, let caller):
            write(.head(HTTPResponse(status: .switchingProtocols, headerFields: fields)), context)
            let sent = context.eventLoop.makePromise(of: Void.self)
            let place = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
            sent.futureResult.whenSuccess {
                place.value.handler.open(caller, place.value.context)
            }
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: sent)
        }
    }

    private func write(_ part: HTTPResponsePart, _ context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(part), promise: nil)
    }

    /// Puts the socket's handlers in the place of those for HTTP.
    private func open(_ caller: SyncCaller, _ context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        do {
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            let handlers: [any ChannelHandler] = [
                WebSocketFrameEncoder(),
                ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: Self.messageLimit)),
                WebSocketProtocolErrorHandler(),
                NIOWebSocketFrameAggregator(
                    minNonFinalFragmentSize: 0,
                    maxAccumulatedFrameCount: 10_000,
                    maxAccumulatedFrameSize: Self.messageLimit
                ),
                SyncSocketHandler(door: door, caller: caller),
            ]
            try pipeline.addHandlers(handlers, position: .after(decoder))
            // All of this happens before the next bytes are read.
            release(pipeline)
            remove(HTTP1ToHTTPServerCodec.self, pipeline)
            remove(HTTPResponseEncoder.self, pipeline)
            remove(HTTPConnectionStateHandler.self, pipeline)
            pipeline.removeHandler(decoder, promise: nil)
            pipeline.removeHandler(self, promise: nil)
        } catch {
            context.close(promise: nil)
        }
    }

    private func remove<Handler: RemovableChannelHandler>(
        _ type: Handler.Type,
        _ pipeline: ChannelPipeline.SynchronousOperations
    ) {
        guard let handler = try? pipeline.handler(type: type) else { return }
        pipeline.removeHandler(handler, promise: nil)
    }
}

import NIOCore
import NIOWebSocket
import Services
import Sync

/// The socket of one device: frames in, frames out.
///
/// Messages wait in a bounded row for the task that serves them; while it is full the socket is not read.
final class SyncSocketHandler: ChannelDuplexHandler {
    typealias InboundIn = WebSocketFrame
    typealias InboundOut = WebSocketFrame
    typealias OutboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    /// While so many bytes wait, no more are read.
    private static let waitingLimit = 4 << 20

    private let door: SyncDoor
    private let caller: SyncCaller
    private let events: AsyncStream<SyncEvent>
    private let arrived: AsyncStream<SyncEvent>.Continuation
    private var waitingBytes = 0
    private var wantsToRead = false
    private var hasEnded = false

    init(door: SyncDoor, caller: SyncCaller) {
        self.door = door
        self.caller = caller
        (events, arrived) = AsyncStream.makeStream()
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let place = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        let loop = context.eventLoop
        let socket = SyncSocket(
            loop: loop,
            write: { frame, promise in place.value.handler.write(frame, place.value.context, promise) },
            served: { bytes in loop.execute { place.value.handler.served(bytes, place.value.context) } }
        )
        let connection = SyncConnection(
            door: door,
            caller: caller,
            socket: socket,
            events: events,
            arrived: arrived
        )
        // Ends when the row of events does, which is when the socket closes.
        Task { await connection.run() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        switch frame.opcode {
        case .binary:
            waitingBytes += frame.data.readableBytes
            arrived.yield(.message(Array(frame.unmaskedData.readableBytesView)))
        case .ping:
            context.writeAndFlush(
                wrapOutboundOut(WebSocketFrame(fin: true, opcode: .pong, data: frame.unmaskedData)),
                promise: nil
            )
        case .connectionClose:
            end()
            let loop = context.eventLoop
            let place = NIOLoopBound(context, eventLoop: loop)
            context.writeAndFlush(
                wrapOutboundOut(WebSocketFrame(fin: true, opcode: .connectionClose, data: frame.unmaskedData))
            ).whenComplete { _ in place.value.close(promise: nil) }
        case .text: close(context, .unacceptableData)
        default: break
        }
    }

    /// Writes from here, since what stands behind speaks HTTP.
    private func write(
        _ frame: WebSocketFrame,
        _ context: ChannelHandlerContext,
        _ promise: EventLoopPromise<Void>
    ) {
        guard context.channel.isActive else { return promise.fail(ChannelError.ioOnClosedChannel) }
        context.writeAndFlush(wrapOutboundOut(frame), promise: promise)
        guard frame.opcode == .connectionClose else { return }
        end()
        let place = NIOLoopBound(context, eventLoop: context.eventLoop)
        promise.futureResult.whenComplete { _ in place.value.close(promise: nil) }
    }

    /// A message has been served: there is room for others.
    private func served(_ bytes: Int, _ context: ChannelHandlerContext) {
        waitingBytes -= bytes
        guard wantsToRead, waitingBytes < Self.waitingLimit else { return }
        wantsToRead = false
        context.read()
    }

    func read(context: ChannelHandlerContext) {
        if waitingBytes < Self.waitingLimit { context.read() } else { wantsToRead = true }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The server shuts down: the device connects again elsewhere.
        if event is ChannelShouldQuiesceEvent { close(context, .goingAway) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if case NIOWebSocketError.invalidFrameLength = error { return close(context, .messageTooLarge) }
        end()
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    private func end() {
        hasEnded = true
        arrived.finish()
    }

    private func close(_ context: ChannelHandlerContext, _ code: WebSocketErrorCode) {
        guard !hasEnded else { return }
        end()
        var data = context.channel.allocator.buffer(capacity: 2)
        data.write(webSocketErrorCode: code)
        let place = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.writeAndFlush(
            wrapOutboundOut(WebSocketFrame(fin: true, opcode: .connectionClose, data: data))
        ).whenComplete { _ in place.value.close(promise: nil) }
    }
}

/// What happens on a connection.
enum SyncEvent: Sendable {
    case message([UInt8])
    /// The history has grown.
    case history
}

/// Sends frames.
struct SyncSocket: Sendable {
    let loop: any EventLoop
    /// Called on the loop.
    let write: @Sendable (WebSocketFrame, EventLoopPromise<Void>) -> Void
    /// Told of each message that has been served, with its size.
    let served: @Sendable (Int) -> Void

    /// Sends a message, and waits until it is on its way: a slow device holds up its own task alone.
    func send(_ bytes: [UInt8]) async throws {
        try await send(WebSocketFrame(fin: true, opcode: .binary, data: ByteBuffer(bytes: bytes)))
    }

    /// Ends the connection in order.
    func close(_ code: Int = 1000) async {
        var data = ByteBuffer()
        data.write(webSocketErrorCode: WebSocketErrorCode(codeNumber: code))
        try? await send(WebSocketFrame(fin: true, opcode: .connectionClose, data: data))
    }

    private func send(_ frame: WebSocketFrame) async throws {
        let promise = loop.makePromise(of: Void.self)
        loop.execute { write(frame, promise) }
        try await promise.futureResult.get()
    }
}

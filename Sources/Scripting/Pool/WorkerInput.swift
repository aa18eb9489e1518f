internal import NIOCore
internal import NIOPosix

/// Cuts what a worker sends into frames, on the event loop that its socket belongs to.
final class WorkerInput: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let worker: ScriptWorker
    private var received = FrameBuffer()

    init(_ worker: ScriptWorker) {
        self.worker = worker
    }

    /// Hands a worker's socket to a loop, which closes it.
    static func open(_ socket: CInt, of worker: ScriptWorker, on loop: any EventLoop) -> EventLoopFuture<
        any Channel
    > {
        ClientBootstrap(group: loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(WorkerInput(worker))
                }
            }
            .withConnectedSocket(socket)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        unwrapInboundIn(data).withUnsafeReadableBytes { received.append($0) }
        do {
            while let frame = try received.next() {
                guard worker.take(frame) else { return context.close(promise: nil) }
            }
        } catch {
            // It sent what it must not.
            context.close(promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        worker.close()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

import HTTPGateway
import HummingbirdCore
import Logging
import NIOCore

/// A connection with a ``ConnectionGuard`` before everything else.
struct GuardedChannel<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base
    let connections: ConnectionCount
    let headTimeout: TimeAmount
    let isPlain: Bool

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        do {
            try channel.pipeline.syncOperations.addHandler(
                ConnectionGuard(connections: connections, headTimeout: headTimeout, isPlain: isPlain)
            )
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return base.setup(channel: channel, logger: logger)
    }

    func handle(value: Base.Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}

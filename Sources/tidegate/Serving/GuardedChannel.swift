import HTTPGateway
import HummingbirdCore
import Logging
import NIOCore
import NIOSSL
import Scripting

/// A connection with a ``ConnectionGuard`` and a ``TurnstileHandler`` before everything else.
struct GuardedChannel<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base
    let turnstiles: Turnstiles
    let headTimeout: TimeAmount
    let isPlain: Bool
    /// How long a connection may be idle; nil where its base sees to that.
    let idleTimeout: TimeAmount?

    struct Value: ServerChildChannelValue {
        let base: Base.Value
        let presence: CallerPresence

        var channel: any Channel { base.channel }
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let presence = CallerPresence()
        let guardian = ConnectionGuard(
            headTimeout: headTimeout,
            isPlain: isPlain,
            presence: presence,
            idleTimeout: idleTimeout
        )
        do {
            try channel.pipeline.syncOperations.addHandlers(
                guardian,
                TurnstileHandler(turnstiles, behind: guardian)
            )
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return base.setup(channel: channel, logger: logger).flatMapThrowing { value in
            // Plain HTTP has no such handler, and closes in order by itself.
            if let tls = try? channel.pipeline.syncOperations.handler(type: NIOSSLServerHandler.self) {
                try channel.pipeline.syncOperations.addHandler(FlushingClose(), position: .after(tls))
            }
            return Value(base: value, presence: presence)
        }
    }

    func handle(value: Value, logger: Logger) async {
        await CallerPresence.$current.withValue(value.presence) {
            await base.handle(value: value.base, logger: logger)
        }
    }
}

/// How the connections of all doors are guarded: the limits, and what is counted across doors.
struct ConnectionPolicy: Sendable {
    let connections: ConnectionCount
    let turnstiles: Turnstiles
    let headTimeout: TimeAmount
    private let idleTimeout: TimeAmount

    /// Takes no more connections than the system has files for: those to PostgreSQL, logs and the like need some.
    init(_ settings: ServerSettings, _ turnstiles: Turnstiles, _ logger: Logger) {
        self.turnstiles = turnstiles
        let files = FileLimit.raise() - settings.poolSize - 100
        let most = max(1, min(settings.connections.most, files))
        if most < settings.connections.most {
            logger.warning("the system allows \(most) connections at once (max-connections wants more)")
        }
        connections = ConnectionCount(most: most)
        headTimeout = .seconds(Int64(settings.connections.headTimeout))
        idleTimeout = .seconds(Int64(settings.connections.idleTimeout))
    }

    /// A door's connections, guarded.
    func guarded<Base: ServerChildChannel>(_ base: Base, isPlain: Bool) -> GuardedChannel<Base> {
        GuardedChannel(
            base: base,
            turnstiles: turnstiles,
            headTimeout: headTimeout,
            isPlain: isPlain,
            // Connections of HTTP/2 do so themselves.
            idleTimeout: isPlain ? idleTimeout : nil
        )
    }
}

public import HummingbirdCore
public import Logging
public import NIOCore

/// A connection of HTTP/1.1 whose requests of the Data API do not go through the framework.
///
/// Shape: base's handlers … ``DirectHandler``, the framework's channel. A task beside the framework's answers
/// what the handler takes out; both end with the connection.
public struct DirectChannel<Base: ServerChildChannel>: ServerChildChannel {
    private let base: Base
    private let responder: any DirectResponder
    private let serverName: String

    /// A connection, and what goes past its framework.
    public struct Value: ServerChildChannelValue {
        let base: Base.Value
        let requests: DirectRequests
        let connection: DirectConnection

        /// The connection.
        public var channel: any Channel { base.channel }
    }

    /// - Parameters:
    ///   - base: The framework's connection, which ends in an `HTTPConnectionStateHandler`.
    ///   - responder: Answers the requests of the Data API.
    ///   - serverName: The header `Server`.
    public init(_ base: Base, responder: any DirectResponder, serverName: String) {
        self.base = base
        self.responder = responder
        self.serverName = serverName
    }

    /// Adds the handler behind those that watch over the connection.
    public func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        base.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            let requests = DirectRequests()
            let handler = DirectHandler(requests)
            let guardian = try pipeline.handler(type: HTTPConnectionStateHandler.self)
            try pipeline.addHandler(handler, position: .after(guardian))
            return Value(
                base: value,
                requests: requests,
                connection: DirectConnection(channel, handler)
            )
        }
    }

    /// Serves the connection until it closes.
    public func handle(value: Value, logger: Logger) async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                await value.requests.run(responder, serverName: serverName, on: value.connection)
            }
            await base.handle(value: value.base, logger: logger)
            value.requests.end()
        }
    }
}

public import HummingbirdCore
public import Logging
public import NIOCore
import NIOHTTPTypesHTTP1

/// A connection of HTTP/1.1 whose requests of the Data API do not go through the framework.
///
/// Shape: what reads and writes HTTP/1.1, ``DirectHandler``, the framework's handlers and channel. A task beside the
/// framework's answers what the handler takes out; both end with the connection.
public struct DirectChannel<Base: ServerChildChannel>: ServerChildChannel {
    private let base: Base
    private let responder: any DirectResponder
    private let serverName: String
    private let readiness: Readiness

    /// A connection, and what goes past its framework.
    public struct Value: ServerChildChannelValue {
        let base: Base.Value
        let requests: DirectRequests
        let connection: DirectConnection

        /// The connection.
        public var channel: any Channel { base.channel }
    }

    /// - Parameters:
    ///   - base: The framework's connection, with an `HTTP1ToHTTPServerCodec`.
    ///   - responder: Answers the requests of the Data API.
    ///   - serverName: The header `Server`.
    ///   - readiness: Knows when the server shuts down.
    public init(_ base: Base, responder: any DirectResponder, serverName: String, readiness: Readiness) {
        self.base = base
        self.responder = responder
        self.serverName = serverName
        self.readiness = readiness
    }

    /// Adds the handler before all that is the framework's.
    public func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        base.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            let requests = DirectRequests()
            let handler = DirectHandler(requests, readiness: readiness)
            let codec = try pipeline.handler(type: HTTP1ToHTTPServerCodec.self)
            try pipeline.addHandler(handler, position: .before(codec))
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

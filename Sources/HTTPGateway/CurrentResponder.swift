public import Hummingbird
import Synchronization

/// A responder that can be exchanged while requests come in: settings that change take effect with the next one.
public final class CurrentResponder<Inner: HTTPResponder & DirectResponder>: HTTPResponder, DirectResponder
where Inner.Context == GatewayContext {
    /// What a request brings along.
    public typealias Context = GatewayContext

    private final class Box: Sendable {
        let inner: Inner

        init(_ inner: Inner) {
            self.inner = inner
        }
    }

    private let current: Mutex<Box>

    /// Begins with one.
    public init(_ inner: Inner) {
        current = Mutex(Box(inner))
    }

    /// Has later requests answered by another one; those that are under way stay where they are.
    public func replace(_ inner: Inner) {
        current.withLock { $0 = Box(inner) }
    }

    /// Answers by the newest.
    public func respond(to request: Request, context: Context) async throws -> Response {
        try await current.withLock { $0 }.inner.respond(to: request, context: context)
    }

    /// Answers by the newest.
    public func respond(to request: DirectRequest, peerAddress: String?) async -> Response {
        await current.withLock { $0 }.inner.respond(to: request, peerAddress: peerAddress)
    }
}

import Hummingbird
import NIOCore
import Observability
import Scripting

/// Answers every request: those of the Data API and of endpoints at once, all others by the router.
final class GatewayResponder<Inner: HTTPResponder>: HTTPResponder, DirectResponder
where Inner.Context == GatewayContext {
    let inner: Inner
    let dataAPI: DataAPIRoutes
    let endpoints: EndpointRoutes
    let frame: RequestFrame

    init(inner: Inner, dataAPI: DataAPIRoutes, endpoints: EndpointRoutes, frame: RequestFrame) {
        self.inner = inner
        self.dataAPI = dataAPI
        self.endpoints = endpoints
        self.frame = frame
    }

    func respond(to request: Request, context: GatewayContext) async throws -> Response {
        guard let presence = context.streamPresence else { return await answer(request, context) }
        return await CallerPresence.$current.withValue(presence) { await answer(request, context) }
    }

    private func answer(_ request: Request, _ context: GatewayContext) async -> Response {
        let head = RequestHead(request, context)
        let trace = frame.trace()
        if request.method == .post, let path = DataAPIPath(head.target) {
            return await respond(to: head, path, .arriving(request.body), trace)
        }
        var context = context
        context.trace = trace
        let app = Self.appID(in: request.uri.path)
        return await frame.respond(
            to: head,
            app: app,
            trace: trace,
            route: { Self.route(context.coreContext.endpointPath.value) },
            answer: { try await inner.respond(to: request, context: context) }
        )
    }

    func respond(to request: DirectRequest, peerAddress: String?) async -> Response {
        let head = RequestHead(request.head, peerAddress: peerAddress, on: request.loop)
        let body = IncomingBody.whole(request.body)
        let trace = frame.trace()
        switch request.path {
        case .dataAPI(let path): return await respond(to: head, path, body, trace)
        case .endpoint(let path):
            return await frame.respond(
                to: head,
                app: path.appID,
                trace: trace,
                route: { EndpointRoutes.pattern },
                answer: { try await endpoints.act(path, head, body, trace) }
            )
        }
    }

    private func respond(
        to head: RequestHead,
        _ path: DataAPIPath,
        _ body: IncomingBody,
        _ trace: RequestTrace
    ) async -> Response {
        await frame.respond(
            to: head,
            app: path.appID,
            trace: trace,
            route: { DataAPIPath.pattern },
            answer: { try await dataAPI.act(head, path, body, trace) }
        )
    }

    /// The pattern of a route; `none` for paths that nothing serves, which the framework names otherwise.
    private static func route(_ pattern: String?) -> String {
        guard let pattern, pattern.hasPrefix("/") else { return "none" }
        return pattern
    }

    /// The app id of `/app/{id}/…` and `/api/client/v2.0/app/{id}/…`.
    private static func appID(in path: String) -> String? {
        let rest: Substring
        if path.hasPrefix("/app/") {
            rest = path.dropFirst("/app/".count)
        } else if path.hasPrefix("/api/client/v2.0/app/") {
            rest = path.dropFirst("/api/client/v2.0/app/".count)
        } else {
            return nil
        }
        return String(rest.prefix { $0 != "/" })
    }
}

import Accounts
import BSON
import Errors
import HTTPTypes
import Hummingbird
import NIOCore
import Observability
import Services

/// `GET /api/client/v2.0/app/{id}/functions/call?baas_request=…`: watching a collection (client-api.md §10).
struct WatchRoutes {
    let apps: AppRegistry
    let accounts: AccountService
    let watches: WatchService
    let settings: GatewaySettings
    let gate: RequestGate

    func add(to router: Router<GatewayContext>) {
        router.get(FunctionRoutes.path) { request, context -> Response in
            let app = try apps.require(context)
            let deadline = ContinuousClock.now + settings.requestTimeout
            context.note("watch", request, app: app, settings)
            context.trace.enter(.authenticate)
            let query = request.uri.queryParameters
            let token =
                request.headers.bearerToken ?? (query["baas_at"] ?? query["stitch_at"]).map(String.init)
            let caller = try await accounts.authenticate(
                accessToken: token,
                app.accounts,
                identified: context.caller(apps)
            )
            let place = try gate.admit(caller.principal)
            defer { gate.release(place) }
            context.trace.enter(.parse)
            let call = try self.call((query["baas_request"] ?? query["stitch_request"]).map(String.init))
            guard let service = call.service else {
                throw ServiceError(.functionNotFound, "function not found: '\(call.name)'")
            }
            let operation = try app.watchOperation(
                call.name,
                service: service,
                arguments: call.arguments,
                limits: settings.limits.parse
            )
            let facts = RequestFacts(RequestHead(request, context), settings: settings)
            let (watch, start) = try await watches.open(
                operation,
                caller,
                CallContext(
                    app: app,
                    principal: caller.principal,
                    request: facts.ruleRequest(of: call),
                    deadline: deadline,
                    trace: context.trace
                )
            )
            return Response(
                status: .ok,
                headers: Self.headers,
                body: .events(of: watch, from: start, request)
            )
        }
    }

    /// Nothing between here and the client may keep events back.
    private static let headers: HTTPFields = [
        .contentType: "text/event-stream", .cacheControl: "no-cache", .staticName("X-Accel-Buffering"): "no",
    ]

    /// What stands in the query: Base64 of what a POST would have as its body.
    private func call(_ text: String?) throws(ServiceError) -> FunctionCall {
        guard let text else { throw Self.malformed("is required") }
        // A plus that was sent as it is may have become a space.
        guard let bytes = Base64.decode(text.replacing(" ", with: "+")) else {
            throw Self.malformed("must be Base64")
        }
        return try FunctionCall(ClientAPIBody(bytes, limits: settings.limits.read).document)
    }

    private static func malformed(_ fault: String) -> ServiceError {
        ServiceError(
            .invalidParameter,
            "'baas_request' \(known: fault)",
            details: ["baas_request": fault]
        )
    }
}

extension ResponseBody {
    /// Events as they happen, until the client leaves or the watch ends.
    fileprivate static func events(
        of watch: Watch,
        from start: WatchStart,
        _ request: Request
    ) -> ResponseBody {
        ResponseBody { writer in
            // The head leaves with the first bytes, and clients wait for it.
            try await writer.write(EventStreamWriter.comment)
            try await request.body.consumeWithInboundCloseHandler { _ in
                var outputs = watch.outputs(from: start)
                while let output = await outputs.next() {
                    try await writer.write(EventStreamWriter.buffer(output))
                }
            } onInboundClosed: {
                watch.leave()
            }
            try await writer.finish(nil)
        }
    }
}

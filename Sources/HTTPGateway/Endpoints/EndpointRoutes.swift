import Accounts
import AppDefinition
import BSON
import Errors
import HTTPTypes
import Hummingbird
import Observability
import Scripting
import Services

/// Custom HTTPS endpoints, `/app/{id}/endpoint{route}`, and the path that their predecessors, webhooks, had
/// (data-api.md §§9, 10).
struct EndpointRoutes {
    let apps: AppRegistry
    let accounts: AccountService
    let functions: FunctionService
    let settings: GatewaySettings
    let gate: RequestGate

    static let path: RouterPath = "/app/:appID/endpoint/**"
    /// The route as metrics and logs name it.
    static let pattern = "/app/{appID}/endpoint/**"
    static let webhookPath: RouterPath =
        "/api/client/v2.0/app/:appID/service/:service/incoming_webhook/:webhook"

    func add(to router: Router<GatewayContext>) {
        for method in [HTTPRequest.Method.get, .post, .put, .patch, .delete] {
            router.on(Self.path, method: method) { request, context -> Response in
                let app = try apps.require(context)
                let head = RequestHead(request, context)
                return try await act(
                    Self.route(of: head.path),
                    app,
                    head,
                    .arriving(request.body),
                    context.trace
                )
            }
            router.on(Self.webhookPath, method: method) { request, context -> Response in
                let app = try apps.require(context)
                let service = try context.parameters.require("service")
                let webhook = try context.parameters.require("webhook")
                let route = "/\(service)/\(webhook)"
                let head = RequestHead(request, context)
                return try await act(
                    route,
                    app,
                    head,
                    .arriving(request.body),
                    context.trace,
                    type: "WEBHOOK"
                )
            }
        }
    }

    /// What follows `/app/{id}/endpoint`, with its escapes undone.
    private static func route(of path: String) -> String {
        let parts = path.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: true)
        let route = "/" + (parts.count > 3 ? String(parts[3]) : "")
        return unescaped(route) ?? route
    }

    /// A text with its `%xx` undone; nil when they are none, or give no UTF-8.
    private static func unescaped(_ text: String) -> String? {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let value = UInt8(Substring(rest.prefix(2)), radix: 16) else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Answers a request of `/app/{id}/endpoint/…` that did not come through the router.
    func act(
        _ path: EndpointPath,
        _ head: RequestHead,
        _ body: IncomingBody,
        _ trace: RequestTrace
    ) async throws -> Response {
        guard let app = apps.app(clientAppID: path.appID) else { throw ServiceError.unknownApp(path.appID) }
        return try await act(path.route, app, head, body, trace)
    }

    /// Answers one request.
    private func act(
        _ route: String,
        _ app: AppSnapshot,
        _ head: RequestHead,
        _ body: IncomingBody,
        _ trace: RequestTrace,
        type: String = "ENDPOINT"
    ) async throws -> Response {
        guard let endpoint = app.endpoint(route, method: head.http.method.rawValue) else {
            trace.note { $0.clientAppID = app.clientAppID }
            return Response(status: .notFound)
        }
        let deadline = ContinuousClock.now + settings.requestTimeout
        await gate.turnstiles.pass(on: head.loop)
        let facts = RequestFacts(head, settings: settings)
        trace.note { noted in
            noted.operation = "endpoint \(endpoint.route)"
            noted.address = facts.address
            noted.clientAppID = app.clientAppID
            noted.logType = type
        }
        var room: RequestGate.Room?
        defer { withExtendedLifetime(room) {} }
        let reader = RequestBodyReader(maxBytes: settings.limits.bodyBytes, gate: gate)
        let bytes = try await reader.read(head.headers, body, &room)
        trace.enter(.authenticate)
        try RequestAdmission(app: app, validation: endpoint.validation)
            .validate(head, bytes, endpoint.validation)
        let runsAsCaller = app.function(endpoint.functionName)?.runsAsCaller == true
        // Who calls, where the function wants to know: one that runs as somebody else looks at no credentials.
        let principal = runsAsCaller ? try await principal(endpoint, app, head, facts) : nil
        if case .user(let profile)? = principal { trace.note { $0.userID = profile.id } }
        let place = try gate.admit(principal ?? .system)
        defer { gate.release(place) }
        let result = try await functions.run(
            endpoint.functionName,
            arguments: [EndpointRequest(head, body: bytes).value],
            caller: FunctionCaller(
                principal: principal,
                door: .endpoint,
                request: facts.functionRequest(action: endpoint.functionName, endpoint: endpoint.route),
                fetchesCustomUserData: endpoint.fetchesCustomUserData
            ),
            app: app,
            form: .endpoint,
            deadline: deadline,
            trace: trace
        )
        trace.enter(.encode)
        let form = ResponseForm(
            accept: head.headers[.accept],
            configured: endpoint.returnType == .extendedJSON ? .ejson : .json
        )
        let response = EndpointResponse(result: result, endpoint: endpoint, form: form, gate: gate)
        guard result.isLong else { return try response.response() }
        return try await LongComputation.run { () throws(ServiceError) in try response.response() }
    }

    private func principal(
        _ endpoint: EndpointDefinition,
        _ app: AppSnapshot,
        _ head: RequestHead,
        _ facts: RequestFacts
    ) async throws(ServiceError) -> Principal {
        try await accounts.authenticate(
            RequestCredentials(head.headers),
            app.accounts.forEndpoint(
                createsUser: endpoint.createsUserOnAuth,
                fetchesCustomUserData: endpoint.fetchesCustomUserData
            ),
            from: NetworkAddress(facts.address)
        )
    }
}

import Accounts
import BSON
import Errors
import Hummingbird
import MQL
import Observability
import Rules
import Services

/// `POST /api/client/v2.0/app/{id}/functions/call`: functions and the MongoDB service (client-api.md §9).
struct FunctionRoutes {
    let apps: AppRegistry
    let accounts: AccountService
    let data: DataService
    let functions: FunctionService
    let settings: GatewaySettings
    let gate: RequestGate

    static let path: RouterPath = "/api/client/v2.0/app/:appID/functions/call"

    /// Bodies up to this many bytes are parsed on the connection's own thread.
    private static let shortBody = 65_536

    func add(to router: Router<GatewayContext>) {
        router.post(Self.path) { request, context -> Response in
            let app = try apps.require(context)
            let deadline = ContinuousClock.now + settings.requestTimeout
            context.note("function", request, app: app, settings)
            // A token that is no good costs nobody the reading of a large body.
            context.trace.enter(.authenticate)
            let principal = try await accounts.authenticate(
                accessToken: request.headers.bearerToken,
                app.accounts,
                identified: context.caller(apps)
            ).principal
            let place = try gate.admit(principal)
            defer { gate.release(place) }
            var room: RequestGate.Room?
            defer { withExtendedLifetime(room) {} }
            let reader = RequestBodyReader(maxBytes: settings.limits.bodyBytes, gate: gate)
            let bytes = try await reader.read(request.headers, request.body, &room)
            context.trace.enter(.parse)
            let (call, asked) =
                if bytes.count > Self.shortBody {
                    try await LongComputation.run { () throws(ServiceError) in try parse(bytes, app) }
                } else {
                    try parse(bytes, app)
                }
            let facts = RequestFacts(RequestHead(request, context), settings: settings)
            guard let operation = asked else {
                let result = try await functions.run(
                    call.name,
                    arguments: call.arguments,
                    caller: FunctionCaller(
                        principal: principal,
                        door: .client,
                        request: facts.functionRequest(action: call.name)
                    ),
                    app: app,
                    deadline: deadline,
                    trace: context.trace
                )
                context.trace.enter(.encode)
                guard result.isLong else { return Response.json(value: result.value, gate) }
                return await LongComputation.run { Response.json(value: result.value, gate) }
            }
            context.trace.note { $0.operation = "service \(call.name)" }
            gate.count(operation.action, of: place)
            let result = try await perform(
                operation,
                CallContext(
                    app: app,
                    principal: principal,
                    request: facts.ruleRequest(of: call),
                    deadline: deadline,
                    trace: context.trace
                )
            )
            context.trace.enter(.encode)
            let response = ServiceCallResponse(result: result, limits: data.limits, gate: gate)
            guard result.isLong else { return try response.response() }
            return try await LongComputation.run { () throws(ServiceError) in try response.response() }
        }
    }

    /// Does what is asked; SDKs look for more words in the error of a key that is taken (client-api.md §9.3).
    private func perform(
        _ operation: DataOperation,
        _ context: CallContext
    ) async throws(ServiceError) -> DataResult {
        do {
            return try await data.perform(operation, context)
        } catch {
            guard error.serverCode == .duplicateKey else { throw error }
            throw ServiceError(
                error.code,
                "(DuplicateKey) Duplicate key error: " + error.sentence,
                serverCode: error.serverCode,
                details: error.details,
                cause: error.cause
            )
        }
    }

    /// From a body to an operation of a service; nil for a function of the app's own.
    private func parse(_ bytes: [UInt8], _ app: AppSnapshot) throws(ServiceError) -> (
        FunctionCall, DataOperation?
    ) {
        let call = try FunctionCall(ClientAPIBody(bytes, limits: settings.limits.read).document)
        guard let service = call.service else { return (call, nil) }
        let operation = try app.serviceOperation(
            call.name,
            service: service,
            arguments: call.arguments,
            limits: settings.limits.parse
        )
        return (call, operation)
    }
}

extension Response {
    /// As ``json(value:status:)``, for answers that may be long.
    fileprivate static func json(value: BSONValue, _ gate: RequestGate) -> Response {
        var bytes: [UInt8] = []
        ExtendedJSON.writeCanonical(value, to: &bytes)
        return Response(status: .ok, headers: [.contentType: "application/json"], body: .paced(bytes, gate))
    }
}

extension RequestFacts {
    /// The content of `%%request` for a call of a service.
    func ruleRequest(of call: FunctionCall) -> RuleRequest {
        var request = ruleRequest
        request.service = call.service
        request.action = call.name
        return request
    }

    /// What a function knows of the request that asked for it: not the pair `secret` of the query.
    func functionRequest(action: String, endpoint: String? = nil) -> RuleRequest {
        var request = ruleRequest
        request.action = action
        request.webhookUrl = endpoint
        if endpoint == nil { request.httpMethod = nil }
        request.rawQueryString = request.rawQueryString.map { query in
            query.split(separator: "&").filter { $0 != "secret" && !$0.hasPrefix("secret=") }
                .joined(separator: "&")
        }
        return request
    }
}

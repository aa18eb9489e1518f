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
    let once: IdempotentRequests
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
            let bytes = try await reader.read(request.headers, .arriving(request.body), &room)
            context.trace.enter(.parse)
            let (call, asked) =
                if bytes.count > Self.shortBody {
                    try await LongComputation.run { () throws(ServiceError) in try parse(bytes, app) }
                } else {
                    try parse(bytes, app)
                }
            let head = RequestHead(request, context)
            let facts = RequestFacts(head, settings: settings)
            let caller = CallContext(
                app: app,
                principal: principal,
                request: facts.ruleRequest(of: call),
                deadline: deadline,
                trace: context.trace
            )
            guard let operation = asked else {
                return try await run(call, head, facts, caller, bytes)
            }
            context.trace.note { $0.operation = "service \(call.name)" }
            gate.count(operation.action, of: place)
            guard let key = try IdempotencyKey(of: operation, head, caller, action: "functions/call", bytes)
            else {
                let response = response(to: try await perform(operation, caller), context.trace)
                guard response.result.isLong else { return try response.response() }
                return try await LongComputation.run { () throws(ServiceError) in try response.response() }
            }
            let answer = try await once.operation(key, caller) { (transaction) async throws(ServiceError) in
                try response(
                    to: try await perform(operation, caller, within: transaction),
                    context.trace
                ).answer()
            }
            return Response(answer, gate)
        }
    }

    private func response(to result: DataResult, _ trace: RequestTrace) -> ServiceCallResponse {
        trace.enter(.encode)
        return ServiceCallResponse(result: result, limits: data.limits, gate: gate)
    }

    /// Runs a function of the app's own, once if the request has a key.
    private func run(
        _ call: FunctionCall,
        _ head: RequestHead,
        _ facts: RequestFacts,
        _ context: CallContext,
        _ body: [UInt8]
    ) async throws(ServiceError) -> Response {
        await gate.turnstiles.pass(on: head.loop)
        func answer(
            within transaction: EnclosingTransaction? = nil
        ) async throws(ServiceError) -> RememberedAnswer {
            let result = try await functions.run(
                call.name,
                arguments: call.arguments,
                caller: FunctionCaller(
                    principal: context.principal,
                    door: .client,
                    request: facts.functionRequest(action: call.name)
                ),
                app: context.app,
                deadline: context.deadline,
                trace: context.trace,
                within: transaction
            )
            context.trace.enter(.encode)
            let value = result.value.widened(like: call.arguments)
            guard result.isLong else { return RememberedAnswer(value) }
            return await LongComputation.run { RememberedAnswer(value) }
        }
        guard let name = head.headers[.idempotencyKey] else { return Response(try await answer(), gate) }
        let key = try IdempotencyKey(name, context, action: "functions/call", body: body)
        var failure: ServiceError?
        let kept = try await once.function(key, context) { (transaction) async throws(ServiceError) in
            do throws(ServiceError) {
                return try await answer(within: transaction)
            } catch {
                // What a function did before it failed stays, as it does without a key.
                guard error.code == .functionExecutionError || error.code == .executionTimeLimitExceeded
                else { throw error }
                failure = error
                let app = context.app.clientAppID
                let shown = ErrorResponse(error: error, app: app, requestID: context.trace.requestID)
                return RememberedAnswer(
                    status: shown.status.code,
                    contentType: "application/json",
                    body: shown.body
                )
            }
        }
        if let failure { throw failure }
        return Response(kept, gate)
    }

    /// Does what is asked; SDKs look for more words in the error of a key that is taken (client-api.md §9.3).
    private func perform(
        _ operation: DataOperation,
        _ context: CallContext,
        within transaction: EnclosingTransaction? = nil
    ) async throws(ServiceError) -> DataResult {
        do {
            return try await data.perform(operation, context, within: transaction)
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

extension BSONValue {
    /// A whole number that a function made of longs alone is a long, as SDKs that send longs expect it.
    ///
    /// Source: client-api.md §9.1.
    fileprivate func widened(like arguments: [BSONValue]) -> BSONValue {
        guard case .int32(let number) = self, !arguments.isEmpty,
            arguments.allSatisfy({ if case .int64 = $0 { true } else { false } })
        else { return self }
        return .int64(Int64(number))
    }
}

extension RememberedAnswer {
    /// A function's result, in canonical Extended JSON.
    fileprivate init(_ value: BSONValue) {
        var bytes: [UInt8] = []
        ExtendedJSON.writeCanonical(value, to: &bytes)
        self.init(status: 200, contentType: "application/json", body: bytes)
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

import Accounts
import AppDefinition
import BSON
import Errors
import HTTPTypes
import Hummingbird
import HummingbirdCore
import MQL
import NIOCore
import Observability
import Rules
import Services

/// The ten actions of the Data API: `POST /app/{id}/endpoint/data/{version}/action/{action}`.
struct DataAPIRoutes {
    let apps: AppRegistry
    let accounts: AccountService
    let data: DataService
    let functions: FunctionService
    let once: IdempotentRequests
    let settings: GatewaySettings
    let gate: RequestGate

    func add(to router: Router<GatewayContext>) {
        router.post(RouterPath(DataAPIPath.route)) { request, context in
            let path = DataAPIPath(
                appID: try context.parameters.require("appID"),
                version: try context.parameters.require("version"),
                action: try context.parameters.require("action")
            )
            return try await act(RequestHead(request, context), path, .arriving(request.body), context.trace)
        }
    }

    /// Answers one action, whoever recognised its path.
    func act(
        _ head: RequestHead,
        _ path: DataAPIPath,
        _ body: IncomingBody,
        _ trace: RequestTrace
    ) async throws -> Response {
        guard let app = apps.app(clientAppID: path.appID) else { throw ServiceError.unknownApp(path.appID) }
        let action = path.action
        trace.note { $0.clientAppID = app.clientAppID }
        let api = app.dataAPI
        guard OperationParser.actions.contains(action), api.serves(version: path.version) else {
            return Response(status: .notFound)
        }
        let facts = RequestFacts(head, settings: settings)
        trace.note { noted in
            noted.address = facts.address
            noted.operation = action
        }
        let form = ResponseForm(
            accept: head.headers[.accept],
            configured: api.returnType == .extendedJSON ? .ejson : .json
        )
        let deadline = ContinuousClock.now + settings.requestTimeout
        let reader = RequestBodyReader(maxBytes: settings.limits.bodyBytes, gate: gate)
        var room: RequestGate.Room?
        defer { withExtendedLifetime(room) {} }
        let bytes = try await reader.read(head.headers, body, &room)
        trace.enter(.authenticate)
        let admission = RequestAdmission.dataAPI(of: app)
        try admission.validate(head, bytes, api.validation)
        let principal: Principal
        if case .script(let source) = api.identity {
            principal = try await functions.principal(
                byScript: source,
                app: app,
                request: facts.functionRequest(action: action),
                deadline: deadline,
                trace: trace
            )
        } else {
            principal = try await accounts.authenticate(
                RequestCredentials(head.headers),
                app.accounts,
                from: NetworkAddress(facts.address)
            )
        }
        if case .user(let profile) = principal { trace.note { $0.userID = profile.id } }
        let place = try gate.admit(principal)
        defer { gate.release(place) }
        let call = CallContext(
            app: app,
            principal: principal,
            request: facts.ruleRequest,
            deadline: deadline,
            trace: trace
        )
        guard try await admission.admits(call, asking: data) else {
            throw ServiceError(.noMatchingRuleFound, "rule not matched for function \"\(known: action)\"")
        }
        trace.enter(.parse)
        let operation =
            if bytes.count > Self.shortBody {
                try await LongComputation.run { () throws(ServiceError) in try parse(bytes, action) }
            } else {
                try parse(bytes, action)
            }
        gate.count(operation.action, of: place)
        let key = try IdempotencyKey(of: operation, head, call, action: action, bytes)
        guard let key else {
            let response = response(to: try await data.perform(operation, call), form, trace)
            guard response.result.isLong else { return try response.response() }
            return try await LongComputation.run { () throws(ServiceError) in try response.response() }
        }
        let answer = try await once.operation(key, call) { (transaction) async throws(ServiceError) in
            let result = try await data.perform(operation, call, within: transaction)
            return try response(to: result, form, trace).answer()
        }
        return Response(answer, gate)
    }

    private func response(
        to result: DataResult,
        _ form: ResponseForm,
        _ trace: RequestTrace
    ) -> DataAPIResponse {
        trace.enter(.encode)
        return DataAPIResponse(
            result: result,
            form: form,
            insertStatus: settings.insertStatus,
            limits: data.limits,
            gate: gate
        )
    }

    /// Bodies up to this many bytes are parsed on the connection's own thread.
    private static let shortBody = 65_536

    private func parse(_ bytes: [UInt8], _ action: String) throws(ServiceError) -> DataOperation {
        let body: BSONDocument
        do {
            body = try ExtendedJSON.readDocument(bytes, limits: settings.limits.read)
        } catch {
            throw ServiceError(
                .invalidParameter,
                "invalid json in request body: \(error.sentence)",
                serverCode: error.serverCode,
                details: error.details
            )
        }
        return try OperationParser.parse(action: action, body: body, limits: settings.limits.parse)
    }
}

extension IdempotencyKey {
    /// That of a write; nil for reads, and for requests without.
    init?(
        of operation: DataOperation,
        _ head: RequestHead,
        _ context: CallContext,
        action: String,
        _ body: [UInt8]
    ) throws(ServiceError) {
        guard let name = head.headers[.idempotencyKey], operation.action.mayWrite else { return nil }
        try self.init(name, context, action: action, body: body)
    }
}

extension RequestAdmission {
    /// Checks the secret or the signature that the app's settings ask for (data-api.md §9.3).
    func validate(
        _ head: RequestHead,
        _ body: [UInt8],
        _ validation: RequestValidation
    ) throws(ServiceError) {
        if case .none = validation { return }
        let secret = URI(head.target).queryParameters["secret"].map(String.init)
        // Older pages print the header as `Endpoint-Signature::sha256=…`.
        let signature = (head.headers[.endpointSignature] ?? head.headers[.hookSignature])
            .map { String($0.drop { $0 == ":" || $0 == " " }) }
        guard isValidated(secret: secret, signature: signature, body: body) else {
            let what = if case .secretAsQueryParameter = validation { "secret" } else { "request signature" }
            throw ServiceError(.incomingWebhookAuthFailed, "invalid \(what)")
        }
    }
}

extension ServiceError {
    /// The answer to a client app id that nobody has, word for word as the SDKs test it.
    static func unknownApp(_ id: String) -> ServiceError {
        ServiceError(.appNotFound, "cannot find app using Client App ID '\(id)'")
    }
}

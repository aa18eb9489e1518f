import AppDefinition
import BSON
import Errors
import Glibc
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Observability
import Services

/// Stands around the router: request id, CORS, and the one place where an error becomes an answer.
struct GatewayResponder<Inner: HTTPResponder>: HTTPResponder where Inner.Context == GatewayContext {
    let inner: Inner
    let apps: AppRegistry
    let limits: RequestLimits
    let tellsTiming: Bool
    let gate: RequestGate
    let requestIDs: ObjectIDGenerator
    let observer: Observer

    func respond(to request: Request, context: GatewayContext) async throws -> Response {
        var context = context
        let requestID = requestIDs.next(seconds: UInt32(truncatingIfNeeded: time(nil))).hex
        let trace = RequestTrace(requestID: requestID)
        context.trace = trace
        observer.record(.requestStarted)
        let appID = Self.appID(in: request.uri.path)
        let origin = request.headers[.origin]
        let policy = policy(origin: origin, method: request.method, app: appID)

        var response: Response
        if !policy.admits(origin) {
            let refusal = ServiceError(.domainNotAllowed, "origin not allowed")
            response = render(refusal, app: appID, context)
        } else if request.method == .options {
            let requested = request.headers[.accessControlRequestHeaders]
            response = Response(status: .noContent, headers: policy.preflightHeaders(requested: requested))
        } else {
            response = await answer(request, app: appID, context)
        }
        policy.apply(to: &response.headers, origin: origin)
        response.headers[.requestID] = requestID
        let record = trace.record(
            method: request.method.rawValue,
            route: Self.route(context.coreContext.endpointPath.value),
            status: response.status.code
        )
        if tellsTiming { response.headers[.serverTiming] = ServerTiming.text(record) }
        observer.record(.requestFinished(record))
        return response
    }

    /// Only a browser's requests are asked about; most come from elsewhere.
    private func policy(origin: String?, method: HTTPRequest.Method, app: String?) -> CORSPolicy {
        guard origin != nil || method == .options, let app = app.flatMap({ apps.app(clientAppID: $0) }) else {
            return CORSPolicy(allowedOrigins: [])
        }
        return CORSPolicy(allowedOrigins: app.definition.allowedRequestOrigins)
    }

    private func answer(_ request: Request, app: String?, _ context: GatewayContext) async -> Response {
        do {
            try limits.check(url: request.uri.string)
            let address = try gate.enter(request, context)
            defer { gate.leave(address, isKnown: address != nil && context.trace.hasUser) }
            return try await RequestTrace.$current.withValue(context.trace) {
                try await inner.respond(to: request, context: context)
            }
        } catch let error as ServiceError {
            return render(error, app: app, context)
        } catch let error as HTTPError where error.status == .notFound || error.status == .methodNotAllowed {
            return Response(status: .notFound)
        } catch {
            let wrapped = ServiceError(.internalServerError, "internal error", cause: error)
            return render(wrapped, app: app, context)
        }
    }

    private func render(_ error: ServiceError, app: String?, _ context: GatewayContext) -> Response {
        let trace = context.trace
        if error.code == .internalServerError {
            observer.record(.internalError(error, requestID: trace.requestID))
        }
        let denial = error.cause as? WriteDenial
        trace.note { facts in
            // A path may hold anything; only what names an app is worth remembering.
            if facts.clientAppID == nil, let app, apps.app(clientAppID: app) != nil {
                facts.clientAppID = app
            }
            facts.errorCode = error.code.rawValue
            facts.reason = denial?.reason ?? error.logText
            if let denial {
                facts.namespace = denial.namespace
                facts.role = denial.role
            }
        }
        return ErrorResponse(error: error, app: app, requestID: trace.requestID).response
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

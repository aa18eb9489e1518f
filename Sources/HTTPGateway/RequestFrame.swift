import AppDefinition
import BSON
import Errors
import Glibc
import HTTPTypes
import Hummingbird
import NIOCore
import Observability
import Services

/// Stands around every answer: request id, CORS, and the one place where an error becomes an answer.
struct RequestFrame: Sendable {
    let apps: AppRegistry
    let limits: RequestLimits
    let tellsTiming: Bool
    let gate: RequestGate
    let requestIDs: ObjectIDGenerator
    let observer: Observer

    /// Answers one request.
    ///
    /// - Parameters:
    ///   - head: The request.
    ///   - app: The app that its path names.
    ///   - trace: Learns of the request; made by ``trace()``.
    ///   - route: The pattern of the route that answered, asked when it did.
    ///   - inner: What answers.
    /// - Returns: The answer, with what every answer carries.
    func respond(
        to head: RequestHead,
        app: String?,
        trace: RequestTrace,
        route: () -> String,
        answer inner: () async throws -> Response
    ) async -> Response {
        observer.record(.requestStarted)
        let origin = head.headers[.origin]
        let method = head.http.method
        let policy = policy(origin: origin, method: method, app: app)
        var response: Response
        if !policy.admits(origin) {
            response = render(ServiceError(.domainNotAllowed, "origin not allowed"), app: app, trace)
        } else if method == .options {
            let requested = head.headers[.accessControlRequestHeaders]
            response = Response(status: .noContent, headers: policy.preflightHeaders(requested: requested))
        } else {
            response = await answer(head, app: app, trace, inner)
        }
        // A function may say itself who may read its answer.
        if response.headers[.accessControlAllowOrigin] == nil {
            policy.apply(to: &response.headers, origin: origin)
        }
        response.headers[.requestID] = trace.requestID
        let record = trace.record(method: method.rawValue, route: route(), status: response.status.code)
        if tellsTiming { response.headers[.serverTiming] = ServerTiming.text(record) }
        observer.record(.requestFinished(record))
        return response
    }

    /// The trace of a request that has just come.
    func trace() -> RequestTrace {
        RequestTrace(requestID: requestIDs.next(seconds: UInt32(truncatingIfNeeded: time(nil))).hex)
    }

    /// Only a browser's requests are asked about; most come from elsewhere.
    private func policy(origin: String?, method: HTTPRequest.Method, app: String?) -> CORSPolicy {
        guard origin != nil || method == .options, let app = app.flatMap({ apps.app(clientAppID: $0) }) else {
            return CORSPolicy(allowedOrigins: [])
        }
        return CORSPolicy(allowedOrigins: app.definition.allowedRequestOrigins)
    }

    private func answer(
        _ head: RequestHead,
        app: String?,
        _ trace: RequestTrace,
        _ inner: () async throws -> Response
    ) async -> Response {
        do {
            try limits.check(url: head.target)
            let address = try gate.enter(head)
            defer { gate.leave(address, isKnown: address != nil && trace.hasUser) }
            return try await RequestTrace.$current.withValue(trace) {
                try await inner()
            }
        } catch let error as ServiceError {
            return render(error, app: app, trace)
        } catch let error as HTTPError where error.status == .notFound || error.status == .methodNotAllowed {
            return Response(status: .notFound)
        } catch {
            let wrapped = ServiceError(.internalServerError, "internal error", cause: error)
            return render(wrapped, app: app, trace)
        }
    }

    private func render(_ error: ServiceError, app: String?, _ trace: RequestTrace) -> Response {
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
}

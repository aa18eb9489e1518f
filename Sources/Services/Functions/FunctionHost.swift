import BSON
import Errors
import MQL
import Observability
import Scripting
import Synchronization

/// Answers what one run asks of the gateway, as the principal that its function runs as.
final class FunctionHost: ScriptHost {
    let service: FunctionService
    let call: FunctionService.Call
    let identity: FunctionIdentity
    let sessions = Mutex(FunctionSessions())
    let turns = Turns()
    private let depth: Int
    private let work = Mutex(Work())

    private struct Work {
        var hasEnded = false
        var changesDocuments = false
    }

    init(
        _ service: FunctionService,
        _ call: FunctionService.Call,
        _ identity: FunctionIdentity,
        depth: Int
    ) {
        self.service = service
        self.call = call
        self.identity = identity
        self.depth = depth
    }

    /// Whether something was asked that may have changed documents.
    var changesDocuments: Bool { work.withLock { $0.changesDocuments } }

    /// What a data call is made in, with a trace of its own: the stages of the request's follow one another, host calls come
    /// at once.
    var context: CallContext {
        let request = call.request
        return CallContext(
            app: call.app,
            principal: identity.principal,
            request: request(),
            deadline: call.deadline,
            trace: RequestTrace(requestID: call.trace.requestID)
        )
    }

    /// Takes note of an operation before it is done.
    func note(_ action: DataAction) {
        if action.mayWrite { work.withLock { $0.changesDocuments = true } }
    }

    func answer(_ call: HostCall) async -> Result<BSONValue, HostError> {
        guard !work.withLock({ $0.hasEnded }) else { return .failure(HostError("the function has ended")) }
        return await perform(call)
    }

    /// Rolls back what is not committed, after the engine has ended what was under way; a second time does nothing.
    func end() async {
        work.withLock { $0.hasEnded = true }
        let open = sessions.withLock { $0.removeAll() }
        for transaction in open { await transaction.rollback() }
    }

    private func perform(_ call: HostCall) async -> Result<BSONValue, HostError> {
        if call.name == "http" {
            guard let outbound = service.outbound else {
                return .failure(HostError("context.http is not available here"))
            }
            return await outbound(call.arguments, self.call.app.id, self.call.deadline)
        }
        return await FunctionService.$depth.withValue(depth) {
            do throws(ServiceError) {
                return .success(try await value(of: call))
            } catch {
                return .failure(HostError(error))
            }
        }
    }

    private func value(of call: HostCall) async throws(ServiceError) -> BSONValue {
        let arguments = HostArguments(call)
        switch call.name {
        case "data": return try await perform(arguments)
        case "data.databases": return try await databaseNames(arguments)
        case "data.collections": return try await collectionNames(arguments)
        case "session.start": return try startSession(arguments)
        case "session.begin": return try await begin(arguments)
        case "session.commit": return try await commit(arguments)
        case "session.abort": return try await abort(arguments)
        case "session.end": return try await endSession(arguments)
        default: throw ServiceError(.internalServerError, "the gateway has no '\(known: call.name)'")
        }
    }
}

/// The arguments of a host call; a script cannot give wrong ones, since the engine makes them.
struct HostArguments {
    let call: HostCall

    init(_ call: HostCall) {
        self.call = call
    }

    func text(_ name: String) throws(ServiceError) -> String {
        guard case .string(let text)? = call.arguments[name] else { throw missing(name) }
        return text
    }

    func document(_ name: String) throws(ServiceError) -> BSONDocument {
        switch call.arguments[name] {
        case .document(let document)?: return document
        case nil, .null?: return [:]
        default: throw missing(name)
        }
    }

    /// The number of a session; nil without one.
    var session: Int64? { call.arguments["session"]?.exactInt64 }

    func missing(_ name: String) -> ServiceError {
        ServiceError(
            .internalServerError,
            "'\(known: name)' of '\(known: call.name)' is missing or of another type"
        )
    }
}

extension HostError {
    /// What a script is told of a refusal.
    init(_ error: ServiceError) {
        self.init(
            error.message,
            name: error.serverCode == nil ? "Error" : "MongoError",
            code: error.serverCode?.number,
            errorCode: error.code.rawValue
        )
    }
}

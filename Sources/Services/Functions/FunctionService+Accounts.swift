import Accounts
public import BSON
public import Errors
import Observability

/// Runs the functions of accounts by a ``FunctionService``; what the log says of them stands in the request's row.
public struct ServedAccountFunctions: AccountFunctions {
    private let service: FunctionService
    private let apps: @Sendable (_ appID: String) -> AppSnapshot?

    /// Made of what it works with.
    ///
    /// - Parameters:
    ///   - service: Runs them.
    ///   - apps: The app in force by its internal id.
    public init(_ service: FunctionService, apps: @escaping @Sendable (_ appID: String) -> AppSnapshot?) {
        self.service = service
        self.apps = apps
    }

    /// Runs one as the system.
    public func run(
        _ name: String,
        arguments: [BSONValue],
        appID: String
    ) async throws(ServiceError) -> BSONValue {
        guard let app = apps(appID) else { throw FunctionFailure.notFound(name) }
        // Taken here: a run that waited for a worker is begun by another task, which has another request at hand.
        let atHand = RequestAtHand.current
        return try await service.run(
            name,
            arguments: arguments,
            caller: FunctionCaller(
                principal: .system,
                door: .inside,
                request: atHand?.request(action: name)
            ),
            app: app,
            deadline: .now + service.limits.runTime,
            trace: RequestTrace.current ?? RequestTrace(requestID: "")
        ).value
    }
}

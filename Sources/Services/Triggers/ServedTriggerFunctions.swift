public import AppDefinition
public import BSON
import Errors
public import Observability

/// Runs the functions of triggers by a ``FunctionService``, as the system, and logs each run.
///
/// Source: `reference/functions.md` §§13, 16.
public struct ServedTriggerFunctions: TriggerFunctions {
    private let service: FunctionService
    private let ids: ObjectIDGenerator
    private let log: @Sendable (RequestRecord) -> Void

    /// Made of what it works with.
    ///
    /// - Parameters:
    ///   - service: Runs them.
    ///   - ids: Names the runs in the log.
    ///   - log: Takes a row for the request log.
    public init(
        _ service: FunctionService,
        ids: ObjectIDGenerator,
        log: @escaping @Sendable (RequestRecord) -> Void
    ) {
        self.service = service
        self.ids = ids
        self.log = log
    }

    /// Runs a trigger's function once.
    public func run(
        _ trigger: TriggerDefinition,
        _ arguments: [BSONValue],
        in app: AppSnapshot
    ) async -> TriggerOutcome {
        guard let name = trigger.functionName else { return .failed("the trigger has no function") }
        let trace = RequestTrace(
            requestID: ids.next(seconds: UInt32(clamping: service.data.now() / 1000)).hex
        )
        trace.note { facts in
            facts.clientAppID = app.clientAppID
            facts.operation = trigger.name
            facts.logType = Self.logType(trigger.kind)
        }
        let outcome: TriggerOutcome
        do throws(ServiceError) {
            _ = try await service.run(
                name,
                arguments: arguments,
                caller: .trigger,
                app: app,
                deadline: .now + service.limits.runTime,
                trace: trace
            )
            outcome = .done
        } catch {
            // The gateway's own state, not the function's fault: the event waits.
            if error.code == .tooManyRequests || error.code == .maintenanceInProgress || Task.isCancelled {
                return .postponed(error.message)
            }
            outcome = .failed(error.message)
            trace.note { facts in
                facts.errorCode = error.code.rawValue
                facts.reason = error.logText
                facts.logType = "TRIGGER_FAILURE"
            }
        }
        log(trace.record(method: "TRIGGER", route: trigger.name, status: outcome == .done ? 200 : 400))
        return outcome
    }

    private static func logType(_ kind: TriggerDefinition.Kind) -> String {
        switch kind {
        case .database: "DB_TRIGGER"
        case .authentication: "AUTH_TRIGGER"
        case .scheduled: "SCHEDULED_TRIGGER"
        }
    }
}

public import AppDefinition
public import BSON

/// Runs the functions of triggers, as the system, and logs what became of them.
public protocol TriggerFunctions: Sendable {
    /// Runs a trigger's function once.
    func run(
        _ trigger: TriggerDefinition,
        _ arguments: [BSONValue],
        in app: AppSnapshot
    ) async -> TriggerOutcome
}

/// What became of a run.
public enum TriggerOutcome: Sendable, Hashable {
    case done
    /// The function failed; it is not run again for this event.
    case failed(String)
    /// It could not be run; the same event is for the next attempt.
    case postponed(String)
}

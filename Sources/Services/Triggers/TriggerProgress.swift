import Errors
import SQL
import Synchronization

/// How far a trigger has come, and what of that the database does not know yet.
final class TriggerProgress: Sendable {
    private struct State {
        var known: TriggerStatements.Progress
        var savedAt = ContinuousClock.now
        var isUnsaved = false
    }

    private let runner: TriggerRunner
    private let state: Mutex<State>

    init(runner: TriggerRunner, position: Int64, failures: Int) {
        self.runner = runner
        state = Mutex(State(known: TriggerStatements.Progress(position: position, failures: failures)))
    }

    var position: Int64 { state.withLock { $0.known.position } }

    /// Goes on to a place at which nothing was for the trigger.
    func pass(_ position: Int64) {
        state.withLock { state in
            guard state.known.position != position else { return }
            state.known.position = position
            state.isUnsaved = true
        }
    }

    /// An event has been handled.
    ///
    /// - Throws: ``TriggerRunner/Lost`` once the trigger is suspended, since too many runs failed.
    func note(_ position: Int64, failure: String?, wasRun: Bool = true) async throws {
        let failures = state.withLock { state in
            state.known.position = position
            state.isUnsaved = true
            guard wasRun else { return 0 }
            state.known.handled += 1
            state.known.hasRun = true
            if let failure {
                state.known.failed += 1
                state.known.failures += 1
                state.known.lastError = failure
            } else {
                state.known.failures = 0
            }
            return state.known.failures
        }
        guard failures >= TriggerRunner.mostFailures else { return }
        try await save()
        try await runner.suspend("\(failures) runs failed, one after the other: \(failure ?? "")")
    }

    /// Tells the database, unless it knows everything and had a sign of life lately.
    func keep() async throws {
        let isDue = state.withLock { $0.isUnsaved || .now - $0.savedAt > TriggerRunner.beat }
        if isDue { try await save() }
    }

    /// Tells the database when it has not been told for a second.
    func keepLately() async throws {
        if state.withLock({ .now - $0.savedAt > .seconds(1) }) { try await save() }
    }

    /// Tells the database how far the trigger has come.
    ///
    /// - Throws: ``TriggerRunner/Lost`` when the trigger is another gateway's.
    func save() async throws {
        let known = state.withLock { state in
            defer {
                state.known.handled = 0
                state.known.failed = 0
                state.known.lastError = nil
                state.known.hasRun = false
                state.isUnsaved = false
                state.savedAt = .now
            }
            return state.known
        }
        let rows = try await runner.service.run(
            TriggerStatements.advance(runner.key, owner: runner.service.owner, known)
        )
        guard rows.rowCount > 0 else { throw TriggerRunner.Lost() }
    }
}

import AppDefinition
import BSON
import Errors
import MQL
import SQL

/// A database trigger while a gateway has it: from the change log to its function.
struct DatabaseTriggerSession {
    let runner: TriggerRunner
    let source: DatabaseTriggerSource

    private var service: TriggerService { runner.service }

    /// So many events of an unordered trigger are handled at once.
    private static let atOnce = 16

    func run(_ progress: TriggerProgress) async throws {
        let rows = try await service.run(
            TriggerStatements.collection(database: source.database, source.collection)
        )
        guard rows.rowCount > 0, let id = rows.int(0, 0).flatMap({ Int32(exactly: $0) }),
            let since = rows.int(0, 1)
        else {
            // The collection is mapped, or its changes are not logged yet.
            try await progress.keep()
            await runner.wake.wait(until: .now + TriggerRunner.beat)
            return
        }
        if progress.position < Int64(since) { progress.pass(Int64(since)) }
        service.watches.feed.follow(id)
        defer { service.watches.feed.leave(id) }
        let log = try await service.watches.log.state().id
        var looked = ContinuousClock.now
        var isGone = false
        while true {
            try Task.checkCancellation()
            guard let (changes, place) = try await next(id, progress) else {
                // What was changed before it went has been read by now.
                if isGone {
                    try await runner.suspend(
                        "the collection \(source.database).\(source.collection) was dropped; tidegate.resume_trigger follows the next of that name"
                    )
                }
                try await progress.keep()
                if .now - looked >= TriggerRunner.beat {
                    looked = .now
                    isGone = try await !isThere(id)
                    if isGone { continue }
                }
                await runner.wake.wait(until: .now + TriggerRunner.beat)
                continue
            }
            try await
                (source.isUnordered ? together(changes, log, progress) : inOrder(changes, log, progress))
            progress.pass(place)
            try await progress.keepLately()
        }
    }

    /// Whether the collection is still the one that is followed.
    private func isThere(_ id: Int32) async throws -> Bool {
        try await service.run(WatchStatements.present([id])).rowCount > 0
    }

    /// The next changes; nil when there are none.
    private func next(
        _ collection: Int32,
        _ progress: TriggerProgress
    ) async throws -> (changes: [ChangeRecord], through: Int64)? {
        let from = progress.position
        do throws(ServiceError) {
            return try await service.watches.changes(of: collection, after: from)
        } catch {
            guard error.serverCode == ResumeToken.lost.serverCode else { throw error }
            guard source.toleratesResumeErrors else {
                try await runner.suspend(
                    "changes that it had not handled are no longer in the log (--change-retention)"
                )
                return nil
            }
            progress.pass(try await service.watches.log.state().trimmedTo)
            return ([], progress.position)
        }
    }

    private func inOrder(_ changes: [ChangeRecord], _ log: String, _ progress: TriggerProgress) async throws {
        for change in changes {
            try Task.checkCancellation()
            guard let outcome = try await handle(change, log, progress) else {
                progress.pass(change.sequence)
                continue
            }
            try await progress.note(change.sequence, failure: outcome.failure)
            try await progress.keepLately()
        }
    }

    /// A page at once; the place moves on when all of it is done.
    private func together(_ changes: [ChangeRecord], _ log: String, _ progress: TriggerProgress) async throws
    {
        guard let last = changes.last else { return }
        try await withThrowingTaskGroup(of: Outcome?.self) { group in
            var outcomes: [Outcome] = []
            for (index, change) in changes.enumerated() {
                if index >= Self.atOnce, let done = try await group.next() {
                    done.map { outcomes.append($0) }
                }
                group.addTask { try await handle(change, log, progress) }
            }
            for try await outcome in group { outcome.map { outcomes.append($0) } }
            let before = progress.position
            for outcome in outcomes { try await progress.note(before, failure: outcome.failure) }
        }
        progress.pass(last.sequence)
    }

    private struct Outcome: Sendable {
        let failure: String?
    }

    /// - Returns: nil for a change that the trigger is not for.
    private func handle(
        _ change: ChangeRecord,
        _ log: String,
        _ progress: TriggerProgress
    ) async throws -> Outcome? {
        let event: BSONDocument?
        do throws(ServiceError) {
            event = try TriggerEvent.change(change, source, log: log, service.watches.evaluation())
        } catch {
            return Outcome(failure: error.message)
        }
        guard let event else { return nil }
        return Outcome(failure: try await runner.handle([.document(event)], progress))
    }
}

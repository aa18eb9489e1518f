import AppDefinition
import BSON
import Errors
import SQL

/// One trigger of one gateway: waits until it has the trigger to itself, and handles its events until that ends.
///
/// What was handled is noted after it was handled, so that every event is handled at least once; those that were
/// handled since the last note come again after a crash, in the same order.
struct TriggerRunner: Sendable {
    let service: TriggerService
    let key: TriggerKey
    let trigger: TriggerDefinition
    let source: TriggerSource
    let wake: TriggerWake

    /// The trigger is no longer this gateway's.
    struct Lost: Error {}

    /// So many runs may fail, one after the other, before the trigger is suspended.
    static let mostFailures = 100
    /// How often a trigger is asked for that another gateway runs, and how often its own gives a sign of life.
    static let beat = Duration.seconds(5)

    func run() async {
        while !Task.isCancelled {
            do {
                if let start = try await claim() {
                    try await follow(start)
                } else {
                    await wake.wait(until: .now + Self.beat)
                }
            } catch is Lost {
                continue
            } catch let error as ServiceError {
                service.report(error)
                try? await Task.sleep(for: .seconds(1))
            } catch {
                break
            }
        }
        await service.give(key)
    }

    private func follow(_ start: TriggerProgress) async throws {
        switch source {
        case .database(let source):
            try await DatabaseTriggerSession(runner: self, source: source).run(start)
        case .authentication: try await authentications(start)
        case .schedule(let schedule, let zone, let skips):
            try await times(start, schedule, zone, skips: skips)
        }
    }

    /// - Returns: nil where it is not to be had.
    private func claim() async throws -> TriggerProgress? {
        let rows = try await service.run(
            TriggerStatements.claim(
                key,
                owner: service.owner,
                source: sourceName,
                start: try await start(),
                skipsPause: skipsPause
            )
        )
        guard rows.rowCount > 0, let position = rows.int(0, 0), let failures = rows.int(0, 1) else {
            return nil
        }
        return TriggerProgress(runner: self, position: Int64(position), failures: failures)
    }

    private var sourceName: String {
        switch source {
        case .database(let source): "\(source.database).\(source.collection)"
        case .authentication: "logins"
        case .schedule: "times"
        }
    }

    private var skipsPause: Bool {
        switch source {
        case .database(let source): source.skipsCatchup
        case .authentication: false
        case .schedule(_, _, let skips): skips
        }
    }

    /// Where a trigger begins that has never run.
    private func start() async throws -> Int64 {
        switch source {
        case .database: Int64(try await service.run(TriggerStatements.newestChange).int(0, 0) ?? 0)
        case .authentication: 0
        case .schedule: service.now() / 1000
        }
    }

    /// Runs the function for one event, again while it cannot be run.
    ///
    /// - Returns: Why it failed; nil when it did not.
    func handle(_ arguments: [BSONValue], _ progress: TriggerProgress) async throws -> String? {
        var pause = Duration.milliseconds(100)
        while true {
            try Task.checkCancellation()
            guard let app = service.app(key.app) else { throw Lost() }
            switch try await outcome(arguments, app, progress) {
            case .done: return nil
            case .failed(let reason): return reason
            case .postponed:
                try await Task.sleep(for: pause)
                pause = min(pause * 2, .seconds(5))
                try await progress.keep()
            }
        }
    }

    /// Runs the function once, and keeps the trigger meanwhile.
    private func outcome(
        _ arguments: [BSONValue],
        _ app: AppSnapshot,
        _ progress: TriggerProgress
    ) async throws -> TriggerOutcome {
        try await withThrowingTaskGroup(of: TriggerOutcome.self) { group in
            group.addTask { await service.functions.run(trigger, arguments, in: app) }
            group.addTask {
                while true {
                    try await Task.sleep(for: Self.beat)
                    try await progress.save()
                }
            }
            defer { group.cancelAll() }
            guard let outcome = try await group.next() else { throw Lost() }
            return outcome
        }
    }

    /// Stops the trigger until an operator lets it go on.
    func suspend(_ reason: String) async throws {
        _ = try await service.run(TriggerStatements.suspend(key, owner: service.owner, reason: reason))
        throw Lost()
    }

    // MARK: Logins

    private func authentications(_ start: TriggerProgress) async throws {
        let progress = start
        while true {
            try Task.checkCancellation()
            let rows = try await service.run(TriggerStatements.authEvents(key, limit: 50))
            for row in 0..<rows.rowCount {
                guard let id = rows.int(row, 0), let operation = rows.text(row, 1),
                    let providers = rows.slice(row, 2), let account = rows.slice(row, 3),
                    let time = rows.int(row, 4)
                else { throw ServiceError(.internalServerError, "an event of a trigger is malformed") }
                let list = try ExtendedJSON.readDocument(
                    Array("{\"p\":".utf8) + Array(providers) + Array("}".utf8)
                )
                let event = TriggerEvent.authentication(
                    operation: operation,
                    providers: list["p"]?.array ?? [],
                    account: try ExtendedJSON.readDocument(Array(account)),
                    time: Int64(time)
                )
                let failure = try await handle([.document(event)], progress)
                _ = try await service.run(TriggerStatements.forget(key, through: Int64(id)))
                try await progress.note(Int64(id), failure: failure)
                try await progress.save()
            }
            if rows.rowCount > 0 { continue }
            try await progress.keep()
            await wake.wait(until: .now + Self.beat)
        }
    }

    // MARK: Times

    private func times(
        _ start: TriggerProgress,
        _ schedule: CronSchedule,
        _ zone: String,
        skips: Bool
    ) async throws {
        let progress = start
        while true {
            try Task.checkCancellation()
            guard var next = schedule.next(after: progress.position, timeZone: zone) else {
                try await suspend("the schedule has no further time")
                return
            }
            let now = service.now() / 1000
            if next > now {
                try await progress.keep()
                await wake.wait(until: .now + min(.seconds(next - now), Self.beat))
                continue
            }
            // Of several times that nobody was there for, the last one counts.
            var missed = 0
            while let later = schedule.next(after: next, timeZone: zone), later <= now, missed < 1_000_000 {
                next = later
                missed += 1
            }
            let isLate = now - next > 60 && skips
            let failure = isLate ? nil : try await handle([], progress)
            try await progress.note(next, failure: failure, wasRun: !isLate)
            try await progress.save()
        }
    }
}

import Errors
import Observability
public import Postgres
import Synchronization

extension RequestLog {
    /// How often rows are written.
    static let interval = Duration.milliseconds(250)
    /// The longest pause while the database is away.
    static let longestPause = Duration.seconds(10)
    /// Rows in one statement: one or two milliseconds of a processor.
    static let batch = 200
    /// Rows in one statement when they come faster than that.
    static let largeBatch = 2000
    /// How many times as long as a statement took its writer rests before the next.
    ///
    /// A system that shares its processors out fairly lets PostgreSQL as a whole wait once it has had more than its share,
    /// so that a thousand rows at once cost whoever reads meanwhile, on another session, tens of milliseconds.
    static let rest = 3
    /// How long a loss is not mentioned again.
    static let quiet = Duration.seconds(3600)

    /// Writes rows until its task is cancelled: all that wait, four times a second, one statement at a time and with rests
    /// between them.
    ///
    /// While the database is away, or refuses, it tries again less and less often, and rows wait; what does
    /// not fit any more is dropped, the oldest first.
    public func run(on database: Database) async {
        var pause = Self.interval
        var hasComplained = false
        while true {
            try? await Task.sleep(for: pause)
            if Task.isCancelled { return }
            if let error = await writeAll(to: database, deadline: nil, rests: true) {
                pause = min(pause * 2, Self.longestPause)
                // That the database is away, the pool says.
                if !hasComplained, error.code != .maintenanceInProgress {
                    observer?.record(.internalError(error, requestID: nil))
                }
                hasComplained = true
            } else {
                pause = Self.interval
                hasComplained = false
            }
            tellLosses()
        }
    }

    /// Writes what is left, and gives up when that takes too long; for the end of the process.
    public func flush(to database: Database, within limit: Duration = .seconds(3)) async {
        _ = await writeAll(to: database, deadline: .now + limit, rests: false)
        state.withLock { state in
            let left = state.waiting.take(.max).count
            if left > 0 { state.lost[.full, default: 0] += left }
        }
        tellLosses()
    }

    /// Keeps `tidegate.logs` in days until its task is cancelled.
    ///
    /// At start and every hour it has the database make the days that come and drop those that are over. Of
    /// several gateways, one at a time does it.
    public func sweep(on database: Database) async {
        while !Task.isCancelled {
            var pause = Duration.seconds(3600)
            do {
                _ = try await database.run(RequestLogStatements.sweep(keepingDays: settings.retentionDays))
            } catch {
                observer?.record(.internalError(error, requestID: nil))
                pause = .seconds(60)
            }
            try? await Task.sleep(for: pause)
        }
    }

    /// Answers what kept rows from being written, nil when none wait any more.
    private func writeAll(
        to database: Database,
        deadline: ContinuousClock.Instant?,
        rests: Bool
    ) async -> ServiceError? {
        while true {
            let (batch, mayRepeat, isLast) = state.withLock { state in
                let isShort = rests && state.waiting.count < state.waiting.capacity / 4
                let batch = state.waiting.take(isShort ? Self.batch : Self.largeBatch)
                state.writingSince = batch.first.map { $0.start + $0.duration }
                let mayRepeat = state.repeatable > 0
                state.repeatable = max(0, state.repeatable - batch.count)
                return (batch, mayRepeat, state.waiting.count == 0)
            }
            if batch.isEmpty { return nil }
            let begin = ContinuousClock.now
            let error = await write(batch, mayRepeat: mayRepeat, to: database, deadline: deadline)
            state.withLock { $0.writingSince = nil }
            if let error { return error }
            guard rests else { continue }
            // What has come meanwhile waits for the next of the four.
            if isLast { return nil }
            try? await Task.sleep(for: (.now - begin) * Self.rest)
            if Task.isCancelled { return nil }
        }
    }

    /// Writes a batch or puts it back; one that the database finds fault with it writes in halves, so that
    /// only the row at fault is lost.
    private func write(
        _ batch: [RequestRecord],
        mayRepeat: Bool,
        to database: Database,
        deadline: ContinuousClock.Instant?
    ) async -> ServiceError? {
        let statement = RequestLogStatements.insert(batch, now: .now, mayRepeat: mayRepeat)
        do throws(ServiceError) {
            let limit = ContinuousClock.now + .seconds(10)
            let deadline = deadline.map { min($0, limit) } ?? limit
            _ = try await database.run(statement, plan: .generic, deadline: deadline)
            return nil
        } catch {
            guard error.isAboutValues else {
                putBack(batch)
                return error
            }
            guard batch.count > 1 else {
                state.withLock { $0.lost[.refused, default: 0] += 1 }
                observer?.record(.internalError(error, requestID: batch.first?.requestID))
                return nil
            }
            let half = batch.count / 2
            let rest = Array(batch[half...])
            let first = Array(batch[..<half])
            if let error = await write(first, mayRepeat: mayRepeat, to: database, deadline: deadline) {
                putBack(rest)
                return error
            }
            return await write(rest, mayRepeat: mayRepeat, to: database, deadline: deadline)
        }
    }

    private func putBack(_ batch: [RequestRecord]) {
        state.withLock { state in
            let lost = state.waiting.putBack(batch)
            if lost > 0 { state.lost[.full, default: 0] += lost }
            state.repeatable += batch.count - lost
        }
    }

    /// Counts what was lost since the last time, and says so unless it was said within the hour.
    private func tellLosses() {
        let now = ContinuousClock.now
        let told = state.withLock { state in
            let told = state.lost.map { loss, rows in
                (loss, rows, isNews: state.quietUntil[loss].map { now >= $0 } ?? true)
            }
            for (loss, _, isNews) in told where isNews { state.quietUntil[loss] = now + Self.quiet }
            state.lost = [:]
            return told
        }
        for (loss, rows, isNews) in told {
            observer?.record(.logRowsDropped(rows: rows, because: loss, isNews: isNews))
        }
    }
}

extension ServiceError {
    /// Whether PostgreSQL objects to a value: of the wrong form, out of range, too long, against a constraint.
    fileprivate var isAboutValues: Bool {
        guard let category = postgresFailure?.sqlState.category else { return code == .invalidParameter }
        return ["21", "22", "23", "54"].contains(category)
    }
}

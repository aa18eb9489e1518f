public import Foundation
import GRDB

/// What came of draining a queue.
public struct DrainReport: Sendable {
    /// Why it ended.
    public enum End: Sendable {
        /// Nothing waits any more.
        case empty
        /// The gateway could not be asked, or did not decide; the next try is due then.
        case later(Date, TidegateError)
        /// Another process drains the queue.
        case elsewhere
        /// The user's session has ended; the operations wait for the next login.
        case loggedOut
    }

    /// How many operations were done.
    public internal(set) var done = 0
    /// How many were set aside.
    public internal(set) var refused = 0
    /// Why it ended.
    public internal(set) var end = End.empty
}

extension DiskQueue {
    /// What one operation came to.
    enum Outcome: Sendable {
        case done(AnyBSON)
        case refused(TidegateError)
    }

    /// A gateway that answers so often that it failed is not asked again for the same operation.
    private static let mostFailures = 10
    /// Less than the gateway remembers keys, for clocks that differ.
    private static let keysLast: TimeInterval = 23 * 3600
    private static let longestPause: TimeInterval = 300

    /// Sends what waits, in order, until nothing does or the gateway cannot be asked.
    ///
    /// One process drains at a time. An operation that is refused is set aside; one that gets no answer is sent again
    /// later, after a pause that doubles up to five minutes, and those behind it wait with it.
    ///
    /// - Parameters:
    ///   - sender: Whose operations, and as whom.
    ///   - hurry: Whether pauses do not count: the network has just come back.
    /// - Returns: What was done, and why it ended.
    /// - Throws: `CancellationError`, or ``TidegateError`` of the kind `storage`.
    @discardableResult
    public func drain(as sender: Sender, hurry: Bool = false) async throws -> DrainReport {
        try await drain(as: sender, hurry: hurry) { _, _ in }
    }

    /// Drains, waits out the pauses, and returns when nothing waits, or the user has no session.
    public func drainToEnd(as sender: Sender) async throws -> DrainReport {
        var total = DrainReport()
        while true {
            let report = try await drain(as: sender)
            total.done += report.done
            total.refused += report.refused
            total.end = report.end
            switch report.end {
            case .empty, .loggedOut: return total
            case .later(let date, _):
                try await Task.sleep(for: .seconds(max(0.05, date.timeIntervalSinceNow)))
            case .elsewhere: try await Task.sleep(for: .milliseconds(200))
            }
        }
    }

    /// As the public one, telling of each operation by its key.
    func drain(
        as sender: Sender,
        hurry: Bool,
        _ tell: @Sendable (String, Outcome) async throws -> Void
    ) async throws -> DrainReport {
        var report = DrainReport()
        guard let held = try draining.tryAcquire() else {
            report.end = .elsewhere
            return report
        }
        do {
            try await drainAlone(as: sender, hurry: hurry, &report, tell)
        } catch {
            held.release()
            throw error
        }
        held.release()
        return report
    }

    private func drainAlone(
        as sender: Sender,
        hurry: Bool,
        _ report: inout DrainReport,
        _ tell: @Sendable (String, Outcome) async throws -> Void
    ) async throws {
        var mayHurry = hurry
        var last: (operation: Waiting, answer: AnyBSON)?
        while true {
            let now = Date().timeIntervalSince1970
            let next = try await advance(sender.owner, past: last?.operation, now, hurry: mayHurry)
            if let (operation, answer) = last {
                report.done += 1
                try await tell(operation.key, .done(answer))
                last = nil
            }
            guard let next else { return }
            try Task.checkCancellation()
            guard mayHurry || next.isDue(now) else {
                report.end = .later(Date(timeIntervalSince1970: next.notBefore), Self.pausing)
                return
            }
            mayHurry = false
            if let sent = next.firstSentAt, now - sent > Self.keysLast {
                try await setAside(next, Self.unknown)
                report.refused += 1
                try await tell(next.key, .refused(Self.unknown))
                continue
            }
            do {
                last = (next, try await sender.backend.perform(next.operation.call, key: next.key))
            } catch let error as TidegateError where error.kind == .storage {
                throw error
            } catch let error as TidegateError where error.kind == .loggedOut {
                report.end = .loggedOut
                return
            } catch let error as TidegateError {
                if error.isTransient, !next.isHopeless(error, Self.mostFailures) {
                    report.end = .later(try await postpone(next, error), error)
                    return
                }
                try await setAside(next, error)
                report.refused += 1
                try await tell(next.key, .refused(error))
            }
        }
    }

    // MARK: Rows

    struct Waiting: Sendable {
        let id: Int64
        let key: String
        let operation: RecordedOperation
        let firstSentAt: TimeInterval?
        let attempts: Int
        let notBefore: TimeInterval

        /// Whether its pause is over; a clock that was set back must not make anybody wait for long.
        func isDue(_ now: TimeInterval) -> Bool {
            notBefore <= now || notBefore >= now + DiskQueue.longestPause * 2
        }

        /// Whether the server itself, and no door before it, fails at this operation again and again.
        func isHopeless(_ error: TidegateError, _ most: Int) -> Bool {
            attempts + 1 >= most && error.kind == .service && error.status == 500
        }
    }

    /// Removes an operation that is done and takes the next one, noting that it may have been done from now on if it is
    /// to be sent: one transaction, since each waits for the disk.
    private func advance(
        _ owner: String,
        past done: Waiting?,
        _ now: TimeInterval,
        hurry: Bool
    ) async throws -> Waiting? {
        try await write { db in
            if let done {
                try db.execute(sql: "DELETE FROM operations WHERE id = ?", arguments: [done.id])
            }
            let row = try Row.fetchOne(
                db,
                sql: "SELECT * FROM operations WHERE owner = ? AND is_refused = 0 ORDER BY id LIMIT 1",
                arguments: [owner]
            )
            guard let row else { return nil }
            let next = Waiting(
                id: row["id"],
                key: row["key"],
                operation: try Self.operation(row["operation"]),
                firstSentAt: row["first_sent_at"],
                attempts: row["attempts"],
                notBefore: row["not_before"]
            )
            if next.firstSentAt == nil, hurry || next.isDue(now) {
                try db.execute(
                    sql: "UPDATE operations SET first_sent_at = ? WHERE id = ?",
                    arguments: [now, next.id]
                )
            }
            return next
        }
    }

    private func setAside(_ waiting: Waiting, _ error: TidegateError) async throws {
        try await write { db in
            try db.execute(
                sql: "UPDATE operations SET is_refused = 1, status = ?, code = ?, reason = ? WHERE id = ?",
                arguments: [error.status, error.code, error.message, waiting.id]
            )
        }
    }

    /// - Returns: When the next try is due.
    private func postpone(_ waiting: Waiting, _ error: TidegateError) async throws -> Date {
        let doubled = 0.25 * pow(2, Double(min(waiting.attempts, 12)))
        let pause = min(Self.longestPause, max(doubled * .random(in: 0.75...1.25), error.retryAfter ?? 0))
        let due = Date().addingTimeInterval(pause)
        try await write { db in
            try db.execute(
                sql: "UPDATE operations SET attempts = attempts + 1, not_before = ? WHERE id = ?",
                arguments: [due.timeIntervalSince1970, waiting.id]
            )
        }
        return due
    }

    private static let pausing = TidegateError(
        .network,
        "the last try got no answer; the next one is not due yet"
    )

    private static let unknown: TidegateError = {
        var error = TidegateError(
            .network,
            "sent more than 23 hours ago, and the answer never came: it may have been done"
        )
        error.code = "OutcomeUnknown"
        return error
    }()
}

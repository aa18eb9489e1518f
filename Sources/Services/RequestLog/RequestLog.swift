public import Observability
import Synchronization

/// Which requests get a row in `tidegate.logs`, and the rows that are still to be written.
///
/// ``take(_:)`` is called by every request: it never waits, and costs one lock and one append for a request
/// that gets a row, nothing for others. ``run(on:)`` writes the rows as long as the process lives, and
/// ``flush(to:within:)`` those that are left at its end.
///
/// A row is written for what failed or was denied, for what changed something, for what took a second or
/// more, and for a share of all other requests of an app. Two kinds of failure are only taken so many times a second, since a
/// flood of them must not become a flood of rows: those that name no app that exists (scanners), and those
/// that were turned away unserved, with 429 or 503. What is left out there is counted, as is what is lost.
public final class RequestLog: Sendable {
    /// What is logged, and for how long.
    public struct Settings: Sendable {
        /// The share of successful reads that get a row, from 0 to 1.
        public var sampledShare: Double
        /// Whether successful writes and logins get one.
        public var includesWrites: Bool
        /// After how many days a row is forgotten.
        public var retentionDays: Int

        /// The defaults, but for what is given.
        public init(sampledShare: Double = 0.01, includesWrites: Bool = true, retentionDays: Int = 10) {
            self.sampledShare = sampledShare
            self.includesWrites = includesWrites
            self.retentionDays = retentionDays
        }
    }

    struct State {
        var waiting: BoundedQueue<RequestRecord>
        /// Requests that name no app.
        var strangers = LogAllowance(perSecond: 10, atOnce: 100)
        /// Requests that were turned away.
        var turnedAway = LogAllowance(perSecond: 50, atOnce: 500)
        /// Not yet told to the observer.
        var lost: [LogLoss: Int] = [:]
        /// When a loss is news again.
        var quietUntil: [LogLoss: ContinuousClock.Instant] = [:]
        /// When the oldest request ended of those whose rows are being written.
        var writingSince: ContinuousClock.Instant?
        /// So many of the oldest rows may have been written by a statement whose answer was not heard.
        var repeatable = 0
    }

    /// From here on a successful read is slow, and so always logged.
    static let slow = Duration.seconds(1)

    let settings: Settings
    let observer: Observer?
    let state: Mutex<State>
    private let sampledBelow: UInt64

    /// A log without rows.
    ///
    /// - Parameters:
    ///   - settings: Which requests get a row.
    ///   - capacity: How many rows wait at the most; beyond it the oldest are dropped.
    ///   - observer: Learns of rows that are lost.
    public init(settings: Settings, capacity: Int = 20_000, observer: Observer? = nil) {
        self.settings = settings
        self.observer = observer
        state = Mutex(State(waiting: BoundedQueue(capacity: capacity)))
        sampledBelow = UInt64((settings.sampledShare * 4_294_967_296).rounded())
    }

    /// How many rows are still to be written.
    public var waiting: Int { state.withLock { $0.waiting.count } }

    /// How long ago the oldest request ended whose row is not in the log; zero when all are.
    public func lag(at now: ContinuousClock.Instant = .now) -> Duration {
        let oldest = state.withLock { state in
            state.writingSince ?? state.waiting.first.map { $0.start + $0.duration }
        }
        return oldest.map { max(.zero, now - $0) } ?? .zero
    }

    /// Takes note of a request that was answered.
    public func take(_ record: RequestRecord) {
        let interest = interest(in: record)
        if interest == .none { return }
        let row = record.bounded
        state.withLock { state in
            let mayPass =
                switch interest {
                case .none: false
                case .certain: true
                case .stranger: state.strangers.take(at: row.start + row.duration)
                case .turnedAway: state.turnedAway.take(at: row.start + row.duration)
                }
            guard mayPass else {
                state.lost[.limit, default: 0] += 1
                return
            }
            if state.waiting.append(row) { state.lost[.full, default: 0] += 1 }
        }
    }

    private enum Interest {
        case none
        case certain
        case stranger
        case turnedAway
    }

    private func interest(in record: RequestRecord) -> Interest {
        if record.status >= 400 {
            if record.facts.clientAppID == nil { return .stranger }
            return record.status == 429 || record.status == 503 ? .turnedAway : .certain
        }
        // Health checks, documents and preflights belong to no app.
        guard record.facts.clientAppID != nil else { return .none }
        if record.facts.function != nil { return .certain }
        if record.facts.mayWrite { return settings.includesWrites ? .certain : .none }
        if record.duration >= Self.slow { return .certain }
        return isSampled(record.requestID) ? .certain : .none
    }

    /// Decided by the request's id, which ends in a counter: no dice, no lock.
    private func isSampled(_ requestID: String) -> Bool {
        if sampledBelow == 0 { return false }
        var number: UInt32 = 0
        for digit in requestID.utf8.suffix(8) {
            number = number << 4 | UInt32(digit & 0x0f) + (digit > UInt8(ascii: "9") ? 9 : 0)
        }
        // A factor that spreads neighbours (2³² divided by the golden ratio).
        return UInt64(number &* 2_654_435_769) < sampledBelow
    }
}

extension RequestRecord {
    /// Without texts that a caller could make as long as he likes: a queue of them is kept.
    fileprivate var bounded: RequestRecord {
        let isShort =
            facts.operation.fits(128) && facts.namespace.fits(400) && facts.role.fits(256)
            && facts.reason.fits(1000) && facts.address.fits(64)
        if isShort { return self }
        var facts = facts
        facts.operation.cut(to: 128)
        facts.namespace.cut(to: 400)
        facts.role.cut(to: 256)
        facts.reason.cut(to: 1000)
        facts.address.cut(to: 64)
        return with(facts)
    }
}

extension String? {
    /// Whether it has no more than so many bytes.
    fileprivate func fits(_ bytes: Int) -> Bool { self.map { $0.utf8.count <= bytes } ?? true }

    /// Shortens a text to so many bytes and an ellipsis.
    fileprivate mutating func cut(to bytes: Int) {
        guard let text = self, !fits(bytes) else { return }
        self = String(decoding: text.utf8.prefix(bytes), as: UTF8.self) + "…"
    }
}

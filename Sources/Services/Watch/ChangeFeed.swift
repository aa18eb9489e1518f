import Errors
import Observability
import Synchronization

/// Reads the change log once for all watches of a gateway, and keeps its newest part in memory.
///
/// The order of events is that of the log's numbers. A number is taken when a change is made, not when it is
/// committed, so that a smaller one may become visible later than a greater one; a reader that only went on from the
/// greatest it saw would lose it. So the feed first asks how far the log reaches, and then which transactions hold
/// the lock that whoever takes a number must hold to its end (`tidegate.change_horizon`): when none of these runs any
/// more, everything up to there is committed or never will be, and is read by a later statement. Two changes of one
/// document have the order of their numbers, since the second waits for the first one's row lock.
///
/// Another transaction that changed something logged and goes on and on holds back all events, as it does in any
/// log that is ordered by commit; transactions that change nothing logged hold back nothing.
final class ChangeFeed: Sendable {
    /// Bytes of images, as text, that are kept.
    private static let keptBytes = 4 << 20

    private struct Interest {
        var watches = 0
        /// Its changes behind this place are kept, as far as any are; nil until the next round.
        var since: Int64?
    }

    private struct State {
        /// Every change up to here is decided; nil while nobody watches, and until the first round has ended.
        var position: Int64?
        var interests: [Int32: Interest] = [:]
        var kept: [ChangeRecord] = []
        var keptSize = 0
        /// What stands at or before this place is not kept.
        var keptAfter: Int64 = 0
        /// A place that waits for transactions.
        var pending: (end: Int64, writers: Set<String>)?
    }

    /// What a watch gets when it asks.
    enum Page {
        /// Changes, and the place up to which they are complete.
        case changes([ChangeRecord], through: Int64)
        /// So far back that the log itself has to be read; it is complete up to here.
        case behind(end: Int64)
        /// Nothing is decided beyond that place.
        case nothing
    }

    private let log: ChangeLog
    private let state = Mutex(State())
    private let wakes: AsyncStream<Void>
    private let waker: AsyncStream<Void>.Continuation

    init(_ log: ChangeLog) {
        self.log = log
        (wakes, waker) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Up to where every change is decided.
    var position: Int64? { state.withLock { $0.position } }

    /// Something was written, or somebody began to watch.
    func wake() { waker.yield() }

    /// Keeps the changes of a collection from now on.
    func follow(_ collection: Int32) {
        state.withLock { $0.interests[collection, default: Interest()].watches += 1 }
        wake()
    }

    /// Ends one watch's interest in a collection.
    func leave(_ collection: Int32) {
        state.withLock { state in
            guard var interest = state.interests[collection] else { return }
            interest.watches -= 1
            state.interests[collection] = interest.watches > 0 ? interest : nil
        }
    }

    /// The changes of a collection behind a place, at most a page of them.
    func page(_ collection: Int32, after place: Int64) -> Page {
        state.withLock { state in
            guard let position = state.position, place < position else { return .nothing }
            guard place >= state.keptAfter, let since = state.interests[collection]?.since, place >= since
            else { return .behind(end: position) }
            var first = 0
            var end = state.kept.count
            while first < end {
                let middle = (first + end) / 2
                if state.kept[middle].sequence > place { end = middle } else { first = middle + 1 }
            }
            var found: [ChangeRecord] = []
            for change in state.kept[first...] where change.collection == collection {
                found.append(change)
                if found.count == ChangeLog.pageRows { return .changes(found, through: change.sequence) }
            }
            return .changes(found, through: position)
        }
    }

    /// Follows the log until cancelled.
    ///
    /// - Parameters:
    ///   - observer: Learns of failures.
    ///   - tell: Told of the collections that have changes, or nil when any may have.
    func run(_ observer: Observer?, _ tell: @Sendable (Set<Int32>?) -> Void) async {
        for await _ in wakes {
            // Transactions under way end within moments, or there would be many to wait for.
            var pause = Duration.milliseconds(5)
            while !Task.isCancelled {
                do throws(ServiceError) {
                    guard try await advance(tell) else { break }
                    pause = min(pause * 2, .milliseconds(200))
                } catch {
                    observer?.record(.internalError(error, requestID: nil))
                    pause = .seconds(1)
                }
                try? await Task.sleep(for: pause)
            }
        }
    }

    /// One round.
    ///
    /// - Returns: Whether transactions are under way that may add changes.
    private func advance(_ tell: @Sendable (Set<Int32>?) -> Void) async throws(ServiceError) -> Bool {
        let collections = state.withLock { state -> [Int32] in
            if state.interests.isEmpty { state = State() }
            for id in state.interests.keys where state.interests[id]?.since == nil {
                state.interests[id]?.since = state.position
            }
            return state.interests.keys.sorted()
        }
        if collections.isEmpty { return false }
        let horizon = try await log.horizon()
        let (from, safe, isPending) = state.withLock { state -> (Int64?, Int64?, Bool) in
            var safe: Int64?
            if let pending = state.pending, pending.writers.isDisjoint(with: horizon.writers) {
                safe = pending.end
                state.pending = nil
            }
            if state.pending == nil {
                if horizon.writers.isEmpty {
                    safe = horizon.end
                } else {
                    state.pending = horizon
                }
            }
            return (state.position, safe, state.pending != nil)
        }
        guard let safe else { return isPending }
        guard let from else {
            state.withLock { state in
                state.position = safe
                state.keptAfter = safe
                for id in state.interests.keys where state.interests[id]?.since == nil {
                    state.interests[id]?.since = safe
                }
            }
            tell(nil)
            return isPending
        }
        if safe > from { try await read(collections, from, safe, tell) }
        return isPending
    }

    /// Reads what has been decided, as far as it is worth keeping.
    private func read(
        _ collections: [Int32],
        _ from: Int64,
        _ safe: Int64,
        _ tell: @Sendable (Set<Int32>?) -> Void
    ) async throws(ServiceError) {
        var found: [ChangeRecord] = []
        var bytes = 0
        var place = from
        while place < safe, bytes <= Self.keptBytes {
            let page = try await log.page(of: collections, after: place, through: safe)
            found += page.changes
            bytes += page.changes.reduce(0) { $0 + $1.bytes }
            place = page.through
        }
        let isWhole = place >= safe
        state.withLock { state in
            state.position = safe
            if isWhole {
                state.kept += found
                state.keptSize += bytes
            } else {
                // More at once than is kept: who watches reads it from the log.
                state.kept = []
                state.keptSize = 0
                state.keptAfter = safe
            }
            var dropped = 0
            while state.keptSize > Self.keptBytes, dropped < state.kept.count {
                state.keptSize -= state.kept[dropped].bytes
                state.keptAfter = state.kept[dropped].sequence
                dropped += 1
            }
            state.kept.removeFirst(dropped)
        }
        tell(isWhole ? Set(found.map(\.collection)) : nil)
    }
}

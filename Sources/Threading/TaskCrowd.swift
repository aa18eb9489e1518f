import Synchronization

/// Child tasks by the thousand, each taken out of its group at a price that does not grow with their number.
///
/// A task group looks for a child that ends among all of its children, one after the other
/// (`TaskGroup::removeChildTask` of Swift's runtime): beside ten thousand idle connections that takes
/// milliseconds. So the children of one group hand their work on to many small groups. A child that finds a small
/// group empty becomes its host and stays until it is empty again; all others are over at once. The work stays the
/// first group's: that group ends after all of it, and its cancellation and task-local values reach all of it.
public final class TaskCrowd: Sendable {
    /// What a child does.
    public typealias Work = @Sendable () async -> Void

    /// A small group of children, as those see it who bring work.
    fileprivate struct Host {
        var isThere = false
        /// Brought, and not begun.
        var waiting: [Work] = []
        /// Brought, and not ended.
        var count = 0
        /// Which host this is of all that the place has had.
        var era = 0
        /// Tells the host of work; its end sends the host home.
        var bell: AsyncStream<Void>.Continuation?
    }

    private struct State {
        var hosts: [Host]
        var turn = 0
    }

    private let state: Mutex<State>

    /// - Parameter places: How many small groups there are at the most; the square root of the most tasks is best.
    public init(places: Int = 128) {
        state = Mutex(State(hosts: Array(repeating: Host(), count: max(1, places))))
    }

    /// Does the work, or leaves it to a host; to be called by a child of the group whose work it is.
    public func run(_ work: @escaping Work) async {
        let (place, bell) = bring(work)
        guard let bell else { return }
        await withDiscardingTaskGroup { group in
            for await _ in bell { begin(place, in: &group) }
            // A host that was cancelled leaves at once, and what was brought meanwhile is cancelled, too, not lost.
            let left = state.withLock { $0.hosts[place].leave() }
            for work in left { group.addTask { await work() } }
        }
    }

    private func begin(_ place: Int, in group: inout DiscardingTaskGroup) {
        let (brought, era) = state.withLock { $0.hosts[place].take() }
        for work in brought {
            group.addTask {
                await work()
                self.state.withLock { $0.hosts[place].ended(in: era) }
            }
        }
    }

    /// Where the work is, and for whoever becomes the host there what tells of more.
    private func bring(_ work: @escaping Work) -> (place: Int, bell: AsyncStream<Void>?) {
        state.withLock { state in
            state.turn = (state.turn + 1) % state.hosts.count
            return (state.turn, state.hosts[state.turn].bring(work))
        }
    }
}

extension TaskCrowd.Host {
    fileprivate mutating func bring(_ work: @escaping TaskCrowd.Work) -> AsyncStream<Void>? {
        waiting.append(work)
        count += 1
        defer { bell?.yield() }
        if isThere { return nil }
        isThere = true
        let made = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        bell = made.continuation
        return made.stream
    }

    fileprivate mutating func take() -> ([TaskCrowd.Work], era: Int) {
        defer { waiting = [] }
        return (waiting, era)
    }

    fileprivate mutating func ended(in era: Int) {
        guard era == self.era else { return }
        count -= 1
        if count == 0 { bell?.finish() }
    }

    /// What was brought after the host had heard that nothing is left.
    fileprivate mutating func leave() -> [TaskCrowd.Work] {
        let left = waiting
        self = TaskCrowd.Host(era: era + 1)
        return left
    }
}

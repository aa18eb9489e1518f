import Synchronization

/// Whether somebody still waits for the answer of a call.
///
/// A connection has one, and a stream of HTTP/2 its own; its door says when it closes. A call that waits for a worker
/// then gives its place up; one that runs is left alone, since it may have changed something.
public final class CallerPresence: Sendable {
    /// Who waits for what this task does; nil where nobody knows.
    @TaskLocal public static var current: CallerPresence?

    private struct State {
        var isGone = false
        var lastWatch = 0
        var watches: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())
    private let hasCalled = Atomic<Bool>(false)

    /// Somebody waits.
    public init() {}

    /// Whether nobody waits any more.
    public var isGone: Bool { state.withLock { $0.isGone } }

    /// Whether a function was called by what was asked for last.
    public var callsFunctions: Bool {
        get { hasCalled.load(ordering: .relaxed) }
        set { hasCalled.store(newValue, ordering: .relaxed) }
    }

    /// Nobody waits any more; a second time changes nothing.
    public func leave() {
        let watches = state.withLock { state in
            state.isGone = true
            defer { state.watches = [:] }
            return Array(state.watches.values)
        }
        for watch in watches { watch() }
    }

    /// Has something done once nobody waits any more, at once if that is so already.
    ///
    /// - Returns: What ``forget(_:)`` takes.
    func whenGone(_ body: @escaping @Sendable () -> Void) -> Int {
        let (number, isGone) = state.withLock { state in
            state.lastWatch += 1
            if !state.isGone { state.watches[state.lastWatch] = body }
            return (state.lastWatch, state.isGone)
        }
        if isGone { body() }
        return number
    }

    /// It matters no more.
    func forget(_ number: Int) {
        state.withLock { $0.watches[number] = nil }
    }
}

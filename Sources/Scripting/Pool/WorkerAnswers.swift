import Synchronization

/// What a worker tells of one run, handed from the event loop that reads it to the one task that waits for it.
final class WorkerAnswers: Sendable {
    /// One of them, and how long its frame was.
    typealias Element = (answer: WorkerAnswer, bytes: Int)

    private struct State {
        var here: [Element] = []
        /// What lies before it was taken.
        var head = 0
        var hasEnded = false
        var waiting: UnsafeContinuation<Element?, Never>?
    }

    private let state = Mutex(State())

    /// Hands over one.
    func put(_ answer: WorkerAnswer, bytes: Int) {
        let waiting = state.withLock { state -> UnsafeContinuation<Element?, Never>? in
            if state.waiting == nil { state.here.append((answer, bytes)) }
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(returning: (answer, bytes))
    }

    /// No more come: the worker is gone.
    func end() {
        let waiting = state.withLock { state -> UnsafeContinuation<Element?, Never>? in
            state.hasEnded = true
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(returning: nil)
    }

    /// The next one; nil when the worker is gone.
    ///
    /// To be asked by one task at a time.
    func next() async -> Element? {
        let (element, isHere) = state.withLock { Self.take(&$0) }
        if isHere { return element }
        return await withUnsafeContinuation { (waiting: UnsafeContinuation<Element?, Never>) in
            // One may have come meanwhile.
            let (element, isHere) = state.withLock { state in
                let (element, isHere) = Self.take(&state)
                if !isHere { state.waiting = waiting }
                return (element, isHere)
            }
            if isHere { waiting.resume(returning: element) }
        }
    }

    private static func take(_ state: inout State) -> (element: Element?, isHere: Bool) {
        guard state.head < state.here.count else { return (nil, state.hasEnded) }
        defer {
            state.head += 1
            if state.head == state.here.count {
                state.here.removeAll(keepingCapacity: true)
                state.head = 0
            }
        }
        return (state.here[state.head], true)
    }
}

import Synchronization

/// Lets one after the other, or so many at a time, in the order in which they came.
final class Turns: Sendable {
    private struct State {
        var free: Int
        var waiting: [UnsafeContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    /// - Parameter atOnce: How many at a time.
    init(atOnce: Int = 1) {
        state = Mutex(State(free: atOnce))
    }

    func begin() async {
        await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            let isMine = state.withLock { state in
                if state.free == 0 {
                    state.waiting.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if isMine { continuation.resume() }
        }
    }

    func end() {
        let next = state.withLock { state in
            if state.waiting.isEmpty {
                state.free += 1
                return nil as UnsafeContinuation<Void, Never>?
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}

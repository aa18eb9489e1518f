import Synchronization

/// Lets one after the other, in the order in which they came.
final class Turns: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [UnsafeContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func begin() async {
        await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            let isMine = state.withLock { state in
                if state.isTaken {
                    state.waiting.append(continuation)
                    return false
                }
                state.isTaken = true
                return true
            }
            if isMine { continuation.resume() }
        }
    }

    func end() {
        let next = state.withLock { state in
            if state.waiting.isEmpty {
                state.isTaken = false
                return nil as UnsafeContinuation<Void, Never>?
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}

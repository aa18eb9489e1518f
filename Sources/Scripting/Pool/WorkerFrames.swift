import Synchronization

/// The frames of one run, handed from the thread that reads them to the one task that waits for them.
final class WorkerFrames: Sendable {
    private struct State {
        var frames: [[UInt8]] = []
        /// What lies before it was taken.
        var head = 0
        var hasEnded = false
        var waiting: UnsafeContinuation<[UInt8]?, Never>?
    }

    private let state = Mutex(State())

    /// Hands over a frame.
    func put(_ frame: [UInt8]) {
        let waiting = state.withLock { state -> UnsafeContinuation<[UInt8]?, Never>? in
            if state.waiting == nil { state.frames.append(frame) }
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(returning: frame)
    }

    /// No more come: the worker is gone.
    func end() {
        let waiting = state.withLock { state -> UnsafeContinuation<[UInt8]?, Never>? in
            state.hasEnded = true
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(returning: nil)
    }

    /// The next frame; nil when the worker is gone.
    ///
    /// To be asked by one task at a time.
    func next() async -> [UInt8]? {
        let (frame, isHere) = state.withLock { Self.take(&$0) }
        if isHere { return frame }
        return await withUnsafeContinuation { (waiting: UnsafeContinuation<[UInt8]?, Never>) in
            // One may have come meanwhile.
            let (frame, isHere) = state.withLock { state in
                let (frame, isHere) = Self.take(&state)
                if !isHere { state.waiting = waiting }
                return (frame, isHere)
            }
            if isHere { waiting.resume(returning: frame) }
        }
    }

    private static func take(_ state: inout State) -> (frame: [UInt8]?, isHere: Bool) {
        guard state.head < state.frames.count else { return (nil, state.hasEnded) }
        defer {
            state.head += 1
            if state.head == state.frames.count {
                state.frames.removeAll(keepingCapacity: true)
                state.head = 0
            }
        }
        return (state.frames[state.head], true)
    }
}

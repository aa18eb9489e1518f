import Synchronization

/// Lets one task wait for something to happen; what happens while nobody waits is not lost.
final class TriggerWake: Sendable {
    private struct State {
        var isDue = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Something happened.
    func wake() {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            state.isDue = state.waiter == nil
            return state.waiter
        }
        waiter?.resume()
    }

    /// Waits for ``wake()``, until a time, or until the task is cancelled.
    func wait(until time: ContinuousClock.Instant) async {
        let timer = Task {
            try? await Task.sleep(until: time)
            if !Task.isCancelled { wake() }
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                let isDue = state.withLock { state in
                    defer { state.isDue = false }
                    if !state.isDue, !Task.isCancelled { state.waiter = continuation }
                    return state.waiter == nil
                }
                if isDue { continuation.resume() }
            }
        } onCancel: {
            wake()
        }
        timer.cancel()
    }
}

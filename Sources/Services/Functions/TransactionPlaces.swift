import Errors
import Synchronization

/// How many transactions of functions may be open at once, in all and of one app; who finds none free waits.
///
/// An open transaction holds a connection, and what goes on in it may need another one for a moment: while the bound
/// is below the number of connections, one is always to be had.
final class TransactionPlaces: Sendable {
    /// A place, until it is left.
    final class Place: Sendable {
        private let places: TransactionPlaces
        private let app: String
        private let isLeft = Mutex(false)

        fileprivate init(_ places: TransactionPlaces, _ app: String) {
            self.places = places
            self.app = app
        }

        deinit { leave() }

        /// Gives the place to the next; a second time does nothing.
        func leave() {
            let before = isLeft.withLock { left in
                defer { left = true }
                return left
            }
            if !before { places.free(app) }
        }
    }

    private struct Waiting {
        let number: UInt64
        let app: String
        let continuation: UnsafeContinuation<Bool, Never>
    }

    private struct State {
        var taken: [String: Int] = [:]
        var total = 0
        var waiting: [Waiting] = []
        var number: UInt64 = 0
    }

    private let most: Int
    private let mostPerApp: Int
    private let state = Mutex(State())

    init(most: Int, mostPerApp: Int) {
        self.most = max(1, most)
        self.mostPerApp = max(1, mostPerApp)
    }

    /// Takes a place.
    ///
    /// - Parameters:
    ///   - app: Whose share it counts for.
    ///   - mayWait: Whether to wait for one; refused at once otherwise.
    ///   - deadline: How long to wait.
    /// - Returns: The place, which is left with its last reference at the latest.
    /// - Throws: ``ServiceError`` `tooManyRequests` when none became free.
    func take(
        _ app: String,
        mayWait: Bool,
        deadline: ContinuousClock.Instant
    ) async throws(ServiceError) -> Place {
        let number = state.withLock { state -> UInt64? in
            if fits(state, app) {
                state.taken[app, default: 0] += 1
                state.total += 1
                return nil
            }
            state.number += 1
            return state.number
        }
        guard let number else { return Place(self, app) }
        guard mayWait, await wait(number, app, deadline) else {
            throw ServiceError(
                .tooManyRequests,
                "too many transactions of functions at once (limit max-function-transactions)",
                details: ["limit": "max-function-transactions"]
            )
        }
        return Place(self, app)
    }

    private func wait(_ number: UInt64, _ app: String, _ deadline: ContinuousClock.Instant) async -> Bool {
        // The timer is a task of its own, since the wait must end whoever is first.
        let timer = Task {
            try? await Task.sleep(until: deadline)
            self.giveUp(number)
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: UnsafeContinuation<Bool, Never>) in
                let isFree = state.withLock { state in
                    if fits(state, app) {
                        state.taken[app, default: 0] += 1
                        state.total += 1
                        return true
                    }
                    state.waiting.append(Waiting(number: number, app: app, continuation: continuation))
                    return false
                }
                if isFree { continuation.resume(returning: true) }
                // Whoever was to end the wait may have come before it began.
                if !isFree, Task.isCancelled || ContinuousClock.now >= deadline { giveUp(number) }
            }
        } onCancel: {
            giveUp(number)
        }
    }

    private func giveUp(_ number: UInt64) {
        let waiting = state.withLock { state in
            state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
        }
        waiting?.continuation.resume(returning: false)
    }

    private func fits(_ state: borrowing State, _ app: String) -> Bool {
        state.total < most && state.taken[app, default: 0] < mostPerApp
    }

    private func free(_ app: String) {
        let next = state.withLock { state -> Waiting? in
            state.total -= 1
            if let count = state.taken[app] { state.taken[app] = count > 1 ? count - 1 : nil }
            guard let index = state.waiting.firstIndex(where: { fits(state, $0.app) }) else { return nil }
            let next = state.waiting.remove(at: index)
            state.taken[next.app, default: 0] += 1
            state.total += 1
            return next
        }
        next?.continuation.resume(returning: true)
    }
}

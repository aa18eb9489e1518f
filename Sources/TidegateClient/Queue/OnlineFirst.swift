/// Tries the gateway for so long, and leaves the operation to the queue otherwise.
///
/// The operation is on disk before anything is tried, so that an extension may be ended at any moment. It is sent behind
/// what was recorded before; who has no network, or no time, gets ``Outcome/recorded(key:)``, and the main app's next
/// ``DiskQueue/drain(as:hurry:)`` does the rest.
public struct OnlineFirst: Sendable {
    /// What an operation came to.
    public enum Outcome: Sendable {
        /// Done, with the server's answer; nil when another process sent it.
        case done(AnyBSON?)
        /// On disk, to be sent later.
        case recorded(key: String)
    }

    let queue: DiskQueue
    let sender: DiskQueue.Sender
    let deadline: Duration

    /// Made of its parts.
    ///
    /// - Parameters:
    ///   - queue: Where operations go.
    ///   - sender: As whom they are sent.
    ///   - deadline: How long the gateway is tried.
    public init(queue: DiskQueue, sender: DiskQueue.Sender, deadline: Duration = .seconds(3)) {
        self.queue = queue
        self.sender = sender
        self.deadline = deadline
    }

    /// Does an operation now, or keeps it.
    ///
    /// - Returns: Which of the two.
    /// - Throws: ``TidegateError`` with the server's code when it refused: then nothing is kept, since its caller is
    ///   there to be told.
    public func perform(_ operation: RecordedOperation) async throws -> Outcome {
        let key = try await queue.record(operation, for: sender)
        let told = Told()
        do {
            try await within(deadline) { [queue, sender] in
                while true {
                    let report = try await queue.drain(as: sender, hurry: true) { other, outcome in
                        if other == key { await told.hear(outcome) }
                    }
                    guard case .elsewhere = report.end, try await queue.isWaiting(key: key) else { return }
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
        } catch let error as TidegateError where error.kind == .network {
            // The deadline; what was done until then counts all the same.
        }
        switch await told.outcome {
        case .done(let answer): return .done(answer)
        case .refused(let error):
            try await queue.forgetRefused(key: key)
            throw error
        case nil: break
        }
        return try await queue.isWaiting(key: key) ? .recorded(key: key) : .done(nil)
    }

    /// What was heard of the operation.
    private actor Told {
        private(set) var outcome: DiskQueue.Outcome?

        func hear(_ outcome: DiskQueue.Outcome) { self.outcome = outcome }
    }
}

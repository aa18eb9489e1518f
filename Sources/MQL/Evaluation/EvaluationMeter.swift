public import Errors
import Synchronization

/// Bounds the work of one operation's evaluations, so that nested loops in an expression end.
///
/// Loops over arrays and generated values report their steps. Past the limit, or when the caller's
/// own condition holds, the next report throws code 50 (MaxTimeMSExpired).
public final class EvaluationMeter: Sendable {
    /// Steps that an operation may take by default; some tens of seconds of pure evaluation.
    public static let standardLimit = 200_000_000

    private let steps = Atomic<Int>(0)
    private let limit: Int
    private let shouldStop: (@Sendable () -> Bool)?

    /// - Parameters:
    ///   - limit: Steps in all.
    ///   - shouldStop: Asked every few thousand steps, for a deadline or a cancellation.
    public init(limit: Int = EvaluationMeter.standardLimit, shouldStop: (@Sendable () -> Bool)? = nil) {
        self.limit = limit
        self.shouldStop = shouldStop
    }

    /// Reports steps taken.
    ///
    /// - Throws: ``ServiceError`` with server code 50 when they are too many.
    public func spend(_ count: Int = 1) throws(ServiceError) {
        let before = steps.load(ordering: .relaxed)
        let after = before &+ Swift.max(count, 0)
        steps.store(after, ordering: .relaxed)
        if after > limit || after < 0 {
            throw .mongo(
                .maxTimeMSExpired,
                "operation exceeded time limit: its expressions take more than \(limit) steps (limit max-evaluation-steps)"
            )
        }
        if let shouldStop, before >> 12 != after >> 12, shouldStop() { throw Self.exceeded }
    }

    private static var exceeded: ServiceError {
        .mongo(.maxTimeMSExpired, "operation exceeded time limit")
    }
}

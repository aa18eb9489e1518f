public import Rules

/// The HTTP request that a task answers, for functions that run in its course without being what it asks for: those
/// that decide about logins, registrations and resets.
///
/// Source: `reference/functions.md` §4.1; the functions are named deep inside of ``AccountService``.
public final class RequestAtHand: Sendable {
    /// Nil outside of requests.
    ///
    /// An object, not the closure itself: pushing a closure crashes what Swift 6.3 makes of it with optimization.
    @TaskLocal public static var current: RequestAtHand?

    private let facts: @Sendable () -> RuleRequest

    /// - Parameter facts: Asked when a function runs.
    public init(_ facts: @escaping @Sendable () -> RuleRequest) {
        self.facts = facts
    }

    /// What `context.request` is for a function of that name.
    func request(action: String) -> RuleRequest {
        var request = facts()
        request.action = action
        return request
    }
}

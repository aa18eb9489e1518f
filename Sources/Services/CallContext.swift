public import Accounts
public import Observability
public import Rules

/// What travels with one request from the door to the database.
public struct CallContext: Sendable {
    /// The app that is called, as it was when the request came.
    public let app: AppSnapshot
    /// Who calls: a user of the app, or the system.
    public let principal: Principal
    /// What `%%request` expands to, asked when a rule needs it; nil outside HTTP.
    public let request: @Sendable () -> RuleRequest?
    /// When the answer is due.
    public let deadline: ContinuousClock.Instant
    /// Learns what becomes of the request, and where its time goes.
    public let trace: RequestTrace

    /// Made of its parts.
    public init(
        app: AppSnapshot,
        principal: Principal,
        request: @autoclosure @escaping @Sendable () -> RuleRequest?,
        deadline: ContinuousClock.Instant,
        trace: RequestTrace
    ) {
        self.app = app
        self.principal = principal
        self.request = request
        self.deadline = deadline
        self.trace = trace
    }
}

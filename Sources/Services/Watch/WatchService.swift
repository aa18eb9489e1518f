import Accounts
public import Errors
public import MQL
public import Observability
public import Postgres
import Rules
import Synchronization

/// Clients that watch collections.
///
/// Run ``run()`` as long as the process lives. One connection listens for all watches of the gateway, and one reader
/// reads the change log for them; a watch costs a task and what it is sending.
public final class WatchService: Sendable {
    private struct State {
        var inboxes: [UInt64: WatchInbox] = [:]
        var perUser: [String: Int] = [:]
        var lastID: UInt64 = 0
        var isClosed = false
    }

    let database: Database
    let apps: AppRegistry
    let data: DataService
    let limits: WatchLimits
    /// Milliseconds since 1970.
    let now: @Sendable () -> Int64
    let log: ChangeLog
    let feed: ChangeFeed
    let counters = WatchCounters()
    let observer: Observer?
    private let state = Mutex(State())
    private let others = Mutex<[@Sendable () -> Void]>([])

    /// A service that nobody watches.
    ///
    /// - Parameters:
    ///   - database: Where the change log is.
    ///   - apps: The apps in force: rules that change hold for the next event.
    ///   - data: Says who may see what.
    ///   - limits: How many watches there may be.
    ///   - observer: Learns of failures.
    ///   - now: Milliseconds since 1970.
    public init(
        database: Database,
        apps: AppRegistry,
        data: DataService,
        limits: WatchLimits = WatchLimits(),
        observer: Observer? = nil,
        now: @escaping @Sendable () -> Int64
    ) {
        self.database = database
        self.apps = apps
        self.data = data
        self.limits = limits
        self.observer = observer
        self.now = now
        log = ChangeLog(database: database, shapes: data.shapes)
        feed = ChangeFeed(log)
    }

    /// Begins to watch, before anything is sent: whatever is committed after this returns will be an event.
    ///
    /// - Parameters:
    ///   - operation: A `watch`.
    ///   - caller: Whose token it is; the watch ends with its session.
    ///   - context: The app, the caller, the request.
    /// - Returns: The watch, which lasts as long as it is held, and where it begins.
    /// - Throws: What the rules refuse, `tooManyRequests` and `maintenanceInProgress` past a limit, `mongoDBError` for
    ///   a resume token that is no good and for a relation whose changes are not logged.
    public func open(
        _ operation: DataOperation,
        _ caller: AuthenticatedUser,
        _ context: CallContext
    ) async throws(ServiceError) -> (Watch, WatchStart) {
        guard case .watch(let arguments) = operation.action else {
            throw ServiceError(.internalServerError, "not a watch")
        }
        context.trace.enter(.plan)
        context.trace.note { $0.namespace = operation.namespace.name }
        let plan = try await plan(operation, context)
        if let role = plan.plan.soleRole { context.trace.note { $0.role = role } }
        let token = try arguments.resumeToken.map { (text) throws(ServiceError) in try ResumeToken(text) }
        let inbox = try register(operation.namespace, caller)
        // From here on its end takes it off the list.
        let watch = Watch(self, inbox, operation, arguments, context)
        context.trace.enter(.database)
        let start = try await begin(inbox, token)
        inbox.wake()
        return (watch, start)
    }

    /// What the caller may see, by the rules in force now.
    func plan(
        _ operation: DataOperation,
        _ context: CallContext
    ) async throws(ServiceError) -> PreparedPlan {
        guard let app = apps.app(id: context.app.id) else {
            throw ServiceError(.appNotFound, "the app is not served any more")
        }
        if app === context.app { return try await data.plan(watching: operation, context) }
        let request = context.request
        return try await data.plan(
            watching: operation,
            CallContext(
                app: app,
                principal: context.principal,
                request: request(),
                deadline: context.deadline,
                trace: context.trace
            )
        )
    }

    /// Decides by a plan, with the answers of the functions that its rules ask.
    func deciding<Value>(
        _ plan: PreparedPlan,
        _ context: CallContext,
        _ decide: () throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        guard let answers = plan.plan.answers, let questions = data.questions(context) else {
            return try decide()
        }
        return try await questions.deciding(answers, within: nil, decide)
    }

    func evaluation() -> EvaluationContext {
        EvaluationContext(
            now: now(),
            meter: EvaluationMeter(limit: data.limits.evaluationSteps, shouldStop: { Task.isCancelled })
        )
    }

    /// Tells others than watches when changes have been decided.
    func onChanges(_ tell: @escaping @Sendable () -> Void) {
        others.withLock { $0.append(tell) }
    }

    func notifyOthers() {
        for tell in others.withLock({ $0 }) { tell() }
    }

    // MARK: The list

    /// How many watches there are.
    public var count: Int { state.withLock { $0.inboxes.count } }

    var inboxes: [WatchInbox] { state.withLock { Array($0.inboxes.values) } }

    private func register(
        _ namespace: Namespace,
        _ caller: AuthenticatedUser
    ) throws(ServiceError) -> WatchInbox {
        let limits = limits
        let user = Self.user(caller.token)
        let result = state.withLock { state -> Result<WatchInbox, ServiceError> in
            if state.isClosed { return .failure(Self.closing) }
            if limits.most > 0, state.inboxes.count >= limits.most {
                return .failure(
                    ServiceError(
                        .maintenanceInProgress,
                        "the gateway is busy: more than \(known: limits.most) watches (limit max-watches)",
                        details: ["limit": "max-watches"]
                    )
                )
            }
            let own = state.perUser[user] ?? 0
            if limits.mostPerUser > 0, own >= limits.mostPerUser {
                return .failure(
                    ServiceError(
                        .tooManyRequests,
                        "more than \(known: limits.mostPerUser) watches of one user (limit max-watches-per-user)",
                        details: ["limit": "max-watches-per-user"]
                    )
                )
            }
            state.perUser[user] = own + 1
            state.lastID += 1
            let inbox = WatchInbox(
                id: state.lastID,
                database: namespace.database,
                collection: namespace.collection,
                token: caller.token
            )
            state.inboxes[inbox.id] = inbox
            return .success(inbox)
        }
        return try result.get()
    }

    func remove(_ inbox: WatchInbox) {
        let user = Self.user(inbox.token)
        state.withLock { state in
            guard state.inboxes.removeValue(forKey: inbox.id) != nil else { return }
            let own = (state.perUser[user] ?? 1) - 1
            state.perUser[user] = own > 0 ? own : nil
        }
        inbox.close(feed)
    }

    private static func user(_ token: AccessToken) -> String { "\(token.appID):\(token.userID)" }

    private static let closing = ServiceError(
        .maintenanceInProgress,
        "the gateway is shutting down; watch again"
    )

    /// Ends all watches, and begins none any more: the server shuts down.
    public func close() {
        let inboxes = state.withLock { state in
            state.isClosed = true
            return Array(state.inboxes.values)
        }
        for inbox in inboxes { inbox.end(Self.closing) }
    }
}

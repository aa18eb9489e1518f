import Synchronization

/// What is learnt of one request on its way, by whoever learns it: the door, the services.
///
/// One object per request. The time between two ``enter(_:)`` belongs to the stage that was entered
/// first; a request is always in exactly one stage, so that the stages' times add up to the whole.
public final class RequestTrace: Sendable {
    /// What a log row or a metric may know.
    ///
    /// Safe to log: no bodies, credentials or documents.
    public struct Facts: Sendable {
        /// The id in the URL; nil for requests that address no app.
        public var clientAppID: String?
        /// The caller, once known; nil for the system and for nobody.
        public var userID: String?
        /// The address of the client; a trusted proxy's word for it counts.
        public var address: String?
        /// The operation, such as `findOne`.
        public var operation: String?
        /// `database.collection`.
        public var namespace: String?
        /// Whether the operation may change documents.
        public var mayWrite = false
        /// The role that decided, where one alone did.
        public var role: String?
        /// Why a request was refused, in full; never for the client.
        public var reason: String?
        /// The code of the error that was answered, such as `NoMatchingRuleFound`.
        public var errorCode: String?
        /// How much of the filter SQL decides: `exact`, `superset` or `none`.
        public var grade: String?
        /// Statements sent to PostgreSQL.
        public var statements = 0
        /// The function that ran; the hosted service's log showed as much.
        public var function: FunctionFacts?
        /// What it failed with, in full, where that is more than one reason.
        public var failure: String?
        /// The log's name for the kind of request, where its route does not tell.
        public var logType: String?

        /// Knows nothing yet.
        public init() {}
    }

    /// What the log says of the run of a function.
    ///
    /// Unlike all else it holds what the function was given and wrote, for its author.
    public struct FunctionFacts: Sendable {
        /// As in `functions/config.json`.
        public var name: String
        /// Extended JSON without credentials; nil when the function's settings leave them out.
        public var arguments: String?
        /// What it wrote to the console.
        public var messages: [String] = []
        /// Bytes · milliseconds that it held.
        public var memoryTime: Int64 = 0
        /// What it failed with, and where.
        public var error: String?

        /// A run that has not begun.
        public init(name: String, arguments: String?) {
            self.name = name
            self.arguments = arguments
        }
    }

    private struct State {
        var facts = Facts()
        var stage = RequestStage.receive
        var since: ContinuousClock.Instant
        var times = StageTimes()
    }

    /// The trace of the request that this task works for, for log lines of those who are not handed it.
    @TaskLocal public static var current: RequestTrace?

    /// 24 hexadecimal digits.
    public let requestID: String
    /// When the request's head was here.
    public let start: ContinuousClock.Instant
    private let state: Mutex<State>

    /// The trace of a request that has just come; its stage is ``RequestStage/receive``.
    public init(requestID: String, start: ContinuousClock.Instant = .now) {
        self.requestID = requestID
        self.start = start
        state = Mutex(State(since: start))
    }

    /// Takes note of something.
    public func note(_ change: (inout Facts) -> Void) {
        state.withLock { change(&$0.facts) }
    }

    /// Whether the caller is a user, as far as is known by now.
    public var hasUser: Bool { state.withLock { $0.facts.userID != nil } }

    /// Ends the current stage and begins another.
    public func enter(_ stage: RequestStage) {
        let now = ContinuousClock.now
        state.withLock { state in
            state.times[state.stage] += now - state.since
            state.stage = stage
            state.since = now
            if stage == .database { state.facts.statements += 1 }
        }
    }

    /// What is known, with the times up to now.
    public func record(method: String, route: String, status: Int) -> RequestRecord {
        let now = ContinuousClock.now
        return state.withLock { state in
            state.times[state.stage] += now - state.since
            state.since = now
            return RequestRecord(
                requestID: requestID,
                method: method,
                route: route,
                status: status,
                start: start,
                duration: now - start,
                stages: state.times,
                facts: state.facts
            )
        }
    }
}

/// The time spent in each stage; without a heap allocation, since every request has one.
public struct StageTimes: Sendable {
    private var times = InlineArray<8, Duration>(repeating: .zero)

    /// No time spent yet.
    public init() {}

    /// The time of one stage; zero for one that was never entered.
    public subscript(stage: RequestStage) -> Duration {
        get { times[stage.index] }
        set { times[stage.index] = newValue }
    }
}

/// One answered request, as metrics, logs and `tidegate.logs` are told of it.
///
/// An object, since it goes through many hands: a copy of all that it knows would cost more than each of them does.
public final class RequestRecord: Sendable {
    /// 24 hexadecimal digits.
    public let requestID: String
    /// `POST`.
    public let method: String
    /// The pattern, not the path, so that metrics stay few.
    public let route: String
    /// The HTTP status.
    public let status: Int
    /// When the head was here.
    public let start: ContinuousClock.Instant
    /// From the head to the answer.
    public let duration: Duration
    /// The same, by stage.
    public let stages: StageTimes
    /// What was learnt on the way.
    public let facts: RequestTrace.Facts

    fileprivate init(
        requestID: String,
        method: String,
        route: String,
        status: Int,
        start: ContinuousClock.Instant,
        duration: Duration,
        stages: StageTimes,
        facts: RequestTrace.Facts
    ) {
        self.requestID = requestID
        self.method = method
        self.route = route
        self.status = status
        self.start = start
        self.duration = duration
        self.stages = stages
        self.facts = facts
    }

    /// The same request with other facts.
    public func with(_ facts: RequestTrace.Facts) -> RequestRecord {
        RequestRecord(
            requestID: requestID,
            method: method,
            route: route,
            status: status,
            start: start,
            duration: duration,
            stages: stages,
            facts: facts
        )
    }
}

extension RequestStage {
    fileprivate var index: Int {
        switch self {
        case .receive: 0
        case .authenticate: 1
        case .parse: 2
        case .plan: 3
        case .database: 4
        case .evaluate: 5
        case .encode: 6
        case .function: 7
        }
    }
}

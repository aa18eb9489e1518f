import Synchronization

/// How traffic went over the last ten minutes, from readings of the metrics every few seconds.
///
/// Bounded: 121 readings of one histogram and a few numbers, and one reading a minute of every route.
public final class TrafficHistory: Sendable {
    /// The distance between readings.
    public static let interval = Duration.seconds(5)
    /// Readings that are kept: ten minutes, with both ends.
    private static let kept = 121
    /// Every how many readings the routes are kept.
    private static let routeStride = 12

    private struct State {
        var readings: [TrafficReading] = []
        /// The oldest first; the newest may be a minute old.
        var routes: [TrafficReading.Routes] = []
        var taken = 0
    }

    private let state = Mutex(State())

    /// A history without readings.
    public init() {}

    /// Adds a reading of all metrics.
    public func take(_ families: [MetricFamily], at time: ContinuousClock.Instant) {
        let reading = TrafficReading(families, at: time)
        let routes = TrafficReading.Routes(families)
        state.withLock { state in
            state.readings.append(reading)
            if state.readings.count > Self.kept { state.readings.removeFirst() }
            if state.taken.isMultiple(of: Self.routeStride) {
                state.routes.append(routes)
                if state.routes.count > Self.kept / Self.routeStride + 1 { state.routes.removeFirst() }
            }
            state.taken += 1
        }
    }

    /// What happened between each two readings, the oldest first.
    public var points: [TrafficPoint] {
        let readings = state.withLock { $0.readings }
        return zip(readings, readings.dropFirst()).map { TrafficPoint(from: $0, to: $1) }
    }

    /// What happened on each route since about ten minutes ago.
    ///
    /// - Parameter families: The metrics as they are now.
    /// - Returns: Durations and denials, without those that stayed as they were.
    public func routes(until families: [MetricFamily]) -> TrafficReading.Routes {
        let now = TrafficReading.Routes(families)
        return state.withLock { $0.routes.first }.map { now.since($0) } ?? now
    }
}

/// What the history keeps of all metrics at one moment.
public struct TrafficReading: Sendable {
    let time: ContinuousClock.Instant
    let durations: HistogramSnapshot
    let failures: Double
    let denials: Double
    let inFlight: Double
    let waiting: Double
    let leased: Double
    let processorSeconds: Double
    let memory: Double

    init(_ families: [MetricFamily], at time: ContinuousClock.Instant) {
        self.time = time
        var durations = HistogramSnapshot(bounds: .seconds)
        for series in families.series("tidegate_request_duration_seconds") {
            if let histogram = series.histogram { durations.add(histogram) }
        }
        self.durations = durations
        failures = families.series("tidegate_requests_total")
            .reduce(0) { $1["status"].hasPrefix("5") ? $0 + $1.number : $0 }
        denials = families.sum("tidegate_denials_total")
        inFlight = families.sum("tidegate_requests_in_flight")
        waiting = families.sum("tidegate_database_waiting")
        leased = families.series("tidegate_database_connections")
            .reduce(0) { $1["state"] == "leased" ? $0 + $1.number : $0 }
        processorSeconds = families.sum("process_cpu_seconds_total")
        memory = families.sum("process_resident_memory_bytes")
    }

    /// What was counted by route.
    public struct Routes: Sendable {
        /// A route's pattern, and the operation where one route serves several.
        public struct Name: Hashable, Sendable {
            /// `/app/:appID/…`.
            public let route: String
            /// `findOne`; empty where there is none.
            public let operation: String
        }

        /// An error code on a route.
        public struct Denial: Hashable, Sendable {
            /// `NoMatchingRuleFound`.
            public let code: String
            /// Where.
            public let name: Name
        }

        /// How long requests took.
        public private(set) var durations: [Name: HistogramSnapshot] = [:]
        /// How often each code was answered.
        public private(set) var denials: [Denial: Double] = [:]

        init(_ families: [MetricFamily]) {
            for series in families.series("tidegate_request_duration_seconds") {
                durations[Self.name(series)] = series.histogram
            }
            for series in families.series("tidegate_denials_total") {
                denials[Denial(code: series["code"], name: Self.name(series))] = series.number
            }
        }

        private static func name(_ series: MetricSeries) -> Name {
            Name(route: series["route"], operation: series["operation"])
        }

        func since(_ earlier: Routes) -> Routes {
            var result = self
            for (name, then) in earlier.durations { result.durations[name] = durations[name]?.since(then) }
            for (denial, then) in earlier.denials {
                result.denials[denial] = (denials[denial] ?? then) - then
            }
            result.durations = result.durations.filter { $0.value.count > 0 }
            result.denials = result.denials.filter { $0.value > 0 }
            return result
        }
    }
}

/// What happened between two readings.
public struct TrafficPoint: Sendable {
    /// When the later reading was taken.
    public let time: ContinuousClock.Instant
    /// Requests answered in a second.
    public let requestsPerSecond: Double
    /// Of these, answers with status 500 and more.
    public let failuresPerSecond: Double
    /// Answers with an error code, in a second.
    public let denialsPerSecond: Double
    /// Half of the requests took no longer, in seconds; nil without requests.
    public let median: Double?
    /// Of a hundred requests, ninety-nine took no longer; nil without requests.
    public let percentile99: Double?
    /// Requests under way at the later reading.
    public let inFlight: Double
    /// Callers waiting for a connection at the later reading.
    public let waiting: Double
    /// Connections in use at the later reading.
    public let leased: Double
    /// How much of one processor the process used.
    public let processorShare: Double
    /// Resident bytes at the later reading.
    public let memory: Double

    init(from earlier: TrafficReading, to later: TrafficReading) {
        time = later.time
        let seconds = max(0.001, (later.time - earlier.time) / .seconds(1))
        let durations = later.durations.since(earlier.durations)
        requestsPerSecond = Double(durations.count) / seconds
        failuresPerSecond = (later.failures - earlier.failures) / seconds
        denialsPerSecond = (later.denials - earlier.denials) / seconds
        median = durations.quantile(0.5)
        percentile99 = durations.quantile(0.99)
        inFlight = later.inFlight
        waiting = later.waiting
        leased = later.leased
        processorShare = (later.processorSeconds - earlier.processorSeconds) / seconds
        memory = later.memory
    }
}

extension [MetricFamily] {
    /// The series of one metric; none for one that is not there.
    public func series(_ name: String) -> [MetricSeries] {
        first { $0.name == name }?.series ?? []
    }

    /// The numbers of all series of one metric together.
    public func sum(_ name: String) -> Double {
        series(name).reduce(0) { $0 + $1.number }
    }
}

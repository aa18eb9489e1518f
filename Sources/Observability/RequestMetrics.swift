import CoreMetrics
import Synchronization

/// What is counted and timed of requests.
///
/// A request takes one short lock to find the series of its route; the rest are additions without a lock.
/// Labels are bounded: routes are patterns, operations come from a fixed set, and beyond a number of
/// routes everything counts as `other`.
final class RequestMetrics: Sendable {
    /// The series of one route and operation.
    private final class Route: Sendable {
        let route: String
        let operation: String
        let factory: any MetricsFactory
        let duration: CoreMetrics.Timer
        let counters = Mutex<[Int: Counter]>([:])
        let denials = Mutex<[String: Counter]>([:])

        init(_ route: String, _ operation: String, _ factory: any MetricsFactory) {
            self.route = route
            self.operation = operation
            self.factory = factory
            duration = CoreMetrics.Timer(
                label: "tidegate_request_duration_seconds",
                dimensions: [("route", route), ("operation", operation)],
                factory: factory
            )
        }

        func counter(method: Int, status: Int) -> Counter {
            counters.withLock { counters in
                let key = method * 1000 + status
                if let known = counters[key] { return known }
                let made = Counter(
                    label: "tidegate_requests_total",
                    dimensions: [
                        ("method", RequestMetrics.methods[method]), ("route", route),
                        ("operation", operation), ("status", String(status)),
                    ],
                    factory: factory
                )
                counters[key] = made
                return made
            }
        }

        func denial(code: String) -> Counter {
            denials.withLock { denials in
                if let known = denials[code] { return known }
                let made = Counter(
                    label: "tidegate_denials_total",
                    dimensions: [("code", code), ("route", route), ("operation", operation)],
                    factory: factory
                )
                denials[code] = made
                return made
            }
        }
    }

    private struct Key: Hashable {
        var route: String
        var operation: String?
    }

    private static let methods = ["other", "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]
    private static let mostRoutes = 256

    private let routes = Mutex<[Key: Route]>([:])
    private let factory: any MetricsFactory
    private let inFlight: Meter
    private let stages: [CoreMetrics.Timer]
    private let statements: Recorder
    private let grades: [(String, Counter)]

    /// - Parameter factory: Where the series are kept.
    init(factory: any MetricsFactory) {
        self.factory = factory
        inFlight = Meter(label: "tidegate_requests_in_flight", factory: factory)
        stages = RequestStage.allCases.map {
            CoreMetrics.Timer(
                label: "tidegate_request_stage_seconds",
                dimensions: [("stage", $0.rawValue)],
                factory: factory
            )
        }
        statements = Recorder(label: "tidegate_statements_per_request", factory: factory)
        grades = ["exact", "superset", "none"].map { grade in
            let dimensions = [("grade", grade)]
            let label = "tidegate_compiled_operations_total"
            return (grade, Counter(label: label, dimensions: dimensions, factory: factory))
        }
    }

    func started() {
        inFlight.increment(by: 1)
    }

    func finished(_ record: RequestRecord) {
        inFlight.decrement(by: 1)
        count(record)
    }

    /// Counts what was never said to have started.
    func count(_ record: RequestRecord) {
        let facts = record.facts
        let route = route(Key(route: record.route, operation: facts.operation))
        route.duration.recordNanoseconds(record.duration.nanoseconds)
        let method = Self.methods.firstIndex(of: record.method) ?? 0
        route.counter(method: method, status: record.status).increment()
        for (stage, timer) in zip(RequestStage.allCases, stages) {
            let time = record.stages[stage]
            if time > .zero { timer.recordNanoseconds(time.nanoseconds) }
        }
        if facts.statements > 0 { statements.record(facts.statements) }
        if let code = facts.errorCode { route.denial(code: code).increment() }
        if let grade = facts.grade {
            for (name, counter) in grades where name == grade { counter.increment() }
        }
    }

    private func route(_ key: Key) -> Route {
        routes.withLock { routes in
            if let known = routes[key] { return known }
            guard routes.count < Self.mostRoutes else {
                let other = Key(route: "other")
                let made = routes[other] ?? Route("other", "", factory)
                routes[other] = made
                return made
            }
            let made = Route(key.route, key.operation ?? "", factory)
            routes[key] = made
            return made
        }
    }
}

extension Duration {
    /// Whole nanoseconds; what a century of them would not hold does not occur.
    fileprivate var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000
    }
}

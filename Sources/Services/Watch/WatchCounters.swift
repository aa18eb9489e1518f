public import Observability
import Synchronization

/// What has been sent, for metrics.
final class WatchCounters: Sendable {
    private let events = Atomic<Int>(0)
    private let failures = Atomic<Int>(0)

    func sent(_ count: Int) { events.add(count, ordering: .relaxed) }

    func failure() { failures.add(1, ordering: .relaxed) }

    var eventCount: Int { events.load(ordering: .relaxed) }

    var failureCount: Int { failures.load(ordering: .relaxed) }
}

extension WatchService {
    /// How many watch, and what they were sent.
    public var metrics: [MetricFamily] {
        [
            MetricFamily("tidegate_watches", .gauge, Double(count)),
            MetricFamily("tidegate_watch_events_total", .counter, Double(counters.eventCount)),
            MetricFamily("tidegate_watch_failures_total", .counter, Double(counters.failureCount)),
        ]
    }
}

import CoreMetrics
import Testing

@testable import Observability

@Suite("The history of traffic")
struct TrafficHistoryTests {
    private let registry = MetricsRegistry()
    private let history = TrafficHistory()
    private let begin = ContinuousClock.now

    private func request(_ route: String, milliseconds: Int64, times: Int = 1) {
        let dimensions = [("route", route), ("operation", "")]
        let timer = CoreMetrics.Timer(
            label: "tidegate_request_duration_seconds",
            dimensions: dimensions,
            factory: registry
        )
        for _ in 0..<times { timer.recordNanoseconds(milliseconds * 1_000_000) }
    }

    private func take(_ number: Int) {
        history.take(registry.families, at: begin + TrafficHistory.interval * number)
    }

    @Test("tells rates and percentiles between readings")
    func points() {
        request("/a", milliseconds: 900, times: 50)
        take(0)
        request("/a", milliseconds: 10, times: 100)
        take(1)
        take(2)
        let points = history.points
        #expect(points.map(\.requestsPerSecond) == [20, 0])
        #expect(abs((points[0].median ?? 0) - 0.01) < 0.0015)
        #expect(points[1].median == nil)
        let routes = history.routes(until: registry.families)
        #expect(routes.durations.mapValues(\.count) == [.init(route: "/a", operation: ""): 100])
    }

    @Test("keeps ten minutes and no more")
    func bounds() {
        for number in 0..<500 {
            request("/a", milliseconds: 1)
            take(number)
        }
        #expect(history.points.count == 120)
        let counts = history.routes(until: registry.families).durations.values.map(\.count)
        #expect((120...133).contains(counts[0]))
    }
}

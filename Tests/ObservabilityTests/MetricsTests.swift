import CoreMetrics
import TestSupport
import Testing

@testable import Observability

@Suite("Metrics")
struct MetricsTests {
    private func record(
        route: String = "/ready",
        operation: String? = nil,
        status: Int = 200,
        method: String = "GET",
        code: String? = nil
    ) -> RequestRecord {
        let trace = RequestTrace(requestID: "65f0c0ffee0000000000aaaa")
        trace.note {
            $0.operation = operation
            $0.errorCode = code
            $0.grade = "superset"
        }
        trace.enter(.database)
        trace.enter(.encode)
        return trace.record(method: method, route: route, status: status)
    }

    private func samples(_ registry: MetricsRegistry, _ family: String) throws -> [ExpositionParser.Sample] {
        try ExpositionParser(PrometheusText.render(registry.families)).families[family]?.samples ?? []
    }

    @Test("count requests by method, route, operation and status, and denials by code")
    func requests() throws {
        let registry = MetricsRegistry()
        let metrics = ObservationMetrics(factory: registry)
        let action = "/app/:appID/endpoint/data/:version/action/:action"
        for _ in 0..<3 { metrics.record(.requestStarted) }
        metrics.record(.requestFinished(record(route: action, operation: "find", method: "POST")))
        metrics.record(
            .requestFinished(
                record(
                    route: action,
                    operation: "find",
                    status: 403,
                    method: "POST",
                    code: "NoMatchingRuleFound"
                )
            )
        )
        let labels = ["method": "POST", "route": action, "operation": "find"]
        let requests = try samples(registry, "tidegate_requests_total")
        #expect(requests.map(\.value) == [1, 1])
        #expect(requests.contains { $0.labels == labels.merging(["status": "200"]) { $1 } })
        #expect(requests.contains { $0.labels == labels.merging(["status": "403"]) { $1 } })
        let denials = try samples(registry, "tidegate_denials_total")
        #expect(denials.map { $0.labels["code"] } == ["NoMatchingRuleFound"])
        #expect(try samples(registry, "tidegate_requests_in_flight").map(\.value) == [1])
        let grades = try samples(registry, "tidegate_compiled_operations_total")
        #expect(grades.first { $0.labels["grade"] == "superset" }?.value == 2)
        #expect(grades.first { $0.labels["grade"] == "exact" }?.value == 0)
        let stages = try samples(registry, "tidegate_request_stage_seconds")
        #expect(stages.contains { $0.labels == ["stage": "database"] && $0.name.hasSuffix("_count") })
    }

    @Test("count a trigger's run, and no request less under way for it")
    func runs() throws {
        let registry = MetricsRegistry()
        let metrics = ObservationMetrics(factory: registry)
        metrics.record(.requestStarted)
        metrics.record(.runFinished(record(route: "onTime", method: "TRIGGER")))
        #expect(try samples(registry, "tidegate_requests_in_flight").map(\.value) == [1])
        #expect(try samples(registry, "tidegate_requests_total").map(\.value) == [1])
    }

    @Test("stay few, whatever callers ask for")
    func cardinality() throws {
        let registry = MetricsRegistry()
        let metrics = ObservationMetrics(factory: registry)
        for number in 0..<400 {
            metrics.record(.requestFinished(record(route: "/made/up/\(number)", method: "X\(number)")))
        }
        let requests = try samples(registry, "tidegate_requests_total")
        #expect(requests.count <= 258)
        #expect(requests.allSatisfy { $0.labels["method"] == "other" })
        #expect(requests.first { $0.labels["route"] == "other" }?.value == 144)
    }

    @Test("are text that a strict parser takes, whatever names and labels hold")
    func exposition() throws {
        let registry = MetricsRegistry()
        Counter(label: "odd name.total", dimensions: [("la bel", "a\"b\\c\nd")], factory: registry)
            .increment()
        Meter(label: "level", factory: registry).set(0.25)
        FloatingPointCounter(label: "halves", factory: registry).increment(by: 0.5)
        let timer = CoreMetrics.Timer(label: "wait_seconds", factory: registry)
        for nanoseconds in [0, 100_000, 100_001, 2_000_000, 5_000_000_000, 900_000_000_000] {
            timer.recordNanoseconds(Int64(nanoseconds))
        }
        // A name that is of another kind already changes nothing.
        Counter(label: "level", factory: registry).increment()
        Meter(label: "halves_total", factory: registry).set(7)

        let families = try ExpositionParser(PrometheusText.render(registry.families)).families
        #expect(families["odd_name_total"]?.samples.first?.labels == ["la_bel": "a\"b\\c\nd"])
        #expect(families["level"]?.samples.map(\.value) == [0.25])
        #expect(families["halves_total"]?.samples.map(\.value) == [0.5])
        let wait = try #require(families["wait_seconds"])
        func bucket(_ end: String) -> Double? { wait.samples.first { $0.labels["le"] == end }?.value }
        #expect(bucket("0.0001") == 2)
        #expect(bucket("0.00025") == 3)
        #expect(bucket("0.0025") == 4)
        #expect(bucket("5") == 5)
        #expect(bucket("100") == 5)
        #expect(bucket("+Inf") == 6)
        #expect(wait.samples.first { $0.name == "wait_seconds_sum" }?.value == 905.002_200_001)
    }

    @Test("of ours say what they mean")
    func help() throws {
        let registry = MetricsRegistry()
        let metrics = ObservationMetrics(factory: registry)
        metrics.record(.requestFinished(record(code: "BadRequest")))
        registry.collect(ProcessMetrics.families)
        let families = try ExpositionParser(PrometheusText.render(registry.families)).families
        #expect(families.count > 15)
        for (name, family) in families { #expect(family.help?.hasSuffix(".") == true, "\(name)") }
        #expect(families["process_resident_memory_bytes"]?.samples.first?.value ?? 0 > 1_000_000)
        #expect(families["process_open_fds"]?.samples.first?.value ?? 0 > 2)
    }

    @Test("know percentiles to about a tenth")
    func quantiles() {
        let histogram = AtomicHistogram(bounds: .seconds)
        #expect(histogram.snapshot.quantile(0.5) == nil)
        for milliseconds in 1...1000 { histogram.record(Int64(milliseconds) * 1_000_000) }
        let snapshot = histogram.snapshot
        for share in [0.1, 0.5, 0.9, 0.99, 1] {
            #expect(abs((snapshot.quantile(share) ?? 0) - share) < share * 0.1, "\(share)")
        }
        #expect(snapshot.count == 1000)
        #expect(abs(snapshot.mean - 0.5005) < 0.000_001)
        histogram.record(.max / 4)
        #expect(histogram.snapshot.quantile(1) == 100)
    }
}

import CoreMetrics

/// What one process measures of itself: its metrics, and how they went over the last minutes.
///
/// ``ofProcess`` is taken before anything counts.
public final class Telemetry: Sendable {
    /// Every metric.
    public let registry = MetricsRegistry()
    /// The last ten minutes.
    public let history = TrafficHistory()
    /// The program's version.
    public static let version = "0.1.0"
    /// When it was made.
    public let startedAt = ContinuousClock.now

    /// Metrics of the process and nothing else yet.
    public init() {
        registry.collect(ProcessMetrics.families)
        registry.collect {
            [
                MetricFamily(
                    "tidegate_build_info",
                    .gauge,
                    [MetricSeries(labels: [.init("version", Self.version)], value: .number(1))]
                )
            ]
        }
    }

    /// The metrics of this process: swift-metrics reports here from the first use on.
    ///
    /// One, because swift-metrics has one place for all.
    public static let ofProcess: Telemetry = {
        let telemetry = Telemetry()
        MetricsSystem.bootstrap(telemetry.registry)
        return telemetry
    }()

    /// Takes a reading every few seconds, until its task is cancelled.
    public func run() async {
        while !Task.isCancelled {
            history.take(registry.families, at: .now)
            try? await Task.sleep(for: TrafficHistory.interval)
        }
    }
}

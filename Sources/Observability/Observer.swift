import CoreMetrics
public import Logging

/// Where observations go: to a log line and a metric, or to a closure in tests.
///
/// A value to hand around; copies share their metrics. Recording never throws and never waits.
public struct Observer: Sendable {
    private let sink: @Sendable (Observation) -> Void

    /// An observer that writes to a logger and to the process's metrics factory.
    public init(logger: Logger) {
        let metrics = ObservationMetrics(factory: MetricsSystem.factory)
        sink = { observation in
            metrics.record(observation)
            observation.write(to: logger)
        }
    }

    /// An observer that hands every observation to a closure.
    public init(_ sink: @escaping @Sendable (Observation) -> Void) {
        self.sink = sink
    }

    /// Takes note of one event.
    public func record(_ observation: Observation) {
        sink(observation)
    }
}

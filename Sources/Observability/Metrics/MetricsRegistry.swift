public import CoreMetrics
import Synchronization

/// Keeps every series that the process reports through swift-metrics, and reads them all at once.
///
/// Made once, and given to `MetricsSystem.bootstrap`, so that the metrics of libraries are in it as well.
/// Making a series takes a lock; recording into one takes none. Numbers that somebody else keeps (the pool,
/// the process) are read when they are asked for: ``collect(_:)``.
public final class MetricsRegistry: MetricsFactory {
    private struct Key: Hashable {
        var name: String
        var labels: [MetricSeries.Label]
    }

    fileprivate enum Series {
        case counter(CounterValue)
        case gauge(GaugeValue)
        case histogram(HistogramValue)
    }

    private struct State {
        var series: [Key: Series] = [:]
        var collectors: [@Sendable () -> [MetricFamily]] = []
    }

    /// Most series there may be; what comes later is counted into series that nobody sees.
    private static let mostSeries = 10_000

    private let state = Mutex(State())

    /// A registry without series.
    public init() {}

    /// Adds numbers that are read when they are asked for.
    ///
    /// - Parameter collector: Called at each reading, on the reader's thread; must not wait.
    public func collect(_ collector: @escaping @Sendable () -> [MetricFamily]) {
        state.withLock { $0.collectors.append(collector) }
    }

    /// Every metric with every series, by name.
    public var families: [MetricFamily] {
        let (series, collectors) = state.withLock { ($0.series, $0.collectors) }
        var families: [String: MetricFamily] = [:]
        for (key, kept) in series {
            let one = MetricSeries(labels: key.labels, value: kept.value)
            families[key.name, default: Self.family(key.name, kept.kind)].series.append(one)
        }
        for collected in collectors.flatMap({ $0() }) where families[collected.name] == nil {
            families[collected.name] = collected
        }
        return families.values.sorted { $0.name < $1.name }.map { family in
            var sorted = family
            sorted.series.sort { $0.labels.lexicographicallyPrecedes($1.labels) }
            return sorted
        }
    }

    private static func family(_ name: String, _ kind: MetricFamily.Kind) -> MetricFamily {
        MetricFamily(name: name, help: MetricDescriptions.help(name), kind: kind, series: [])
    }

    // MARK: swift-metrics

    /// A counter; its name ends in `_total`.
    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        counter(label, dimensions)
    }

    /// A counter of fractions; its name ends in `_total`.
    public func makeFloatingPointCounter(
        label: String,
        dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        counter(label, dimensions)
    }

    /// A gauge.
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        gauge(label, dimensions)
    }

    /// A histogram of amounts, or a gauge for what is not to be aggregated.
    public func makeRecorder(
        label: String,
        dimensions: [(String, String)],
        aggregate: Bool
    ) -> any RecorderHandler {
        aggregate ? histogram(label, dimensions, .amounts) : gauge(label, dimensions)
    }

    /// A histogram of durations, in seconds.
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        histogram(label, dimensions, .seconds)
    }

    /// Series are kept: Prometheus would take one that comes again for a restart.
    public func destroyCounter(_ handler: any CounterHandler) {}
    /// Series are kept.
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    /// Series are kept.
    public func destroyMeter(_ handler: any MeterHandler) {}
    /// Series are kept.
    public func destroyRecorder(_ handler: any RecorderHandler) {}
    /// Series are kept.
    public func destroyTimer(_ handler: any TimerHandler) {}

    private func counter(_ label: String, _ dimensions: [(String, String)]) -> CounterValue {
        let clean = PrometheusText.metricName(label)
        let name = clean.hasSuffix("_total") ? clean : clean + "_total"
        let kept = keep(name, dimensions) { .counter(CounterValue()) }
        if case .counter(let value) = kept { return value }
        return CounterValue()
    }

    private func gauge(_ label: String, _ dimensions: [(String, String)]) -> GaugeValue {
        let kept = keep(label, dimensions) { .gauge(GaugeValue()) }
        if case .gauge(let value) = kept { return value }
        return GaugeValue()
    }

    private func histogram(
        _ label: String,
        _ dimensions: [(String, String)],
        _ bounds: HistogramBounds
    ) -> HistogramValue {
        let kept = keep(label, dimensions) { .histogram(HistogramValue(bounds: bounds)) }
        if case .histogram(let value) = kept { return value }
        return HistogramValue(bounds: bounds)
    }

    /// The series of a name and labels, made when it is new; nil where a name is of another kind already.
    private func keep(_ name: String, _ dimensions: [(String, String)], _ make: () -> Series) -> Series? {
        let key = Key(
            name: PrometheusText.metricName(name),
            labels: dimensions.map { MetricSeries.Label(PrometheusText.labelName($0.0), $0.1) }
        )
        return state.withLock { state in
            if let known = state.series[key] { return known }
            let made = make()
            let sibling = state.series.first { $0.key.name == key.name }?.value
            guard state.series.count < Self.mostSeries, sibling == nil || sibling?.kind == made.kind else {
                return nil
            }
            state.series[key] = made
            return made
        }
    }
}

extension MetricsRegistry.Series {
    fileprivate var kind: MetricFamily.Kind {
        switch self {
        case .counter: .counter
        case .gauge: .gauge
        case .histogram: .histogram
        }
    }

    fileprivate var value: MetricSeries.Value {
        switch self {
        case .counter(let counter): .number(counter.value)
        case .gauge(let gauge): .number(gauge.value)
        case .histogram(let kept): .histogram(kept.histogram.snapshot)
        }
    }
}

extension [MetricSeries.Label] {
    fileprivate func lexicographicallyPrecedes(_ other: Self) -> Bool {
        lexicographicallyPrecedes(other) { ($0.name, $0.value) < ($1.name, $1.value) }
    }
}

/// All series of one metric, at one moment.
public struct MetricFamily: Sendable {
    /// What a metric counts up, shows or sorts into buckets.
    public enum Kind: String, Sendable {
        /// Grows until the process ends.
        case counter
        /// Goes up and down.
        case gauge
        /// Counts observations by size.
        case histogram
    }

    /// The name as Prometheus wants it: `tidegate_requests_total`.
    public let name: String
    /// One sentence for people.
    public let help: String
    /// How to read the numbers.
    public let kind: Kind
    /// One for each combination of labels.
    public var series: [MetricSeries]

    /// A family of these parts.
    public init(name: String, help: String, kind: Kind, series: [MetricSeries]) {
        self.name = name
        self.help = help
        self.kind = kind
        self.series = series
    }

    /// A metric of ours, with the help that is known of it.
    public init(_ name: String, _ kind: Kind, _ series: [MetricSeries]) {
        self.init(name: name, help: MetricDescriptions.help(name), kind: kind, series: series)
    }

    /// A metric of ours with one series and no labels.
    public init(_ name: String, _ kind: Kind, _ value: Double) {
        self.init(name, kind, [MetricSeries(labels: [], value: .number(value))])
    }
}

/// One series of a metric, at one moment.
public struct MetricSeries: Sendable {
    /// A name and a value that tell a series from its siblings.
    public struct Label: Hashable, Sendable {
        /// Letters, digits and underscores.
        public let name: String
        /// Anything.
        public let value: String

        /// A label of these parts.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// What was read.
    public enum Value: Sendable {
        /// Of a counter or gauge.
        case number(Double)
        /// Of a histogram.
        case histogram(HistogramSnapshot)
    }

    /// In the order in which they were given.
    public let labels: [Label]
    /// What was read.
    public let value: Value

    /// A series of these parts.
    public init(labels: [Label], value: Value) {
        self.labels = labels
        self.value = value
    }

    /// The value of a label; empty for one that is not there.
    public subscript(label: String) -> String {
        labels.first { $0.name == label }?.value ?? ""
    }

    /// The number of a counter or gauge; a histogram's count.
    public var number: Double {
        switch value {
        case .number(let number): number
        case .histogram(let snapshot): Double(snapshot.count)
        }
    }

    /// The observations of a histogram; nil for other kinds.
    public var histogram: HistogramSnapshot? {
        if case .histogram(let snapshot) = value { snapshot } else { nil }
    }
}

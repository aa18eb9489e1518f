/// Where the buckets of a histogram end.
///
/// Counting is finer than what is shown: ten buckets per power of ten make percentiles that are right to
/// about a tenth, of which Prometheus gets three.
public struct HistogramBounds: Sendable {
    /// Upper ends, in whole units, ascending; what is larger goes to one bucket more.
    let ends: [Int64]
    /// Which of the ends are shown to Prometheus.
    let shown: [Int]
    /// How many units make one of what the metric is named for.
    let unitsPerWhole: Double

    private init(first: Int64, decades: Int, unitsPerWhole: Double) {
        // Hundredths, so that 1.25 stays whole from the smallest end on.
        let steps: [Int64] = [100, 125, 150, 200, 250, 300, 400, 500, 600, 800]
        var ends: [Int64] = []
        var shown: [Int] = []
        var power = first
        for _ in 0..<decades {
            for step in steps {
                if step == 100 || step == 250 || step == 500 { shown.append(ends.count) }
                ends.append(power / 100 * step)
            }
            power *= 10
        }
        shown.append(ends.count)
        ends.append(power)
        self.ends = ends
        self.shown = shown
        self.unitsPerWhole = unitsPerWhole
    }

    /// From a tenth of a millisecond to a hundred seconds, counted in nanoseconds and shown in seconds.
    public static let seconds = HistogramBounds(first: 100_000, decades: 6, unitsPerWhole: 1_000_000_000)
    /// From one to a billion of anything, counted in hundredths.
    public static let amounts = HistogramBounds(first: 100, decades: 9, unitsPerWhole: 100)

    /// The bucket of a value.
    func bucket(of value: Int64) -> Int {
        var low = 0
        var high = ends.count
        while low < high {
            let middle = (low + high) / 2
            if ends[middle] < value { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// What a histogram held at one moment.
public struct HistogramSnapshot: Sendable {
    /// Where the buckets end.
    public let bounds: HistogramBounds
    /// Observations by bucket; one more than there are ends.
    var counts: [Int]
    /// Of all observations, in units.
    var sumInUnits: Int64

    /// A histogram without observations.
    public init(bounds: HistogramBounds) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.ends.count + 1)
        sumInUnits = 0
    }

    /// How many observations there are.
    public var count: Int { counts.reduce(0, +) }
    /// Of all observations, in wholes: seconds.
    public var sum: Double { Double(sumInUnits) / bounds.unitsPerWhole }
    /// The mean in wholes; zero without observations.
    public var mean: Double { count == 0 ? 0 : sum / Double(count) }

    /// The buckets that Prometheus is shown: upper end in wholes, and how many observations are not larger.
    public var cumulative: [(end: Double, count: Int)] {
        var result: [(end: Double, count: Int)] = []
        var running = 0
        var next = 0
        for index in bounds.shown {
            while next <= index {
                running += counts[next]
                next += 1
            }
            result.append((Double(bounds.ends[index]) / bounds.unitsPerWhole, running))
        }
        return result
    }

    /// The value that a share of the observations does not exceed, in wholes; nil without observations.
    ///
    /// Within a bucket the observations count as spread evenly; those beyond the last end as that end.
    public func quantile(_ share: Double) -> Double? {
        let total = count
        guard total > 0 else { return nil }
        let rank = max(1, (share * Double(total)).rounded(.up))
        var running = 0.0
        for (index, count) in counts.enumerated() where count > 0 {
            guard running + Double(count) >= rank else {
                running += Double(count)
                continue
            }
            guard index < bounds.ends.count else { break }
            let end = Double(bounds.ends[index])
            let begin = index == 0 ? 0 : Double(bounds.ends[index - 1])
            return (begin + (end - begin) * (rank - running) / Double(count)) / bounds.unitsPerWhole
        }
        return Double(bounds.ends.last ?? 0) / bounds.unitsPerWhole
    }

    /// Takes in the observations of another histogram with the same bounds.
    public mutating func add(_ other: HistogramSnapshot) {
        for index in counts.indices { counts[index] += other.counts[index] }
        sumInUnits += other.sumInUnits
    }

    /// What came after an earlier moment of the same histogram.
    public func since(_ earlier: HistogramSnapshot) -> HistogramSnapshot {
        var result = self
        for index in counts.indices { result.counts[index] -= earlier.counts[index] }
        result.sumInUnits -= earlier.sumInUnits
        return result
    }
}

import Synchronization

/// Counts observations into fixed buckets, from any thread, without a lock.
///
/// An observation is a short search and two atomic additions. A reader that comes in between may see the
/// one without the other, which the next reading makes good.
public final class AtomicHistogram: Sendable {
    private let bounds: HistogramBounds
    // Safe: the memory is initialised here, freed in deinit, and holds nothing but atomics.
    private nonisolated(unsafe) let counts: UnsafeMutablePointer<Atomic<Int>>
    private let sum = Atomic<Int64>(0)

    /// A histogram without observations.
    public init(bounds: HistogramBounds) {
        self.bounds = bounds
        counts = .allocate(capacity: bounds.ends.count + 1)
        for index in 0...bounds.ends.count { (counts + index).initialize(to: Atomic(0)) }
    }

    deinit {
        counts.deinitialize(count: bounds.ends.count + 1)
        counts.deallocate()
    }

    /// Takes note of one value, in units: nanoseconds.
    public func record(_ value: Int64) {
        counts[bounds.bucket(of: value)].add(1, ordering: .relaxed)
        sum.add(value, ordering: .relaxed)
    }

    /// What it holds now.
    public var snapshot: HistogramSnapshot {
        var snapshot = HistogramSnapshot(bounds: bounds)
        for index in snapshot.counts.indices {
            snapshot.counts[index] = counts[index].load(ordering: .relaxed)
        }
        snapshot.sumInUnits = sum.load(ordering: .relaxed)
        return snapshot
    }
}

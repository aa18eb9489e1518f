import CoreMetrics
import Synchronization

/// Counts up.
final class CounterValue: CounterHandler, FloatingPointCounterHandler {
    private let whole = Atomic<Int64>(0)
    private let fraction = AtomicDouble()

    func increment(by amount: Int64) {
        whole.wrappingAdd(amount, ordering: .relaxed)
    }

    func increment(by amount: Double) {
        guard amount.isFinite, amount > 0 else { return }
        fraction.add(amount)
    }

    func reset() {
        whole.store(0, ordering: .relaxed)
        fraction.set(0)
    }

    var value: Double { Double(whole.load(ordering: .relaxed)) + fraction.value }
}

/// Goes up and down.
final class GaugeValue: MeterHandler, RecorderHandler {
    private let number = AtomicDouble()

    func set(_ value: Int64) { number.set(Double(value)) }
    func set(_ value: Double) { number.set(value) }
    func increment(by amount: Double) { number.add(amount) }
    func decrement(by amount: Double) { number.add(-amount) }
    func record(_ value: Int64) { number.set(Double(value)) }
    func record(_ value: Double) { number.set(value) }

    var value: Double { number.value }
}

/// Sorts durations or amounts into buckets.
final class HistogramValue: TimerHandler, RecorderHandler {
    let histogram: AtomicHistogram

    init(bounds: HistogramBounds) {
        histogram = AtomicHistogram(bounds: bounds)
    }

    func recordNanoseconds(_ duration: Int64) { histogram.record(duration) }
    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        guard let units = Int64(exactly: (value * HistogramBounds.amounts.unitsPerWhole).rounded()) else {
            return
        }
        histogram.record(units)
    }
}

/// A floating-point number that any thread may change.
private final class AtomicDouble: Sendable {
    private let bits = Atomic<UInt64>(0)

    var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

    func set(_ value: Double) {
        bits.store(value.bitPattern, ordering: .relaxed)
    }

    func add(_ amount: Double) {
        var old = bits.load(ordering: .relaxed)
        while true {
            let new = (Double(bitPattern: old) + amount).bitPattern
            let (exchanged, found) = bits.weakCompareExchange(
                expected: old,
                desired: new,
                ordering: .relaxed
            )
            if exchanged { return }
            old = found
        }
    }
}

import Synchronization

/// A seeded sequence of random numbers (SplitMix64) that copies of a context share.
public final class RandomSource: Sendable {
    private let state: Atomic<UInt64>

    /// The sequence that belongs to a seed, from its start.
    public init(seed: UInt64) {
        state = Atomic(seed)
    }

    /// The next 64 bits.
    public func next() -> UInt64 {
        var bits = state.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }

    /// A double in [0, 1).
    public func nextUnit() -> Double {
        Double(next() >> 11) * 0x1p-53
    }

    /// An integer in `0..<bound`; `bound` is positive.
    ///
    /// The bias of the remainder is below 2⁻³².
    func next(below bound: Int) -> Int {
        Int(next() >> 1) % bound
    }
}

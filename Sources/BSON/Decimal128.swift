/// An IEEE 754-2008 decimal of 34 digits, as its 128 bits (binary integer decimal encoding).
public struct Decimal128: Sendable, Hashable {
    /// Sign, exponent and the upper 49 bits of the coefficient.
    public let high: UInt64
    /// The lower 64 bits of the coefficient.
    public let low: UInt64

    /// Takes the bits as they are.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

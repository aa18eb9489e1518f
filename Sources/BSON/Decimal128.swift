/// An IEEE 754-2008 decimal of 34 digits, as its 128 bits (binary integer decimal encoding).
public struct Decimal128: Sendable, Hashable {
    public let high: UInt64
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

// The three fields of the 128 bits as they stand, for encodings that carry them apart (Realm's changesets).
extension Decimal128 {
    /// The lower 113 bits, whether they are a canonical coefficient or not.
    public var coefficientField: UInt128 { UInt128(high & 0x1_FFFF_FFFF_FFFF) << 64 | UInt128(low) }

    /// The 14 bits of the exponent without the bias of 6176: −6176 … 6111 for numbers, 9184 for infinity and 9696
    /// for NaN.
    public var exponentField: Int { Int((high >> 49) & 0x3FFF) - 6176 }

    /// Whether the sign bit is set.
    public var signField: Bool { high >> 63 == 1 }

    /// Puts the fields together; nil when one does not fit its bits.
    public init?(signField: Bool, exponentField: Int, coefficientField: UInt128) {
        let biased = exponentField.addingReportingOverflow(6176)
        guard !biased.overflow, 0...0x3FFF ~= biased.partialValue, coefficientField >> 113 == 0 else {
            return nil
        }
        self.init(
            high: (signField ? 1 << 63 : 0) | UInt64(biased.partialValue) << 49
                | UInt64(truncatingIfNeeded: coefficientField >> 64),
            low: UInt64(truncatingIfNeeded: coefficientField)
        )
    }
}

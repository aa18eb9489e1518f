/// Writes the primitives of changesets.
///
/// Source: `realm-sync-protocol.md` §§6.1, 6.2.
struct ByteBuilder {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ byte: UInt8) { bytes.append(byte) }
    mutating func append(raw: some Sequence<UInt8>) { bytes += raw }

    mutating func append(signed value: Int64) {
        append(UInt64(truncatingIfNeeded: value < 0 ? ~value : value), sign: value < 0 ? 0x40 : 0)
    }

    mutating func append(unsigned value: some UnsignedInteger) { append(UInt64(value), sign: 0) }

    mutating func append(_ value: Bool) { append(UInt64(value ? 1 : 0), sign: 0) }

    private mutating func append(_ value: UInt64, sign: UInt8) {
        var rest = value
        while rest >= 64 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest) | sign)
    }

    mutating func append(coefficient: UInt128) {
        var rest = coefficient
        while rest >= 64 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// A length and the bytes.
    mutating func append(counted content: some Collection<UInt8>) {
        append(unsigned: UInt(content.count))
        bytes += content
    }

    mutating func append<Number: FixedWidthInteger & UnsignedInteger>(littleEndian value: Number) {
        for index in 0..<(Number.bitWidth / 8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> Number(8 * index)))
        }
    }
}

/// Reads the primitives of changesets, never past the end.
///
/// Source: `realm-sync-protocol.md` §§6.1, 6.2.
struct ByteCursor {
    private let bytes: ArraySlice<UInt8>
    private(set) var offset: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        offset = bytes.startIndex
    }

    var isAtEnd: Bool { offset == bytes.endIndex }
    /// How far reading has come, from 0.
    var position: Int { offset - bytes.startIndex }

    mutating func byte() throws(SyncFault) -> UInt8 {
        guard offset < bytes.endIndex else { throw fault("it ends in the middle of an instruction") }
        defer { offset += 1 }
        return bytes[offset]
    }

    /// Seven bits a byte, the least significant first; the last byte has six and the sign.
    private mutating func magnitude(bits: Int) throws(SyncFault) -> (value: UInt128, isNegative: Bool) {
        var value: UInt128 = 0
        var shift = 0
        while true {
            let byte = try byte()
            let isLast = byte & 0x80 == 0
            let part = UInt128(byte & (isLast ? 0x3F : 0x7F))
            if part != 0 {
                guard shift + (8 - (UInt8(truncatingIfNeeded: part)).leadingZeroBitCount) <= bits else {
                    throw fault("an integer is larger than \(bits) bits")
                }
                value |= part << UInt128(shift)
            }
            if isLast { return (value, byte & 0x40 != 0) }
            shift += 7
            guard shift <= bits + 7 else { throw fault("an integer is longer than it may be") }
        }
    }

    mutating func signed() throws(SyncFault) -> Int64 {
        let (value, isNegative) = try magnitude(bits: 63)
        let magnitude = Int64(truncatingIfNeeded: value)
        return isNegative ? ~magnitude : magnitude
    }

    mutating func unsigned(bits: Int = 64) throws(SyncFault) -> UInt64 {
        let (value, isNegative) = try magnitude(bits: bits)
        guard !isNegative else { throw fault("an unsigned integer is negative") }
        return UInt64(truncatingIfNeeded: value)
    }

    mutating func small() throws(SyncFault) -> UInt32 { UInt32(try unsigned(bits: 32)) }

    mutating func coefficient() throws(SyncFault) -> UInt128 {
        let (value, isNegative) = try magnitude(bits: 113)
        guard !isNegative else { throw fault("a decimal's coefficient is negative") }
        return value
    }

    mutating func bool() throws(SyncFault) -> Bool {
        switch try unsigned() {
        case 0: return false
        case 1: return true
        default: throw fault("a boolean is neither 0 nor 1")
        }
    }

    mutating func raw(_ count: Int) throws(SyncFault) -> ArraySlice<UInt8> {
        guard count <= bytes.endIndex - offset else { throw fault("it ends in the middle of a value") }
        defer { offset += count }
        return bytes[offset..<(offset + count)]
    }

    /// A length and that many bytes.
    mutating func counted() throws(SyncFault) -> ArraySlice<UInt8> {
        let count = try unsigned(bits: 32)
        return try raw(Int(count))
    }

    mutating func littleEndian<Number: FixedWidthInteger>(_: Number.Type) throws(SyncFault) -> Number {
        let raw = try raw(Number.bitWidth / 8)
        return raw.reversed().reduce(0) { $0 << 8 | Number($1) }
    }

    func fault(_ message: String) -> SyncFault {
        SyncFault(.badChangeset, "Bad changeset at byte \(position): \(message)")
    }
}

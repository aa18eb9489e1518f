internal import BSON

/// A value as `wire.js` wrote it, on its way from the engine to whoever reads it: the worker does not look inside.
///
/// A byte stands for each UTF-16 unit if all of them fit, else two.
struct WireText: Sendable {
    let bytes: [UInt8]
    let isWide: Bool

    /// A copy of the engine's text.
    init(_ units: UnsafeBufferPointer<UInt16>) {
        var all: UInt16 = 0
        for unit in units { all |= unit }
        isWide = all > 0xff
        bytes =
            isWide
            ? Array(UnsafeRawBufferPointer(units))
            : [UInt8](unsafeUninitializedCapacity: units.count) { space, count in
                for index in units.indices { space[index] = UInt8(truncatingIfNeeded: units[index]) }
                count = units.count
            }
    }

    /// The binary's subtype tells the width.
    init(_ binary: BSONBinary) {
        bytes = binary.bytes
        isWide = binary.subtype == 1
    }

    /// For a frame.
    var binary: BSONValue { .binary(BSONBinary(subtype: isWide ? 1 : 0, bytes: bytes)) }

    /// Whether a unit is zero, which values may hold and keys may not.
    var hasZero: Bool {
        guard isWide else { return bytes.contains(0) }
        return bytes.withUnsafeBytes { $0.bindMemory(to: UInt16.self).contains(0) }
    }

    /// What it says.
    func value() throws(ScriptTextFault) -> BSONValue {
        let result: Result<BSONValue, ScriptTextFault> = bytes.withUnsafeBytes { raw in
            do throws(ScriptTextFault) {
                guard isWide else {
                    return .success(try ScriptTextReader.read(raw.bindMemory(to: UInt8.self)))
                }
                guard raw.count.isMultiple(of: 2) else { throw ScriptTextFault(position: raw.count) }
                return .success(try ScriptTextReader.read(raw.bindMemory(to: UInt16.self)))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

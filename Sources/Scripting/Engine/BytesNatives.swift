internal import BSON
internal import CJavaScript
import Glibc

/// Conversions between bytes and text, and ids: what would be slow or awkward in JavaScript.
enum BytesNatives {
    private static let ids = ObjectIDGenerator(
        processUnique: UInt64.random(in: 0...0xFF_FFFF_FFFF),
        counter: UInt32.random(in: 0...0xFF_FFFF)
    )

    static var table: [(String, NativeFunction.Body)] {
        [
            ("utf8", { (call) throws(NativeFault) in call.make(Array(try call.text(0).utf8)) }),
            (
                "text",
                { (call) throws(NativeFault) in
                    call.make(String(decoding: try call.bytes(0), as: UTF8.self))
                }
            ),
            (
                "base64",
                { (call) throws(NativeFault) in
                    var out: [UInt8] = []
                    Base64.append(try call.bytes(0), to: &out)
                    return call.make(String(decoding: out, as: UTF8.self))
                }
            ),
            (
                "fromBase64",
                { (call) throws(NativeFault) in
                    Base64.decode(try call.text(0)).flatMap { call.make($0) }
                }
            ),
            ("hex", { (call) throws(NativeFault) in call.make(hex(try call.bytes(0))) }),
            (
                "fromHex",
                { (call) throws(NativeFault) in bytes(hex: try call.text(0)).flatMap { call.make($0) } }
            ),
            (
                "hexByte",
                { (call) throws(NativeFault) in
                    call.make(String(UInt8(try call.number(0)), radix: 16))
                }
            ),
            (
                "hexWord",
                { (call) throws(NativeFault) in
                    let word = UInt32(truncatingIfNeeded: Int64(try call.number(0)))
                    return call.make(hex([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) }))
                }
            ),
            (
                "objectID",
                { (call) throws(NativeFault) in
                    let seconds = try call.number(0)
                    var now = timespec()
                    clock_gettime(CLOCK_REALTIME, &now)
                    // A script's number may be beyond all integers; one that is none is now.
                    let time =
                        seconds >= 0
                        ? UInt32(min(seconds, Double(UInt32.max))) : UInt32(clamping: now.tv_sec)
                    let id = ids.next(seconds: time)
                    return call.make(id.hex)
                }
            ),
            (
                "uuid",
                { (call) throws(NativeFault) in
                    var bytes = (0..<16).map { _ in UInt8.random(in: 0...255) }
                    bytes[6] = bytes[6] & 0x0F | 0x40
                    bytes[8] = bytes[8] & 0x3F | 0x80
                    return call.make(bytes)
                }
            ),
            (
                "decimal",
                { (call) throws(NativeFault) in
                    Decimal128(try call.text(0)).flatMap { call.make($0.description) }
                }
            ),
        ]
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] },
            as: UTF8.self
        )
    }

    /// Nil for a wrong digit or an odd number of them.
    private static func bytes(hex: String) -> [UInt8]? {
        let digits = hex.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }
}

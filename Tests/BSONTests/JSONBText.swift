/// What PostgreSQL makes of a JSON text that becomes jsonb and is printed again.
///
/// Keys sorted by length, then bytes; of equal keys the last; numbers as `numeric` prints them, exponents
/// resolved and trailing zeros kept; `": "` and `", "` between tokens. Checked against PostgreSQL 15.
struct JSONBText {
    private let bytes: [UInt8]
    private var position = 0

    static func normalised(_ text: [UInt8]) -> [UInt8] {
        var parser = JSONBText(bytes: text)
        return parser.value()
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private mutating func skipSpace() {
        while position < bytes.count, bytes[position] <= 0x20 { position += 1 }
    }

    private mutating func value() -> [UInt8] {
        skipSpace()
        defer { skipSpace() }
        switch bytes[position] {
        case UInt8(ascii: "{"): return object()
        case UInt8(ascii: "["): return array()
        case UInt8(ascii: "\""): return string()
        default: return scalar()
        }
    }

    /// A string with its quotes; the writer escapes as PostgreSQL does, so nothing changes.
    private mutating func string() -> [UInt8] {
        let start = position
        position += 1
        while bytes[position] != UInt8(ascii: "\"") {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        position += 1
        return Array(bytes[start..<position])
    }

    private mutating func object() -> [UInt8] {
        var fields: [(key: [UInt8], raw: [UInt8], value: [UInt8])] = []
        position += 1
        skipSpace()
        while bytes[position] != UInt8(ascii: "}") {
            if bytes[position] == UInt8(ascii: ",") {
                position += 1
                skipSpace()
            }
            let key = string()
            skipSpace()
            position += 1
            let value = value()
            let raw = Self.unescaped(key)
            fields.removeAll { $0.raw == raw }
            fields.append((key, raw, value))
        }
        position += 1
        fields.sort { left, right in
            left.raw.count == right.raw.count
                ? left.raw.lexicographicallyPrecedes(right.raw) : left.raw.count < right.raw.count
        }
        return Self.joined(fields.map { $0.key + Array(": ".utf8) + $0.value }, "{", "}")
    }

    private mutating func array() -> [UInt8] {
        var elements: [[UInt8]] = []
        position += 1
        skipSpace()
        while bytes[position] != UInt8(ascii: "]") {
            if bytes[position] == UInt8(ascii: ",") { position += 1 }
            elements.append(value())
        }
        position += 1
        return Self.joined(elements, "[", "]")
    }

    private static func joined(_ parts: [[UInt8]], _ open: String, _ close: String) -> [UInt8] {
        Array(open.utf8) + parts.joined(separator: Array(", ".utf8)) + Array(close.utf8)
    }

    private static func unescaped(_ key: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        var index = 1
        let escapes: [UInt8: UInt8] = [
            UInt8(ascii: "n"): 10, UInt8(ascii: "t"): 9, UInt8(ascii: "r"): 13, UInt8(ascii: "b"): 8,
            UInt8(ascii: "f"): 12,
        ]
        while index < key.count - 1 {
            guard key[index] == UInt8(ascii: "\\") else {
                out.append(key[index])
                index += 1
                continue
            }
            let mark = key[index + 1]
            if mark == UInt8(ascii: "u") {
                out.append(UInt8(String(decoding: key[index + 2..<index + 6], as: UTF8.self), radix: 16) ?? 0)
                index += 6
            } else {
                out.append(escapes[mark] ?? mark)
                index += 2
            }
        }
        return out
    }

    private mutating func scalar() -> [UInt8] {
        let start = position
        while position < bytes.count, !",]} \n".utf8.contains(bytes[position]) { position += 1 }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if ["true", "false", "null"].contains(text) { return Array(text.utf8) }
        return Array(Self.numeric(text).utf8)
    }

    private static func numeric(_ text: String) -> String {
        let parts = text.lowercased().split(separator: "e")
        let exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
        let isNegative = text.hasPrefix("-")
        let mantissa = parts[0].drop { $0 == "-" }.split(separator: ".", omittingEmptySubsequences: false)
        var whole = String(mantissa[0])
        var fraction = mantissa.count > 1 ? String(mantissa[1]) : ""
        if exponent > 0 {
            let moved = String(fraction.prefix(exponent))
            whole += moved + String(repeating: "0", count: exponent - moved.count)
            fraction = String(fraction.dropFirst(exponent))
        } else if exponent < 0 {
            let padded = String(repeating: "0", count: max(0, -exponent - whole.count + 1)) + whole
            fraction = String(padded.suffix(-exponent)) + fraction
            whole = String(padded.dropLast(-exponent))
        }
        whole = String(whole.drop { $0 == "0" })
        let digits = (whole.isEmpty ? "0" : whole) + (fraction.isEmpty ? "" : "." + fraction)
        let isZero = digits.allSatisfy { $0 == "0" || $0 == "." }
        return (isNegative && !isZero ? "-" : "") + digits
    }
}

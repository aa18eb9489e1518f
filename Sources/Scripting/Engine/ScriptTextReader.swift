internal import BSON

/// A text that `wire.js` does not write.
struct ScriptTextFault: Error {
    let position: Int
}

/// Reads what `wire.js` writes: a letter for the type, then the value; lengths count UTF-16 units.
///
/// Shape: `{4:names2:Bo1:ai1;}` is `{name: "Bo", a: 1}`. Nothing needs escaping, so that a script's text
/// cannot be taken for anything else.
struct ScriptTextReader<Unit: FixedWidthInteger & UnsignedInteger> {
    private typealias Fault = ScriptTextFault

    private let units: UnsafeBufferPointer<Unit>
    private var position = 0

    static func read(_ units: UnsafeBufferPointer<Unit>) throws(ScriptTextFault) -> BSONValue {
        var reader = ScriptTextReader(units: units)
        let value = try reader.value(depth: 0)
        guard reader.position == units.count else { throw reader.fault }
        return value
    }

    private init(units: UnsafeBufferPointer<Unit>) {
        self.units = units
    }

    private var fault: Fault { Fault(position: position) }

    private mutating func next() throws(Fault) -> UInt8 {
        guard position < units.count, let unit = UInt8(exactly: units[position]) else { throw fault }
        position += 1
        return unit
    }

    private mutating func value(depth: Int) throws(Fault) -> BSONValue {
        guard depth < 190 else { throw fault }
        switch try next() {
        case UInt8(ascii: "s"): return .string(try text())
        case UInt8(ascii: "i"): return .int32(try number(Int32.init))
        case UInt8(ascii: "l"): return .int64(try number(Int64.init))
        case UInt8(ascii: "d"): return .double(try double())
        case UInt8(ascii: "t"): return true
        case UInt8(ascii: "f"): return false
        case UInt8(ascii: "n"): return .null
        case UInt8(ascii: "u"): return .undefined
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "{"): return try document(depth: depth)
        case UInt8(ascii: "o"):
            guard let id = ObjectID(hex: try take(24)) else { throw fault }
            return .objectID(id)
        case UInt8(ascii: "D"): return .date(Int64(try double()))
        case UInt8(ascii: "m"):
            guard let number = Decimal128(try upToSemicolon()) else { throw fault }
            return .decimal128(number)
        case UInt8(ascii: "b"):
            guard let subtype = UInt8(try take(2), radix: 16), let bytes = Base64.decode(try text()) else {
                throw fault
            }
            return .binary(BSONBinary(subtype: subtype, bytes: bytes))
        case UInt8(ascii: "r"):
            let pattern = try text()
            return .regex(BSONRegularExpression(pattern: pattern, options: String(try text().sorted())))
        case UInt8(ascii: "c"): return .code(try text())
        case UInt8(ascii: "T"):
            let parts = try upToSemicolon().split(separator: ",").compactMap { UInt32($0) }
            guard parts.count == 2 else { throw fault }
            return .timestamp(BSONTimestamp(seconds: parts[0], increment: parts[1]))
        case UInt8(ascii: "<"): return .minKey
        case UInt8(ascii: ">"): return .maxKey
        default: throw fault
        }
    }

    private mutating func array(depth: Int) throws(Fault) -> BSONValue {
        var elements: [BSONValue] = []
        while position < units.count, units[position] != Unit(UInt8(ascii: "]")) {
            elements.append(try value(depth: depth + 1))
        }
        _ = try next()
        return .array(elements)
    }

    private mutating func document(depth: Int) throws(Fault) -> BSONValue {
        var document = BSONDocument()
        while position < units.count, units[position] != Unit(UInt8(ascii: "}")) {
            let key = try text()
            document.append(key, try value(depth: depth + 1))
        }
        _ = try next()
        return .document(document)
    }

    /// Reads a length, a colon, and so much text.
    private mutating func text() throws(Fault) -> String {
        var length = 0
        while true {
            let unit = try next()
            if unit == UInt8(ascii: ":") { break }
            guard unit >= 48, unit <= 57, length <= units.count else { throw fault }
            length = length * 10 + Int(unit) - 48
        }
        return try take(length)
    }

    private mutating func take(_ count: Int) throws(Fault) -> String {
        guard count <= units.count - position else { throw fault }
        defer { position += count }
        return text(position..<position + count)
    }

    private mutating func upToSemicolon() throws(Fault) -> String {
        let start = position
        while position < units.count, units[position] != Unit(UInt8(ascii: ";")) { position += 1 }
        guard position < units.count else { throw fault }
        defer { position += 1 }
        return text(start..<position)
    }

    private mutating func number<Number>(_ read: (String) -> Number?) throws(Fault) -> Number {
        guard let number = read(try upToSemicolon()) else { throw fault }
        return number
    }

    private mutating func double() throws(Fault) -> Double {
        switch try upToSemicolon() {
        case "NaN": return .nan
        case "Infinity": return .infinity
        case "-Infinity": return -.infinity
        case let text:
            guard let number = Double(text) else { throw fault }
            return number
        }
    }

    /// Most texts are of ASCII alone, which needs no decoding.
    private func text(_ range: Range<Int>) -> String {
        let part = UnsafeBufferPointer(rebasing: units[range])
        guard part.allSatisfy({ $0 < 0x80 }) else {
            return String(decoding: part.map { UInt16(truncatingIfNeeded: $0) }, as: UTF16.self)
        }
        return String(unsafeUninitializedCapacity: part.count) { bytes in
            for index in part.indices { bytes[index] = UInt8(truncatingIfNeeded: part[index]) }
            return part.count
        }
    }
}

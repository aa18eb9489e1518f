internal import BSON

/// Writes a value as the JSON text `[plain, mends]` that the runtime's `revive` takes.
///
/// `plain` holds null where JSON has no word for a value; `mends` mirrors the path to each such place, with
/// an array of a letter and the value there, or is null when there are none. The engine reads the bulk with
/// its own parser, and only what is special costs a step of the script's.
///
/// Shape: `{_id: ObjectId("…"), n: 1}` becomes `[{"_id":null,"n":1},{"_id":["o","…"]}]`.
struct ScriptJSONWriter {
    private var plain: [UInt8] = [UInt8(ascii: "[")]
    private var mends: [UInt8] = []

    /// The text, with a NUL behind it.
    static func write(_ value: BSONValue) -> [UInt8] {
        var writer = ScriptJSONWriter()
        writer.append(value)
        if writer.mends.isEmpty { writer.mends = Array("null".utf8) }
        writer.plain.append(UInt8(ascii: ","))
        writer.plain += writer.mends
        writer.plain += [UInt8(ascii: "]"), 0]
        return writer.plain
    }

    private mutating func append(_ value: BSONValue) {
        switch value {
        case .string(let text), .symbol(let text): Self.quote(text, to: &plain)
        case .bool(let value): plain += (value ? "true" : "false").utf8
        case .null: plain += "null".utf8
        case .int32(let number): plain += String(number).utf8
        case .double(let number) where number.isFinite: plain += number.description.utf8
        case .document(let document):
            container(UInt8(ascii: "{"), UInt8(ascii: "}"), document.fields.count) { writer, index in
                Self.quote(document.fields[index].key, to: &writer.plain)
                writer.plain.append(UInt8(ascii: ":"))
                writer.element(document.fields[index].value) {
                    Self.quote(document.fields[index].key, to: &$0)
                }
            }
        case .array(let elements):
            container(UInt8(ascii: "["), UInt8(ascii: "]"), elements.count) { writer, index in
                writer.element(elements[index]) { $0 += "\"\(index)\"".utf8 }
            }
        default:
            plain += "null".utf8
            mends += "[".utf8
            mend(value)
            mends.append(UInt8(ascii: "]"))
        }
    }

    private mutating func container(
        _ open: UInt8,
        _ close: UInt8,
        _ count: Int,
        _ body: (inout ScriptJSONWriter, Int) -> Void
    ) {
        plain.append(open)
        let start = mends.count
        mends.append(UInt8(ascii: "{"))
        for index in 0..<count {
            if index > 0 { plain.append(UInt8(ascii: ",")) }
            body(&self, index)
        }
        plain.append(close)
        if mends.count == start + 1 { mends.removeLast() } else { mends.append(UInt8(ascii: "}")) }
    }

    /// Appends a value inside a container, and its name among the mends when it turns out to need one.
    private mutating func element(_ value: BSONValue, name: (inout [UInt8]) -> Void) {
        switch value {
        case .string, .bool, .null, .int32, .symbol: return append(value)
        case .double(let number) where number.isFinite: return append(value)
        default: break
        }
        let start = mends.count
        if mends.last != UInt8(ascii: "{") { mends.append(UInt8(ascii: ",")) }
        name(&mends)
        mends.append(UInt8(ascii: ":"))
        let named = mends.count
        append(value)
        if mends.count == named { mends.removeSubrange(start...) }
    }

    private mutating func mend(_ value: BSONValue) {
        func put(_ letter: String, _ texts: String...) {
            mends += "\"\(letter)\"".utf8
            for text in texts {
                mends.append(UInt8(ascii: ","))
                Self.quote(text, to: &mends)
            }
        }
        switch value {
        case .objectID(let id): put("o", id.hex)
        case .dbPointer(let pointer): put("o", pointer.id.hex)
        case .date(let milliseconds): mends += "\"D\",\(milliseconds)".utf8
        case .int64(let number): put("l", String(number))
        case .double(let number): put("d", number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity")
        case .decimal128(let number): put("m", number.description)
        case .binary(let binary):
            mends += "\"b\",\(binary.subtype),\"".utf8
            Base64.append(binary.bytes, to: &mends)
            mends.append(UInt8(ascii: "\""))
        case .regex(let regex): put("r", regex.pattern, regex.options)
        case .timestamp(let time): mends += "\"T\",\(time.seconds),\(time.increment)".utf8
        case .code(let code): put("c", code)
        case .codeWithScope(let code): put("c", code.code)
        case .minKey: put("<")
        case .maxKey: put(">")
        default: put("u")
        }
    }

    private static func quote(_ text: String, to out: inout [UInt8]) {
        out.append(UInt8(ascii: "\""))
        // Most texts need no escape, and are one copy.
        var isPlain = true
        for byte in text.utf8 where byte < 32 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
            isPlain = false
            break
        }
        if isPlain { out += text.utf8 } else { escape(text, to: &out) }
        out.append(UInt8(ascii: "\""))
    }

    private static func escape(_ text: String, to out: inout [UInt8]) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): out += [UInt8(ascii: "\\"), byte]
            case 0..<32:
                let digits = Array("0123456789abcdef".utf8)
                out += "\\u00".utf8
                out += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            default: out.append(byte)
            }
        }
    }
}

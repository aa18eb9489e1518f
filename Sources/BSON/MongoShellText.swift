/// Values as MongoDB's own messages show them: `{ _id: 1, a: "x", when: new Date(0) }`.
///
/// For error texts alone; nothing reads it back. Long texts and deep documents are cut short.
/// Source: the server's `BSONElement::toString`.
public enum MongoShellText {
    private static let textLimit = 160
    private static let totalLimit = 4096

    /// The text of a value.
    public static func describe(_ value: BSONValue) -> String {
        var out = ""
        append(value, to: &out)
        return out
    }

    /// The text of a document.
    @_disfavoredOverload
    public static func describe(_ document: BSONDocument) -> String { describe(.document(document)) }

    private static func append(_ value: BSONValue, to out: inout String) {
        guard out.utf8.count < totalLimit else {
            out += "..."
            return
        }
        switch value {
        case .double(let number):
            if number.isNaN {
                out += "nan.0"
            } else if number.isInfinite {
                out += number < 0 ? "-inf.0" : "inf.0"
            } else {
                out += number.description
            }
        case .string(let text), .symbol(let text): appendQuoted(text, to: &out)
        case .document(let document): append(document, to: &out)
        case .array(let elements):
            if elements.isEmpty {
                out += "[]"
                return
            }
            out += "[ "
            for (index, element) in elements.enumerated() {
                if index > 0 { out += ", " }
                append(element, to: &out)
                if out.utf8.count >= totalLimit { break }
            }
            out += " ]"
        case .binary(let binary): appendBinary(binary, to: &out)
        case .undefined: out += "undefined"
        case .objectID(let id): out += "ObjectId('\(id.hex)')"
        case .bool(let value): out += value ? "true" : "false"
        case .date(let milliseconds): out += "new Date(\(milliseconds))"
        case .null: out += "null"
        case .regex(let regex): out += "/\(regex.pattern)/\(regex.options)"
        case .dbPointer(let pointer): out += "DBRef('\(pointer.namespace)',\(pointer.id.hex))"
        case .code(let code): out += code
        case .codeWithScope(let code):
            out += "CodeWScope( \(code.code), "
            append(code.scope, to: &out)
            out += ")"
        case .int32(let number): out += String(number)
        case .timestamp(let timestamp): out += "Timestamp(\(timestamp.seconds), \(timestamp.increment))"
        case .int64(let number): out += String(number)
        case .decimal128(let number): out += number.description
        case .minKey: out += "MinKey"
        case .maxKey: out += "MaxKey"
        }
    }

    private static func append(_ document: BSONDocument, to out: inout String) {
        if document.isEmpty {
            out += "{}"
            return
        }
        out += "{ "
        for (index, field) in document.fields.enumerated() {
            if index > 0 { out += ", " }
            out += "\(field.key): "
            append(field.value, to: &out)
            if out.utf8.count >= totalLimit { break }
        }
        out += " }"
    }

    private static func appendQuoted(_ text: String, to out: inout String) {
        let isLong = text.utf8.count > textLimit
        var quoted: [UInt8] = []
        JSONText.append(isLong ? String(text.prefix(150)) : text, to: &quoted)
        if isLong {
            quoted.removeLast()
            quoted.append(contentsOf: "...\"".utf8)
        }
        out += String(decoding: quoted, as: UTF8.self)
    }

    private static func appendBinary(_ binary: BSONBinary, to out: inout String) {
        if binary.subtype == 4, binary.bytes.count == 16 {
            var text: [UInt8] = []
            UUIDText.append(binary.bytes, to: &text)
            out += "UUID(\"\(String(decoding: text, as: UTF8.self))\")"
            return
        }
        var digits: [UInt8] = []
        for byte in binary.bytes.prefix(textLimit) { JSONText.appendHexadecimal(byte, to: &digits) }
        let more = binary.bytes.count > textLimit ? "..." : ""
        out += "BinData(\(binary.subtype), \(String(decoding: digits, as: UTF8.self).uppercased())\(more))"
    }
}

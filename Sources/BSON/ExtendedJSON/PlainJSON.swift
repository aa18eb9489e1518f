/// Ordinary JSON, as the Data API answers `application/json`: readable everywhere, lossy by contract.
///
/// Source: `reference/data-api.md` §4.3, last column.
public enum PlainJSON {
    /// Appends a value.
    ///
    /// Shape: an ObjectId is its hex string, a date `"2022-01-12T02:33:23.067Z"`, a decimal a string, an
    /// integral double `10`, NaN and the infinities `null`, a binary `{"Subtype":5,"Data":"…"}`.
    public static func write(_ value: BSONValue, to out: inout [UInt8]) {
        switch value {
        case .double(let number):
            if number.isFinite {
                DoubleText.appendPlain(number, to: &out)
            } else {
                JSONText.literal("null", to: &out)
            }
        case .string(let text), .code(let text), .symbol(let text): JSONText.append(text, to: &out)
        case .document(let document): write(document, to: &out)
        case .array(let elements):
            out.append(UInt8(ascii: "["))
            var isFirst = true
            for element in elements {
                if !isFirst { out.append(UInt8(ascii: ",")) }
                isFirst = false
                write(element, to: &out)
            }
            out.append(UInt8(ascii: "]"))
        case .binary(let binary):
            JSONText.literal("{\"Subtype\":", to: &out)
            JSONText.append(UInt64(binary.subtype), to: &out)
            JSONText.literal(",\"Data\":\"", to: &out)
            Base64.append(binary.bytes, to: &out)
            JSONText.literal("\"}", to: &out)
        case .undefined, .minKey, .maxKey: JSONText.literal("{}", to: &out)
        case .objectID(let id):
            out.append(UInt8(ascii: "\""))
            id.appendHex(to: &out)
            out.append(UInt8(ascii: "\""))
        case .bool(let value): JSONText.literal(value ? "true" : "false", to: &out)
        case .date(let milliseconds):
            out.append(UInt8(ascii: "\""))
            ISODate.append(milliseconds, fraction: .always, to: &out)
            out.append(UInt8(ascii: "\""))
        case .null: JSONText.literal("null", to: &out)
        case .regex(let regex):
            JSONText.literal("{\"Pattern\":", to: &out)
            JSONText.append(regex.pattern, to: &out)
            JSONText.literal(",\"Options\":", to: &out)
            JSONText.append(regex.options, to: &out)
            out.append(UInt8(ascii: "}"))
        case .dbPointer(let pointer):
            JSONText.literal("{\"DB\":", to: &out)
            JSONText.append(pointer.namespace, to: &out)
            JSONText.literal(",\"Pointer\":\"", to: &out)
            pointer.id.appendHex(to: &out)
            JSONText.literal("\"}", to: &out)
        case .codeWithScope(let code):
            JSONText.literal("{\"Code\":", to: &out)
            JSONText.append(code.code, to: &out)
            JSONText.literal(",\"Scope\":", to: &out)
            write(code.scope, to: &out)
            out.append(UInt8(ascii: "}"))
        case .int32(let number): JSONText.append(Int64(number), to: &out)
        case .timestamp(let timestamp):
            JSONText.literal("{\"T\":", to: &out)
            JSONText.append(UInt64(timestamp.seconds), to: &out)
            JSONText.literal(",\"I\":", to: &out)
            JSONText.append(UInt64(timestamp.increment), to: &out)
            out.append(UInt8(ascii: "}"))
        case .int64(let number): JSONText.append(number, to: &out)
        case .decimal128(let number):
            out.append(UInt8(ascii: "\""))
            out.append(contentsOf: number.description.utf8)
            out.append(UInt8(ascii: "\""))
        }
    }

    /// Appends a document.
    @_disfavoredOverload
    public static func write(_ document: BSONDocument, to out: inout [UInt8]) {
        out.append(UInt8(ascii: "{"))
        var isFirst = true
        for field in document.fields {
            if !isFirst { out.append(UInt8(ascii: ",")) }
            isFirst = false
            JSONText.append(field.key, to: &out)
            out.append(UInt8(ascii: ":"))
            write(field.value, to: &out)
        }
        out.append(UInt8(ascii: "}"))
    }

    /// The text of a value, for messages and tests.
    public static func text(_ value: BSONValue) -> String {
        var out: [UInt8] = []
        write(value, to: &out)
        return String(decoding: out, as: UTF8.self)
    }
}

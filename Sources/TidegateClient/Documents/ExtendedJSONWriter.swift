import Foundation

extension AnyBSON {
    /// The value as canonical Extended JSON.
    public var extendedJSON: String {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    func write(to out: inout [UInt8]) {
        switch self {
        case .null: out += "null".utf8
        case .bool(let value): out += (value ? "true" : "false").utf8
        case .int32(let value): Self.write("$numberInt", String(value), &out)
        case .int64(let value): Self.write("$numberLong", String(value), &out)
        case .double(let value): Self.write("$numberDouble", Self.text(of: value), &out)
        case .string(let value): Self.write(value, &out)
        case .datetime(let date):
            out += #"{"$date":"#.utf8
            Self.write("$numberLong", String(Self.milliseconds(of: date)), &out)
            out.append(UInt8(ascii: "}"))
        case .objectId(let id): Self.write("$oid", id.stringValue, &out)
        case .decimal128(let value): Self.write("$numberDecimal", value.description, &out)
        case .binary(let data): Self.write(data, subtype: "00", &out)
        case .uuid(let uuid):
            Self.write(withUnsafeBytes(of: uuid.uuid) { Data($0) }, subtype: "04", &out)
        case .array(let elements):
            out.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                element.write(to: &out)
            }
            out.append(UInt8(ascii: "]"))
        case .document(let document):
            out.append(UInt8(ascii: "{"))
            for (index, field) in document.fields.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                Self.write(field.name, &out)
                out.append(UInt8(ascii: ":"))
                field.value.write(to: &out)
            }
            out.append(UInt8(ascii: "}"))
        }
    }

    /// Milliseconds since 1970; the far past and future count as the farthest that fit.
    static func milliseconds(of date: Date) -> Int64 {
        let value = (date.timeIntervalSince1970 * 1000).rounded()
        return Int64(exactly: value) ?? (value < 0 ? .min : .max)
    }

    private static func text(of value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Infinity" : "Infinity" }
        return value.description
    }

    private static func write(_ name: String, _ text: String, _ out: inout [UInt8]) {
        out.append(UInt8(ascii: "{"))
        write(name, &out)
        out.append(UInt8(ascii: ":"))
        write(text, &out)
        out.append(UInt8(ascii: "}"))
    }

    private static func write(_ data: Data, subtype: String, _ out: inout [UInt8]) {
        out += #"{"$binary":{"base64":"\#(data.base64EncodedString())","subType":"\#(subtype)"}}"#.utf8
    }

    private static func write(_ text: String, _ out: inout [UInt8]) {
        out.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): out += #"\""#.utf8
            case UInt8(ascii: "\\"): out += #"\\"#.utf8
            case UInt8(ascii: "\n"): out += #"\n"#.utf8
            case UInt8(ascii: "\r"): out += #"\r"#.utf8
            case UInt8(ascii: "\t"): out += #"\t"#.utf8
            case 0..<0x20: out += ((byte < 16 ? "\\u000" : "\\u00") + String(byte, radix: 16)).utf8
            default: out.append(byte)
            }
        }
        out.append(UInt8(ascii: "\""))
    }
}

/// A value to Extended JSON text, canonical or relaxed.
struct ExtendedJSONWriter {
    let isCanonical: Bool

    func append(_ document: BSONDocument, to out: inout [UInt8]) {
        out.append(UInt8(ascii: "{"))
        var isFirst = true
        for field in document.fields {
            if !isFirst { out.append(UInt8(ascii: ",")) }
            isFirst = false
            JSONText.append(field.key, to: &out)
            out.append(UInt8(ascii: ":"))
            append(field.value, to: &out)
        }
        out.append(UInt8(ascii: "}"))
    }

    func append(_ value: BSONValue, to out: inout [UInt8]) {
        switch value {
        case .double(let number): append(number, to: &out)
        case .string(let text): JSONText.append(text, to: &out)
        case .document(let document): append(document, to: &out)
        case .array(let elements):
            out.append(UInt8(ascii: "["))
            var isFirst = true
            for element in elements {
                if !isFirst { out.append(UInt8(ascii: ",")) }
                isFirst = false
                append(element, to: &out)
            }
            out.append(UInt8(ascii: "]"))
        case .binary(let binary):
            JSONText.literal("{\"$binary\":{\"base64\":\"", to: &out)
            Base64.append(binary.bytes, to: &out)
            JSONText.literal("\",\"subType\":\"", to: &out)
            JSONText.appendHexadecimal(binary.subtype, to: &out)
            JSONText.literal("\"}}", to: &out)
        case .undefined: JSONText.literal("{\"$undefined\":true}", to: &out)
        case .objectID(let id):
            JSONText.literal("{\"$oid\":\"", to: &out)
            id.appendHex(to: &out)
            JSONText.literal("\"}", to: &out)
        case .bool(let value): JSONText.literal(value ? "true" : "false", to: &out)
        case .date(let milliseconds): appendDate(milliseconds, to: &out)
        case .null: JSONText.literal("null", to: &out)
        case .regex(let regex):
            JSONText.literal("{\"$regularExpression\":{\"pattern\":", to: &out)
            JSONText.append(regex.pattern, to: &out)
            JSONText.literal(",\"options\":", to: &out)
            JSONText.append(regex.options, to: &out)
            JSONText.literal("}}", to: &out)
        case .dbPointer(let pointer):
            JSONText.literal("{\"$dbPointer\":{\"$ref\":", to: &out)
            JSONText.append(pointer.namespace, to: &out)
            JSONText.literal(",\"$id\":{\"$oid\":\"", to: &out)
            pointer.id.appendHex(to: &out)
            JSONText.literal("\"}}}", to: &out)
        case .code(let code):
            JSONText.literal("{\"$code\":", to: &out)
            JSONText.append(code, to: &out)
            out.append(UInt8(ascii: "}"))
        case .symbol(let text):
            JSONText.literal("{\"$symbol\":", to: &out)
            JSONText.append(text, to: &out)
            out.append(UInt8(ascii: "}"))
        case .codeWithScope(let code):
            JSONText.literal("{\"$code\":", to: &out)
            JSONText.append(code.code, to: &out)
            JSONText.literal(",\"$scope\":", to: &out)
            append(code.scope, to: &out)
            out.append(UInt8(ascii: "}"))
        case .int32(let number):
            if isCanonical { JSONText.literal("{\"$numberInt\":\"", to: &out) }
            JSONText.append(Int64(number), to: &out)
            if isCanonical { JSONText.literal("\"}", to: &out) }
        case .timestamp(let timestamp):
            JSONText.literal("{\"$timestamp\":{\"t\":", to: &out)
            JSONText.append(UInt64(timestamp.seconds), to: &out)
            JSONText.literal(",\"i\":", to: &out)
            JSONText.append(UInt64(timestamp.increment), to: &out)
            JSONText.literal("}}", to: &out)
        case .int64(let number):
            if isCanonical { JSONText.literal("{\"$numberLong\":\"", to: &out) }
            JSONText.append(number, to: &out)
            if isCanonical { JSONText.literal("\"}", to: &out) }
        case .decimal128(let number):
            JSONText.literal("{\"$numberDecimal\":\"", to: &out)
            out.append(contentsOf: number.description.utf8)
            JSONText.literal("\"}", to: &out)
        case .minKey: JSONText.literal("{\"$minKey\":1}", to: &out)
        case .maxKey: JSONText.literal("{\"$maxKey\":1}", to: &out)
        }
    }

    private func append(_ number: Double, to out: inout [UInt8]) {
        if number.isFinite {
            if isCanonical { JSONText.literal("{\"$numberDouble\":\"", to: &out) }
            DoubleText.appendCanonical(number, to: &out)
            if isCanonical { JSONText.literal("\"}", to: &out) }
            return
        }
        JSONText.literal("{\"$numberDouble\":\"", to: &out)
        JSONText.literal(number.isNaN ? "NaN" : (number < 0 ? "-Infinity" : "Infinity"), to: &out)
        JSONText.literal("\"}", to: &out)
    }

    private func appendDate(_ milliseconds: Int64, to out: inout [UInt8]) {
        if !isCanonical, ISODate.relaxedRange.contains(milliseconds) {
            JSONText.literal("{\"$date\":\"", to: &out)
            ISODate.append(milliseconds, fraction: .unlessZero, to: &out)
            JSONText.literal("\"}", to: &out)
            return
        }
        JSONText.literal("{\"$date\":{\"$numberLong\":\"", to: &out)
        JSONText.append(milliseconds, to: &out)
        JSONText.literal("\"}}", to: &out)
    }
}

extension ObjectID {
    /// Appends 24 lower-case hexadecimal digits.
    func appendHex(to out: inout [UInt8]) {
        for shift in stride(from: 24, through: 0, by: -8) {
            JSONText.appendHexadecimal(UInt8(truncatingIfNeeded: seconds >> UInt32(shift)), to: &out)
        }
        for shift in stride(from: 56, through: 0, by: -8) {
            JSONText.appendHexadecimal(UInt8(truncatingIfNeeded: rest >> UInt64(shift)), to: &out)
        }
    }
}

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
            JSONText.append("{\"$binary\":{\"base64\":\"", to: &out)
            Base64.append(binary.bytes, to: &out)
            JSONText.append("\",\"subType\":\"", to: &out)
            JSONText.appendHexadecimal(binary.subtype, to: &out)
            JSONText.append("\"}}", to: &out)
        case .undefined: JSONText.append("{\"$undefined\":true}", to: &out)
        case .objectID(let id):
            JSONText.append("{\"$oid\":\"", to: &out)
            id.appendHex(to: &out)
            JSONText.append("\"}", to: &out)
        case .bool(let value): JSONText.append(value ? "true" : "false", to: &out)
        case .date(let milliseconds): appendDate(milliseconds, to: &out)
        case .null: JSONText.append("null", to: &out)
        case .regex(let regex):
            JSONText.append("{\"$regularExpression\":{\"pattern\":", to: &out)
            JSONText.append(regex.pattern, to: &out)
            JSONText.append(",\"options\":", to: &out)
            JSONText.append(regex.options, to: &out)
            JSONText.append("}}", to: &out)
        case .dbPointer(let pointer):
            JSONText.append("{\"$dbPointer\":{\"$ref\":", to: &out)
            JSONText.append(pointer.namespace, to: &out)
            JSONText.append(",\"$id\":{\"$oid\":\"", to: &out)
            pointer.id.appendHex(to: &out)
            JSONText.append("\"}}}", to: &out)
        case .code(let code):
            JSONText.append("{\"$code\":", to: &out)
            JSONText.append(code, to: &out)
            out.append(UInt8(ascii: "}"))
        case .symbol(let text):
            JSONText.append("{\"$symbol\":", to: &out)
            JSONText.append(text, to: &out)
            out.append(UInt8(ascii: "}"))
        case .codeWithScope(let code):
            JSONText.append("{\"$code\":", to: &out)
            JSONText.append(code.code, to: &out)
            JSONText.append(",\"$scope\":", to: &out)
            append(code.scope, to: &out)
            out.append(UInt8(ascii: "}"))
        case .int32(let number):
            if isCanonical { JSONText.append("{\"$numberInt\":\"", to: &out) }
            JSONText.append(Int64(number), to: &out)
            if isCanonical { JSONText.append("\"}", to: &out) }
        case .timestamp(let timestamp):
            JSONText.append("{\"$timestamp\":{\"t\":", to: &out)
            JSONText.append(UInt64(timestamp.seconds), to: &out)
            JSONText.append(",\"i\":", to: &out)
            JSONText.append(UInt64(timestamp.increment), to: &out)
            JSONText.append("}}", to: &out)
        case .int64(let number):
            if isCanonical { JSONText.append("{\"$numberLong\":\"", to: &out) }
            JSONText.append(number, to: &out)
            if isCanonical { JSONText.append("\"}", to: &out) }
        case .decimal128(let number):
            JSONText.append("{\"$numberDecimal\":\"", to: &out)
            out.append(contentsOf: number.description.utf8)
            JSONText.append("\"}", to: &out)
        case .minKey: JSONText.append("{\"$minKey\":1}", to: &out)
        case .maxKey: JSONText.append("{\"$maxKey\":1}", to: &out)
        }
    }

    private func append(_ number: Double, to out: inout [UInt8]) {
        if number.isFinite {
            if isCanonical { JSONText.append("{\"$numberDouble\":\"", to: &out) }
            DoubleText.appendCanonical(number, to: &out)
            if isCanonical { JSONText.append("\"}", to: &out) }
            return
        }
        JSONText.append("{\"$numberDouble\":\"", to: &out)
        JSONText.append(number.isNaN ? "NaN" : (number < 0 ? "-Infinity" : "Infinity"), to: &out)
        JSONText.append("\"}", to: &out)
    }

    private func appendDate(_ milliseconds: Int64, to out: inout [UInt8]) {
        if !isCanonical, ISODate.relaxedRange.contains(milliseconds) {
            JSONText.append("{\"$date\":\"", to: &out)
            ISODate.append(milliseconds, fraction: .unlessZero, to: &out)
            JSONText.append("\"}", to: &out)
            return
        }
        JSONText.append("{\"$date\":{\"$numberLong\":\"", to: &out)
        JSONText.append(milliseconds, to: &out)
        JSONText.append("\"}}", to: &out)
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

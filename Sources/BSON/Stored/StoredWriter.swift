internal import Errors

/// A value to the jsonb text that keeps its type.
struct StoredWriter {
    static func append(_ document: BSONDocument, to out: inout [UInt8]) throws(ServiceError) {
        if StoredWrapper.isAmbiguous(document) {
            JSONText.literal("{\"$document\":", to: &out)
            try appendFields(document, to: &out)
            out.append(UInt8(ascii: "}"))
        } else {
            try appendFields(document, to: &out)
        }
    }

    private static func appendFields(_ document: BSONDocument, to out: inout [UInt8]) throws(ServiceError) {
        out.append(UInt8(ascii: "{"))
        var isFirst = true
        for field in document.fields {
            if !isFirst { out.append(UInt8(ascii: ",")) }
            isFirst = false
            try append(field.key, to: &out)
            out.append(UInt8(ascii: ":"))
            try append(field.value, to: &out)
        }
        out.append(UInt8(ascii: "}"))
    }

    private static func append(_ text: String, to out: inout [UInt8]) throws(ServiceError) {
        // PostgreSQL's text has no NUL, escaped or not.
        guard !text.utf8.contains(0) else { throw StoredNUL.refusal(at: nil) }
        JSONText.append(text, to: &out)
    }

    static func append(_ value: BSONValue, to out: inout [UInt8]) throws(ServiceError) {
        switch value {
        case .string(let text): try append(text, to: &out)
        case .document(let document): try append(document, to: &out)
        case .array(let elements):
            out.append(UInt8(ascii: "["))
            var isFirst = true
            for element in elements {
                if !isFirst { out.append(UInt8(ascii: ",")) }
                isFirst = false
                try append(element, to: &out)
            }
            out.append(UInt8(ascii: "]"))
        case .double(let number) where number.isFinite && !(number == 0 && number.sign == .minus):
            DoubleText.appendStored(number, to: &out)
        case .int32(let number): JSONText.append(Int64(number), to: &out)
        case .int64(let number):
            JSONText.append(number, to: &out)
            // Three zeros tell a small long from an int.
            if Int32(exactly: number) != nil { JSONText.literal(".000", to: &out) }
        case .date(let milliseconds):
            JSONText.literal("{\"$date\":", to: &out)
            JSONText.append(milliseconds, to: &out)
            out.append(UInt8(ascii: "}"))
        case .binary(let binary) where binary.subtype == 4 && binary.bytes.count == 16:
            JSONText.literal("{\"$uuid\":\"", to: &out)
            UUIDText.append(binary.bytes, to: &out)
            JSONText.literal("\"}", to: &out)
        case .codeWithScope(let code):
            JSONText.literal("{\"$code\":", to: &out)
            try append(code.code, to: &out)
            JSONText.literal(",\"$scope\":", to: &out)
            try append(code.scope, to: &out)
            out.append(UInt8(ascii: "}"))
        case .regex(let regex):
            try refuseNUL(regex.pattern)
            try refuseNUL(regex.options)
            ExtendedJSON.writeCanonical(value, to: &out)
        case .code(let text), .symbol(let text):
            try refuseNUL(text)
            ExtendedJSON.writeCanonical(value, to: &out)
        case .dbPointer(let pointer):
            try refuseNUL(pointer.namespace)
            ExtendedJSON.writeCanonical(value, to: &out)
        case .double, .binary, .undefined, .objectID, .bool, .null, .timestamp, .decimal128, .minKey, .maxKey:
            ExtendedJSON.writeCanonical(value, to: &out)
        }
    }

    private static func refuseNUL(_ text: String) throws(ServiceError) {
        var scratch: [UInt8] = []
        try append(text, to: &scratch)
    }
}

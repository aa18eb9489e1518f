internal import Errors

/// A document to bytes; lengths are filled in when their content is written.
struct BSONWriter {
    private static let depthLimit = 200
    private(set) var bytes: [UInt8] = []

    mutating func append(_ document: BSONDocument, depth: Int) throws(ServiceError) {
        let start = try open(depth: depth)
        for field in document.fields {
            bytes.append(UInt8(truncatingIfNeeded: field.value.type.rawValue))
            try appendCString(field.key, "field name")
            try append(field.value, depth: depth)
        }
        close(start)
    }

    private mutating func append(_ elements: [BSONValue], depth: Int) throws(ServiceError) {
        let start = try open(depth: depth)
        for (index, element) in elements.enumerated() {
            bytes.append(UInt8(truncatingIfNeeded: element.type.rawValue))
            JSONText.append(Int64(index), to: &bytes)
            bytes.append(0)
            try append(element, depth: depth)
        }
        close(start)
    }

    private mutating func open(depth: Int) throws(ServiceError) -> Int {
        guard depth <= Self.depthLimit else {
            throw .mongo(.overflow, "cannot write documents nested more than \(Self.depthLimit) levels deep")
        }
        bytes.append(contentsOf: [0, 0, 0, 0])
        return bytes.count - 4
    }

    private mutating func close(_ start: Int) {
        bytes.append(0)
        fillLength(at: start)
    }

    private mutating func fillLength(at start: Int) {
        let length = UInt32(truncatingIfNeeded: bytes.count - start)
        for index in 0..<4 { bytes[start + index] = UInt8(truncatingIfNeeded: length >> UInt32(8 * index)) }
    }

    private mutating func append(_ value: BSONValue, depth: Int) throws(ServiceError) {
        switch value {
        case .double(let number): append(number.bitPattern)
        case .string(let text), .code(let text), .symbol(let text): append(text)
        case .document(let document): try append(document, depth: depth + 1)
        case .array(let elements): try append(elements, depth: depth + 1)
        case .binary(let binary): append(binary)
        case .undefined, .null, .minKey, .maxKey: break
        case .objectID(let id): bytes.append(contentsOf: id.bytes)
        case .bool(let value): bytes.append(value ? 1 : 0)
        case .date(let milliseconds): append(UInt64(bitPattern: milliseconds))
        case .regex(let regex):
            try appendCString(regex.pattern, "regular expression")
            try appendCString(regex.options, "regular expression option")
        case .dbPointer(let pointer):
            append(pointer.namespace)
            bytes.append(contentsOf: pointer.id.bytes)
        case .codeWithScope(let code):
            let start = bytes.count
            bytes.append(contentsOf: [0, 0, 0, 0])
            append(code.code)
            try append(code.scope, depth: depth + 1)
            fillLength(at: start)
        case .int32(let number): append(UInt32(bitPattern: number))
        case .timestamp(let timestamp):
            append(timestamp.increment)
            append(timestamp.seconds)
        case .int64(let number): append(UInt64(bitPattern: number))
        case .decimal128(let number):
            append(number.low)
            append(number.high)
        }
    }

    private mutating func append(_ binary: BSONBinary) {
        // The old binary subtype repeats the length inside.
        let isOld = binary.subtype == 2
        append(UInt32(truncatingIfNeeded: binary.bytes.count + (isOld ? 4 : 0)))
        bytes.append(binary.subtype)
        if isOld { append(UInt32(truncatingIfNeeded: binary.bytes.count)) }
        bytes.append(contentsOf: binary.bytes)
    }

    private mutating func append(_ text: String) {
        append(UInt32(truncatingIfNeeded: text.utf8.count + 1))
        bytes.append(contentsOf: text.utf8)
        bytes.append(0)
    }

    private mutating func appendCString(_ text: String, _ what: String) throws(ServiceError) {
        guard !text.utf8.contains(0) else {
            throw ServiceError(.invalidParameter, "\(what) with a NUL character cannot be written")
        }
        bytes.append(contentsOf: text.utf8)
        bytes.append(0)
    }

    private mutating func append<Word: FixedWidthInteger>(_ word: Word) {
        withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
    }
}

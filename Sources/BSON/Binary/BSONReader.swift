internal import Errors

/// Bytes to a document, in one pass, with every length checked against what is left.
struct BSONReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let limits: ReadLimits
    private var position = 0
    private var nodes = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>, limits: ReadLimits) {
        self.bytes = bytes
        self.limits = limits
    }

    mutating func readWhole() throws(ServiceError) -> BSONDocument {
        let document = BSONDocument(try readFields(end: bytes.count, depth: 1, isArray: false))
        guard position == bytes.count else { throw fault("bytes behind the document") }
        return document
    }

    private func fault(_ what: String) -> ServiceError {
        ServiceError(
            .invalidParameter,
            "invalid BSON at byte \(position): \(what)",
            details: ["position": String(position)]
        )
    }

    /// The fields of a document that begins here; `end` bounds what it may claim.
    private mutating func readFields(
        end: Int,
        depth: Int,
        isArray: Bool
    ) throws(ServiceError) -> [BSONDocument.Field] {
        guard depth <= limits.depth else { throw fault("nested more than \(limits.depth) levels deep") }
        let start = position
        let length = Int(try readInt32(end: end))
        guard length >= 5, length <= end - start else { throw fault("document length \(length)") }
        let last = start + length - 1
        guard bytes[last] == 0 else { throw fault("document without terminator") }
        var fields: [BSONDocument.Field] = []
        var keys = UniqueKeys()
        while position < last {
            nodes += 1
            guard nodes <= limits.nodes else { throw fault("more than \(limits.nodes) values") }
            let type = bytes[position]
            position += 1
            let place = position
            let key = try readCString(end: last)
            // The names of array elements carry nothing.
            if !isArray, !keys.isNew(key, among: fields) {
                position = place
                throw fault("duplicate key '\(key)'")
            }
            let value = try readValue(type: type, end: last, depth: depth)
            fields.append(BSONDocument.Field(key: isArray ? "" : key, value: value))
        }
        guard position == last else { throw fault("value runs past its document") }
        position += 1
        return fields
    }

    private mutating func readValue(type: UInt8, end: Int, depth: Int) throws(ServiceError) -> BSONValue {
        guard let kind = BSONType(rawValue: Int32(Int8(bitPattern: type))) else {
            throw fault("unknown type \(type)")
        }
        switch kind {
        case .double: return .double(Double(bitPattern: try readUInt64(end: end)))
        case .string: return .string(try readString(end: end))
        case .document:
            return .document(BSONDocument(try readFields(end: end, depth: depth + 1, isArray: false)))
        case .array:
            return .array(try readFields(end: end, depth: depth + 1, isArray: true).map(\.value))
        case .binary: return .binary(try readBinary(end: end))
        case .undefined: return .undefined
        case .objectID: return .objectID(try readObjectID(end: end))
        case .bool:
            let byte = try take(1, end: end)[0]
            guard byte <= 1 else { throw fault("boolean \(byte)") }
            return .bool(byte == 1)
        case .date: return .date(Int64(bitPattern: try readUInt64(end: end)))
        case .null: return .null
        case .regex:
            let pattern = try readCString(end: end)
            return .regex(BSONRegularExpression(pattern: pattern, options: try readCString(end: end)))
        case .dbPointer:
            let namespace = try readString(end: end)
            return .dbPointer(BSONDBPointer(namespace: namespace, id: try readObjectID(end: end)))
        case .code: return .code(try readString(end: end))
        case .symbol: return .symbol(try readString(end: end))
        case .codeWithScope: return try readCodeWithScope(end: end, depth: depth)
        case .int32: return .int32(try readInt32(end: end))
        case .timestamp:
            let increment = UInt32(bitPattern: try readInt32(end: end))
            let seconds = UInt32(bitPattern: try readInt32(end: end))
            return .timestamp(BSONTimestamp(seconds: seconds, increment: increment))
        case .int64: return .int64(Int64(bitPattern: try readUInt64(end: end)))
        case .decimal128:
            let low = try readUInt64(end: end)
            return .decimal128(Decimal128(high: try readUInt64(end: end), low: low))
        case .minKey: return .minKey
        case .maxKey: return .maxKey
        }
    }

    private mutating func take(_ count: Int, end: Int) throws(ServiceError) -> UnsafeBufferPointer<UInt8> {
        guard count >= 0, count <= end - position else { throw fault("truncated, \(count) bytes expected") }
        let slice = UnsafeBufferPointer(rebasing: bytes[position..<position + count])
        position += count
        return slice
    }

    private mutating func readInt32(end: Int) throws(ServiceError) -> Int32 {
        let slice = try take(4, end: end)
        return Int32(littleEndian: UnsafeRawBufferPointer(slice).loadUnaligned(as: Int32.self))
    }

    private mutating func readUInt64(end: Int) throws(ServiceError) -> UInt64 {
        let slice = try take(8, end: end)
        return UInt64(littleEndian: UnsafeRawBufferPointer(slice).loadUnaligned(as: UInt64.self))
    }

    private mutating func readObjectID(end: Int) throws(ServiceError) -> ObjectID {
        guard let id = ObjectID(bytes: try take(12, end: end)) else { throw fault("truncated ObjectId") }
        return id
    }

    private mutating func readString(end: Int) throws(ServiceError) -> String {
        let length = Int(try readInt32(end: end))
        guard length >= 1 else { throw fault("string length \(length)") }
        let slice = try take(length, end: end)
        guard slice[length - 1] == 0 else { throw fault("string without terminator") }
        return try text(UnsafeBufferPointer(rebasing: slice.dropLast()))
    }

    private mutating func readCString(end: Int) throws(ServiceError) -> String {
        let start = position
        while position < end, bytes[position] != 0 { position += 1 }
        guard position < end else { throw fault("name without terminator") }
        guard position - start <= limits.keyBytes else {
            throw fault("name longer than \(limits.keyBytes) bytes")
        }
        let slice = UnsafeBufferPointer(rebasing: bytes[start..<position])
        position += 1
        return try text(slice)
    }

    private func text(_ slice: UnsafeBufferPointer<UInt8>) throws(ServiceError) -> String {
        guard let text = validText(slice) else { throw fault("invalid UTF-8") }
        return text
    }

    private mutating func readBinary(end: Int) throws(ServiceError) -> BSONBinary {
        let length = Int(try readInt32(end: end))
        let subtype = try take(1, end: end)[0]
        guard subtype == 2 else {
            return BSONBinary(subtype: subtype, bytes: Array(try take(length, end: end)))
        }
        let inner = Int(try readInt32(end: end))
        guard inner >= 0, inner == length - 4 else { throw fault("binary length \(inner) inside \(length)") }
        return BSONBinary(subtype: 2, bytes: Array(try take(inner, end: end)))
    }

    private mutating func readCodeWithScope(end: Int, depth: Int) throws(ServiceError) -> BSONValue {
        let start = position
        let length = Int(try readInt32(end: end))
        guard length >= 14, length <= end - start else { throw fault("code length \(length)") }
        let code = try readString(end: start + length)
        let scope = BSONDocument(try readFields(end: start + length, depth: depth + 1, isArray: false))
        guard position == start + length else { throw fault("code length \(length)") }
        return .codeWithScope(BSONCodeWithScope(code: code, scope: scope))
    }
}

public import BSON
public import Errors

/// What a document must satisfy to be stored.
///
/// Source: `reference/mql.md` §10.
public enum DocumentLimits {
    /// The size of the binary form, in bytes.
    public static let maximumBytes = 16 * 1024 * 1024
    /// The same for a document that a pipeline answers, which may have what MongoDB itself adds.
    public static let maximumAnswerBytes = maximumBytes + 16 * 1024
    /// Levels of documents and arrays: what MongoDB stores, beyond the 100 of its manual.
    public static let maximumDepth = 180

    /// Checks size, depth and the type of `_id`.
    ///
    /// - Throws: ``ServiceError`` with server code 10334, 15 or 53.
    public static func check(_ document: BSONDocument) throws(ServiceError) {
        if document.isDeeper(than: maximumDepth) {
            throw .mongo(.overflow, "document exceeds the maximum nesting depth of \(maximumDepth)")
        }
        if let id = document["_id"] { try checkID(id) }
        let bytes = size(of: document)
        if bytes > maximumBytes {
            throw .mongo(
                .bsonObjectTooLarge,
                "BSONObj size: \(bytes) is invalid. Size must be between 0 and \(maximumBytes)"
            )
        }
    }

    /// Checks the type of an `_id`.
    ///
    /// - Throws: ``ServiceError`` with server code 53.
    public static func checkID(_ id: BSONValue) throws(ServiceError) {
        switch id {
        case .array, .regex, .undefined:
            throw .mongo(.invalidIdField, "The '_id' value cannot be of type \(known: TypeName.of(id))")
        default: break
        }
    }

    /// The bytes of a document in binary form.
    ///
    /// Counting stops soon after the larger maximum.
    public static func size(of document: BSONDocument) -> Int {
        var bytes = 5
        for field in document {
            bytes &+= 2 &+ field.key.utf8.count &+ size(of: field.value)
            if bytes > maximumAnswerBytes { break }
        }
        return bytes
    }

    private static func size(of value: BSONValue) -> Int {
        switch value {
        case .double, .date, .timestamp, .int64: return 8
        case .string(let text), .code(let text), .symbol(let text): return 5 &+ text.utf8.count
        case .document(let document): return size(of: document)
        case .array(let elements): return size(of: elements)
        case .binary(let binary): return 5 &+ binary.bytes.count &+ (binary.subtype == 2 ? 4 : 0)
        case .undefined, .null, .minKey, .maxKey: return 0
        case .objectID: return 12
        case .bool: return 1
        case .regex(let regex): return 2 &+ regex.pattern.utf8.count &+ regex.options.utf8.count
        case .dbPointer(let pointer): return 17 &+ pointer.namespace.utf8.count
        case .codeWithScope(let code): return 9 &+ code.code.utf8.count &+ size(of: code.scope)
        case .int32: return 4
        case .decimal128: return 16
        }
    }

    private static func size(of elements: [BSONValue]) -> Int {
        var bytes = 5
        var digits = 1
        var next = 10
        for (index, element) in elements.enumerated() {
            if index == next {
                digits += 1
                next *= 10
            }
            bytes &+= 2 &+ digits &+ size(of: element)
            if bytes > maximumAnswerBytes { break }
        }
        return bytes
    }
}

public import Errors

/// BSON's binary form.
///
/// Source: bsonspec.org 1.1; the published corpus, `shared/cases/bson-corpus`.
public enum BSONBinaryFormat {
    /// MongoDB's largest document: 16 MiB, and 16 KiB that its commands may add.
    public static let documentBytesLimit = 16 * 1024 * 1024 + 16 * 1024

    /// Reads one document that fills the bytes exactly.
    ///
    /// - Throws: ``ServiceError`` with code `invalidParameter`, the byte position in the message and in
    ///   `details["position"]`; BSONObjectTooLarge (10334) past the limit.
    public static func read(
        _ bytes: [UInt8],
        limits: ReadLimits = .standard
    ) throws(ServiceError) -> BSONDocument {
        guard bytes.count <= limits.documentBytes else { throw tooLarge(bytes.count) }
        return try bytes.withUnsafeBufferPointer { (buffer) throws(ServiceError) -> BSONDocument in
            var reader = BSONReader(buffer, limits: limits)
            return try reader.readWhole()
        }
    }

    /// The bytes of a document.
    ///
    /// - Throws: ``ServiceError``: `invalidParameter` for a NUL in a key or a regular expression, Overflow
    ///   (15) past 200 levels, BSONObjectTooLarge (10334) past 16 MiB.
    public static func write(_ document: BSONDocument) throws(ServiceError) -> [UInt8] {
        try write(document, bytesLimit: documentBytesLimit)
    }

    /// The bytes of a document that is no user's: a message between processes of ours.
    package static func write(_ document: BSONDocument, bytesLimit: Int) throws(ServiceError) -> [UInt8] {
        var writer = BSONWriter()
        try writer.append(document, depth: 1)
        guard writer.bytes.count <= bytesLimit else { throw tooLarge(writer.bytes.count) }
        return writer.bytes
    }

    /// How long the document is in this form, in bytes.
    public static func size(of document: BSONDocument) -> Int {
        document.fields.reduce(5) { $0 + 2 + $1.key.utf8.count + size(of: $1.value) }
    }

    /// How long the value is in this form without its type and its key, in bytes.
    public static func size(of value: BSONValue) -> Int {
        switch value {
        case .double, .date, .timestamp, .int64: 8
        case .string(let text), .code(let text), .symbol(let text): 5 + text.utf8.count
        case .document(let document): size(of: document)
        case .array(let elements):
            elements.indices.reduce(5) { $0 + 2 + decimalWidth($1) + size(of: elements[$1]) }
        case .binary(let binary): 5 + binary.bytes.count + (binary.subtype == 2 ? 4 : 0)
        case .undefined, .null, .minKey, .maxKey: 0
        case .objectID: 12
        case .bool: 1
        case .regex(let regex): 2 + regex.pattern.utf8.count + regex.options.utf8.count
        case .dbPointer(let pointer): 17 + pointer.namespace.utf8.count
        case .codeWithScope(let code): 9 + code.code.utf8.count + size(of: code.scope)
        case .int32: 4
        case .decimal128: 16
        }
    }

    private static func decimalWidth(_ index: Int) -> Int {
        var width = 1
        var rest = index / 10
        while rest > 0 {
            width += 1
            rest /= 10
        }
        return width
    }

    static func tooLarge(_ size: Int) -> ServiceError {
        .mongo(
            .bsonObjectTooLarge,
            "BSONObj size: \(size) is invalid. Size must be between 0 and \(documentBytesLimit)(16MB)"
        )
    }
}

public import Errors

/// Extended JSON, version 2: text that keeps every BSON type.
///
/// Canonical and relaxed notation may be mixed on input. Source: MongoDB specifications,
/// “Extended JSON (v2)”; `reference/data-api.md` §4.3.
public enum ExtendedJSON {
    /// Reads a text that is one object.
    ///
    /// - Throws: ``ServiceError`` with code `invalidParameter`, the byte position in the message and in
    ///   `details["position"]`: malformed or truncated text, anything behind the object, a duplicate key,
    ///   a NUL in a key, nesting or size past the limits, a number out of range, invalid UTF-8, a lone
    ///   surrogate, a wrapper such as `$oid` with a wrong operand, or a text that is no document.
    public static func readDocument(
        _ bytes: [UInt8],
        limits: ReadLimits = .standard
    ) throws(ServiceError) -> BSONDocument {
        guard case .document(let document) = try readValue(bytes, limits: limits) else {
            throw JSONScanner.fault(0, "expected an object")
        }
        return document
    }

    /// Reads a text that is one value of any type; errors as ``readDocument(_:limits:)``.
    public static func readValue(
        _ bytes: [UInt8],
        limits: ReadLimits = .standard
    ) throws(ServiceError) -> BSONValue {
        try bytes.withUnsafeBufferPointer { (buffer) throws(ServiceError) -> BSONValue in
            var reader = try ExtendedJSONReader(buffer, limits: limits)
            return try reader.readWhole()
        }
    }

    /// Reads a document from a literal or a short text; errors as ``readDocument(_:limits:)``.
    public static func document(_ text: String) throws(ServiceError) -> BSONDocument {
        try readDocument(Array(text.utf8))
    }

    /// Appends the canonical notation, which wraps every number: `{"a":{"$numberInt":"1"}}`.
    public static func writeCanonical(_ value: BSONValue, to out: inout [UInt8]) {
        ExtendedJSONWriter(isCanonical: true).append(value, to: &out)
    }

    /// Appends a document in canonical notation.
    @_disfavoredOverload
    public static func writeCanonical(_ document: BSONDocument, to out: inout [UInt8]) {
        ExtendedJSONWriter(isCanonical: true).append(document, to: &out)
    }

    /// Appends the relaxed notation, which leaves numbers and dates readable: `{"a":1}`.
    public static func writeRelaxed(_ value: BSONValue, to out: inout [UInt8]) {
        ExtendedJSONWriter(isCanonical: false).append(value, to: &out)
    }

    /// Appends a document in relaxed notation.
    @_disfavoredOverload
    public static func writeRelaxed(_ document: BSONDocument, to out: inout [UInt8]) {
        ExtendedJSONWriter(isCanonical: false).append(document, to: &out)
    }

    /// The canonical notation as text.
    public static func canonical(_ value: BSONValue) -> String {
        var out: [UInt8] = []
        writeCanonical(value, to: &out)
        return String(decoding: out, as: UTF8.self)
    }

    /// A document's canonical notation as text.
    @_disfavoredOverload
    public static func canonical(_ document: BSONDocument) -> String { canonical(.document(document)) }

    /// The relaxed notation as text.
    public static func relaxed(_ value: BSONValue) -> String {
        var out: [UInt8] = []
        writeRelaxed(value, to: &out)
        return String(decoding: out, as: UTF8.self)
    }

    /// A document's relaxed notation as text.
    @_disfavoredOverload
    public static func relaxed(_ document: BSONDocument) -> String { relaxed(.document(document)) }
}

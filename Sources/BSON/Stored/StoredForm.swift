public import Errors

/// The form in which documents lie in jsonb: readable and writable by SQL, and every type kept.
///
/// Strings, booleans, null, arrays and documents are themselves. Numbers are numbers: no point is an int (a
/// long beyond 32 bits), exactly three zeros behind the point (`5.000`) a small long, any other fraction a
/// double. A date is `{"$date": milliseconds}`, an ObjectId `{"$oid": hex}`, a UUID `{"$uuid": text}`; the
/// rest is canonical Extended JSON. A data document that could be mistaken for one of these is put into
/// `{"$document": {…}}`. The order of keys lives in a ``DocumentShape``.
///
/// Source: `storage-study.md` §2.1, §2.2.
public enum StoredForm {
    /// Which notation ``transcode(_:shape:to:into:)`` writes.
    public enum OutputForm: Sendable, Hashable {
        /// As ``PlainJSON``.
        case plain
        /// As canonical ``ExtendedJSON``.
        case canonical
    }

    /// Appends the jsonb text of a value.
    ///
    /// - Throws: ``ServiceError`` with code `invalidParameter` for a NUL character, which PostgreSQL cannot keep; it
    ///   names the field.
    public static func write(_ value: BSONValue, to out: inout [UInt8]) throws(ServiceError) {
        do throws(ServiceError) {
            try StoredWriter.append(value, to: &out)
        } catch {
            throw StoredNUL.named(error, in: value)
        }
    }

    /// Appends the jsonb text of a document; errors as ``write(_:to:)-(BSONValue,_)``.
    @_disfavoredOverload
    public static func write(_ document: BSONDocument, to out: inout [UInt8]) throws(ServiceError) {
        do throws(ServiceError) {
            try StoredWriter.append(document, to: &out)
        } catch {
            throw StoredNUL.named(error, in: .document(document))
        }
    }

    /// The jsonb text of a value as a string; errors as ``write(_:to:)-(BSONValue,_)``.
    public static func text(_ value: BSONValue) throws(ServiceError) -> String {
        var out: [UInt8] = []
        try write(value, to: &out)
        return String(decoding: out, as: UTF8.self)
    }

    /// The jsonb text of a document as a string; errors as ``write(_:to:)-(BSONValue,_)``.
    @_disfavoredOverload
    public static func text(_ document: BSONDocument) throws(ServiceError) -> String {
        try text(.document(document))
    }

    /// Reads a document from text as PostgreSQL prints jsonb.
    ///
    /// The shape gives the order of its fields; nil puts `_id` first and leaves the rest as it comes. Throws
    /// ``ServiceError`` with code `invalidParameter` for text that is no JSON object.
    public static func read(
        _ bytes: ArraySlice<UInt8>,
        shape: DocumentShape?
    ) throws(ServiceError) -> BSONDocument {
        try bytes.withUnsafeBufferPointer { (buffer) throws(ServiceError) -> BSONDocument in
            var reader = try StoredReader(buffer)
            return try reader.readDocument(shape: shape)
        }
    }

    /// Reads a document from text as PostgreSQL prints jsonb.
    public static func read(_ bytes: [UInt8], shape: DocumentShape?) throws(ServiceError) -> BSONDocument {
        try read(bytes[...], shape: shape)
    }

    /// Reads any value from text as PostgreSQL prints jsonb.
    ///
    /// The shape gives the order of the fields of documents inside.
    public static func readValue(
        _ bytes: ArraySlice<UInt8>,
        shape: DocumentShape? = nil
    ) throws(ServiceError) -> BSONValue {
        try bytes.withUnsafeBufferPointer { (buffer) throws(ServiceError) -> BSONValue in
            var reader = try StoredReader(buffer)
            return try reader.readWholeValue(shape: shape)
        }
    }

    /// Reads any value from text as PostgreSQL prints jsonb.
    public static func readValue(
        _ bytes: [UInt8],
        shape: DocumentShape? = nil
    ) throws(ServiceError) -> BSONValue {
        try readValue(bytes[...], shape: shape)
    }

    /// Appends the response text of a stored document, straight from the bytes of the row.
    ///
    /// The result is byte for byte what reading the document and writing it would give.
    ///
    /// - Throws: ``ServiceError`` with code `invalidParameter` for text that is no JSON object.
    public static func transcode(
        _ bytes: ArraySlice<UInt8>,
        shape: DocumentShape?,
        to form: OutputForm,
        into out: inout [UInt8]
    ) throws(ServiceError) {
        try bytes.withUnsafeBufferPointer { (buffer) throws(ServiceError) -> Void in
            var transcoder = StoredTranscoder(try JSONScanner(buffer), form: form)
            try transcoder.transcodeDocument(shape: shape, into: &out)
        }
    }
}

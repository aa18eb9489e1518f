public import BSON

/// A field's name as a key of dictionaries: equal by bytes, as the names of documents are.
public struct FieldName: Hashable, Sendable {
    /// The name as it is written.
    public let text: String

    /// A name as a key.
    public init(_ text: String) {
        self.text = text
    }

    /// Swift's own equality of texts takes canonically equivalent ones for the same.
    public static func == (left: FieldName, right: FieldName) -> Bool {
        TextOrder.equal(left.text, right.text)
    }

    /// Feeds the text; canonically equivalent ones may share a hash.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(text)
    }
}

/// The fields of a document by name, built once, so that wide documents are not searched again
/// and again.
public struct FieldIndex {
    private let document: BSONDocument
    private let index: [FieldName: Int]?

    /// Builds the index, for wide documents.
    public init(_ document: BSONDocument) {
        self.document = document
        // Below this width a linear search costs less than hashing.
        index =
            document.count <= 12
            ? nil
            : Dictionary(
                document.fields.enumerated().map { (FieldName($1.key), $0) },
                uniquingKeysWith: { first, _ in first }
            )
    }

    /// The value of a field, or nil.
    public subscript(_ key: String) -> BSONValue? {
        guard let index else { return document[key] }
        return index[FieldName(key)].map { document.fields[$0].value }
    }
}

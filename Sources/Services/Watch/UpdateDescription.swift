import BSON

/// What an update changed, as change events tell it.
///
/// Shape: `{updatedFields: {"a.b": 1}, removedFields: ["c"]}`. Embedded documents are compared field by field, and
/// so are arrays that did not become shorter; what else differs is told as a whole.
struct UpdateDescription {
    private(set) var updated = BSONDocument()
    private(set) var removed: [BSONValue] = []

    init(before: BSONDocument, after: BSONDocument) {
        compare(before, after, at: "")
    }

    /// Whether nothing differs but the order of fields.
    var isEmpty: Bool { updated.isEmpty && removed.isEmpty }

    var document: BSONDocument {
        ["updatedFields": .document(updated), "removedFields": .array(removed)]
    }

    private mutating func compare(_ before: BSONDocument, _ after: BSONDocument, at path: String) {
        let (olds, news) = (Self.index(before), Self.index(after))
        for field in before where news[ByteText(field.key)] == nil {
            removed.append(.string(path + field.key))
        }
        for field in after {
            guard let old = olds[ByteText(field.key)] else {
                updated.append(path + field.key, field.value)
                continue
            }
            compare(old, field.value, at: path + field.key)
        }
    }

    private mutating func compare(_ before: BSONValue, _ after: BSONValue, at path: String) {
        if before == after { return }
        switch (before, after) {
        case (.document(let old), .document(let new))
        where !new.isEmpty && Self.isAddressable(old) && Self.isAddressable(new):
            compare(old, new, at: path + ".")
        case (.array(let old), .array(let new)) where !old.isEmpty && new.count >= old.count:
            for (index, element) in new.enumerated() {
                if index < old.count {
                    compare(old[index], element, at: "\(path).\(index)")
                } else {
                    updated.append("\(path).\(index)", element)
                }
            }
        default: updated.append(path, after)
        }
    }

    /// Looked up once for each field: a document may have many.
    private static func index(_ document: BSONDocument) -> [ByteText: BSONValue] {
        Dictionary(document.map { (ByteText($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    /// Whether a dotted path names each field without a doubt.
    private static func isAddressable(_ document: BSONDocument) -> Bool {
        document.allSatisfy { !$0.key.isEmpty && !$0.key.utf8.contains(UInt8(ascii: ".")) }
    }
}

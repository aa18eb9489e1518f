import BSON

/// Finds fields of a document by name: by looking along it for a few names, by hashing for many.
struct FieldIndex {
    /// A name, equal to another only when the bytes are.
    private struct Name: Hashable {
        let text: String

        static func == (first: Name, second: Name) -> Bool { first.text.utf8.elementsEqual(second.text.utf8) }

        func hash(into hasher: inout Hasher) {
            for byte in text.utf8 { hasher.combine(byte) }
        }
    }

    private var places: [Name: Int]?

    init(of document: BSONDocument, lookups: Int) {
        guard lookups > 8 else { return }
        var places: [Name: Int] = [:]
        places.reserveCapacity(document.count + lookups)
        for (place, field) in document.fields.enumerated() { places[Name(text: field.key)] = place }
        self.places = places
    }

    /// Where the field stands, or nil.
    func place(of name: String, in document: BSONDocument) -> Int? {
        guard let places else { return document.index(of: name) }
        return places[Name(text: name)]
    }

    /// Notes a field that was appended.
    mutating func note(_ name: String, at place: Int) {
        places?[Name(text: name)] = place
    }
}

/// An ordered document: fields in the order in which they were written.
///
/// Keys are unique in everything that a reader of this room returns. Lookup is linear, which is
/// the fastest for documents of usual width; code that looks up many keys builds its own index.
public struct BSONDocument: Sendable, Hashable {
    /// One field.
    public struct Field: Sendable {
        public var key: String
        public var value: BSONValue

        public init(key: String, value: BSONValue) {
            self.key = key
            self.value = value
        }
    }

    /// The fields, in order.
    public var fields: [Field]

    public init(_ fields: [Field] = []) {
        self.fields = fields
    }

    public var count: Int { fields.count }
    public var isEmpty: Bool { fields.isEmpty }
    public var keys: [String] { fields.map(\.key) }

    /// The value of a top-level field. Setting an absent one appends it; setting nil removes it.
    public subscript(key: String) -> BSONValue? {
        get {
            for field in fields where TextOrder.equal(field.key, key) { return field.value }
            return nil
        }
        set {
            guard let index = fields.firstIndex(where: { TextOrder.equal($0.key, key) }) else {
                if let newValue { fields.append(Field(key: key, value: newValue)) }
                return
            }
            if let newValue { fields[index].value = newValue } else { fields.remove(at: index) }
        }
    }

    /// Appends a field without looking for one of the same name; the caller knows there is none.
    public mutating func append(_ key: String, _ value: BSONValue) {
        fields.append(Field(key: key, value: value))
    }

    /// The key that decides what kind of document this is: operator, EJSON wrapper, or data.
    public var firstKey: String? { fields.first?.key }
}

extension BSONDocument: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, BSONValue)...) {
        self.init(elements.map { Field(key: $0, value: $1) })
    }
}

extension BSONDocument: Sequence {
    public func makeIterator() -> IndexingIterator<[Field]> { fields.makeIterator() }
}

/// An ordered document: fields in the order in which they were written.
///
/// Keys are unique in everything that a reader of this room returns. Lookup is linear, which is
/// the fastest for documents of usual width; code that looks up many keys builds its own index.
public struct BSONDocument: Sendable, Hashable {
    /// One field.
    public struct Field: Sendable {
        /// The field's name.
        public var key: String
        /// What it holds.
        public var value: BSONValue

        /// Takes both parts.
        public init(key: String, value: BSONValue) {
            self.key = key
            self.value = value
        }
    }

    /// The fields, in order.
    public var fields: [Field]

    /// Takes fields whose keys the caller knows to be distinct.
    public init(_ fields: [Field] = []) {
        self.fields = fields
    }

    /// How many fields there are.
    public var count: Int { fields.count }
    /// Whether there is no field.
    public var isEmpty: Bool { fields.isEmpty }
    /// The names of the fields, in order.
    public var keys: [String] { fields.map(\.key) }

    /// The value of a top-level field.
    ///
    /// Setting an absent one appends it; setting nil removes it.
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
    /// Takes the fields in the order of the literal.
    public init(dictionaryLiteral elements: (String, BSONValue)...) {
        self.init(elements.map { Field(key: $0, value: $1) })
    }
}

extension BSONDocument: Sequence {
    /// Goes through the fields in order.
    public func makeIterator() -> IndexingIterator<[Field]> { fields.makeIterator() }
}

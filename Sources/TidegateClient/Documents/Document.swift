/// Fields with their values, in their order.
public struct Document: Sendable {
    /// Names and values in order; names are unique.
    public private(set) var fields: [(name: String, value: AnyBSON)]

    /// Without fields.
    public init() {
        fields = []
    }

    /// Of fields in order; of those with one name the last counts.
    public init(_ fields: some Sequence<(String, AnyBSON)>) {
        self.fields = []
        for (name, value) in fields { self[name] = value }
    }

    /// Appends a field without looking for its name; for parsers of what a server wrote.
    mutating func append(_ name: String, _ value: AnyBSON) {
        fields.append((name, value))
    }

    /// The value of a field; nil removes it, and a new field comes last.
    public subscript(name: String) -> AnyBSON? {
        get { fields.first { $0.name == name }?.value }
        set {
            let index = fields.firstIndex { $0.name == name }
            switch (index, newValue) {
            case (let index?, let value?): fields[index].value = value
            case (let index?, nil): fields.remove(at: index)
            case (nil, let value?): fields.append((name, value))
            case (nil, nil): break
            }
        }
    }

    /// How many fields there are.
    public var count: Int { fields.count }

    /// Whether there is none.
    public var isEmpty: Bool { fields.isEmpty }

    /// Whether its first field is an operator such as `$set`.
    var hasOperators: Bool { fields.first?.name.hasPrefix("$") ?? false }
}

extension Document: Hashable {
    /// The same fields in the same order.
    public static func == (one: Document, other: Document) -> Bool {
        one.fields.count == other.fields.count
            && zip(one.fields, other.fields).allSatisfy { $0.name == $1.name && $0.value == $1.value }
    }

    /// Names and values, in order.
    public func hash(into hasher: inout Hasher) {
        for field in fields {
            hasher.combine(field.name)
            hasher.combine(field.value)
        }
    }
}

extension Document: ExpressibleByDictionaryLiteral {
    /// In the order in which the fields are written.
    public init(dictionaryLiteral elements: (String, AnyBSON)...) {
        self.init(elements)
    }
}

extension Document: CustomStringConvertible {
    /// Canonical Extended JSON.
    public var description: String { extendedJSON }

    /// The document as canonical Extended JSON.
    public var extendedJSON: String { AnyBSON.document(self).extendedJSON }

    /// A document of Extended JSON, canonical or relaxed.
    ///
    /// - Throws: ``TidegateError`` of the kind `invalidDocument`.
    public init(extendedJSON text: String) throws {
        let value = try ExtendedJSONReader.read(Array(text.utf8))
        guard case .document(let document) = value else {
            throw TidegateError(.invalidDocument, "Extended JSON of a document was expected")
        }
        self = document
    }
}

public import BSON
public import MQL

/// A class of a Realm model, as a collection's schema makes it.
///
/// Source: `sync-semantics.md` §13.1.
public struct SyncClass: Sendable, Hashable {
    /// The name: the `title` of the schema, or one made for an embedded object without a title.
    public let name: ByteText
    /// Top-level with its primary key, embedded, or asymmetric.
    public let kind: Instruction.TableKind
    /// Where its objects are stored; nil for embedded classes.
    public let namespace: Namespace?
    /// What the stored primary key is; nil for embedded classes.
    public let keyType: SyncType?
    /// All properties but the primary key, in the order of the schema.
    public let properties: [SyncProperty]
    private let index: [ByteText: Int]

    init(
        name: ByteText,
        kind: Instruction.TableKind,
        namespace: Namespace?,
        keyType: SyncType?,
        properties: [SyncProperty]
    ) {
        self.name = name
        self.kind = kind
        self.namespace = namespace
        self.keyType = keyType
        self.properties = properties
        index = Dictionary(
            properties.enumerated().map { ($1.name, $0) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// The property of a name; nil also for the primary key.
    public func property(_ name: ByteText) -> SyncProperty? {
        index[name].map { properties[$0] }
    }

    /// Whether objects are parts of others, without a key of their own.
    public var isEmbedded: Bool { kind == .embedded }

    /// Whether devices write objects of it and never read them.
    public var isAsymmetric: Bool {
        if case .asymmetric = kind { true } else { false }
    }

    /// The column of the primary key; nil for embedded classes.
    public var keyColumn: Instruction.KeyColumn? {
        switch kind {
        case .topLevel(let key), .asymmetric(let key): key
        case .embedded: nil
        }
    }

    /// The same class with another property in the place of one.
    func replacing(_ property: SyncProperty) -> SyncClass {
        SyncClass(
            name: name,
            kind: kind,
            namespace: namespace,
            keyType: keyType,
            properties: properties.map { $0.name == property.name ? property : $0 }
        )
    }
}

/// A property of a class.
public struct SyncProperty: Sendable, Hashable {
    /// The field.
    public let name: ByteText
    /// The type of the value or of the elements.
    public let type: SyncType
    /// Whether the value or the elements may be null.
    public let isNullable: Bool
    /// One value or a collection of them.
    public let collection: CollectionKind
    /// What devices see where a stored document lacks the field.
    public let defaultValue: BSONValue?
    /// Whether a document keeps a null that a device sets; else the field goes, since the schema has no null for it and
    /// others than devices could not write the document any more.
    public let keepsNull: Bool

    init(
        name: ByteText,
        type: SyncType,
        isNullable: Bool,
        collection: CollectionKind = .single,
        defaultValue: BSONValue? = nil,
        keepsNull: Bool = true
    ) {
        self.name = name
        self.type = type
        self.collection = collection
        self.defaultValue = defaultValue
        // Where the field is absent, the device would see the default again.
        self.keepsNull = keepsNull || defaultValue != nil
        // What the client's library says of its own columns. Source: `realm-sync-protocol.md` §6.4.
        self.isNullable =
            switch (type, collection) {
            case (.mixed, _), (.link, .single), (.link, .dictionary), (.embedded, .single),
                (.embedded, .dictionary):
                true
            case (.link, _), (.embedded, _): false
            default: isNullable
            }
    }

    /// The column as the wire has it.
    func column(in table: ByteText) -> Instruction.Column {
        Instruction.Column(
            table: table,
            field: name,
            type: type.kind,
            isNullable: isNullable,
            collection: collection,
            target: type.target
        )
    }

    /// The same property with single precision.
    var asFloat: SyncProperty {
        SyncProperty(
            name: name,
            type: .float,
            isNullable: isNullable,
            collection: collection,
            defaultValue: defaultValue,
            keepsNull: keepsNull
        )
    }
}

/// What a property holds, with the type that documents have for it.
public enum SyncType: Sendable, Hashable {
    /// An integer that is stored in 32 bits where it fits.
    case int
    /// An integer that is stored in 64 bits.
    case long
    case bool
    case string
    case binary
    case date
    /// A double of the store that a device keeps in single precision.
    case float
    case double
    case decimal
    case objectID
    case uuid
    /// Any value, and lists and dictionaries of any.
    case mixed
    /// The primary key of an object of the class, as the store has it.
    case link(ByteText)
    /// An object of the class inside of the document.
    case embedded(ByteText)

    /// The type of the column.
    public var kind: Payload.Kind {
        switch self {
        case .int, .long: .int
        case .bool: .bool
        case .string: .string
        case .binary: .binary
        case .date: .timestamp
        case .float: .float
        case .double: .double
        case .decimal: .decimal
        case .objectID: .objectID
        case .uuid: .uuid
        case .mixed: .null
        case .link, .embedded: .link
        }
    }

    /// The class that a column of the type names.
    public var target: ByteText? {
        switch self {
        case .link(let name), .embedded(let name): name
        default: nil
        }
    }

    /// The name in messages.
    var description: String {
        switch self {
        case .int, .long: "int"
        case .bool: "bool"
        case .string: "string"
        case .binary: "binary"
        case .date: "date"
        case .float: "float"
        case .double: "double"
        case .decimal: "decimal128"
        case .objectID: "objectId"
        case .uuid: "uuid"
        case .mixed: "mixed"
        case .link(let name): "link to \"\(name.text)\""
        case .embedded(let name): "embedded \"\(name.text)\""
        }
    }
}

public import BSON

/// One step of a changeset.
///
/// Source: `realm-sync-protocol.md` §6.3.
public enum Instruction: Sendable, Hashable {
    case addTable(ByteText, TableKind)
    case eraseTable(ByteText)
    case createObject(ObjectAddress)
    case eraseObject(ObjectAddress)
    /// Sets what the address names: a field, a key of a dictionary, or an element of a list.
    case update(ValueAddress, Payload, UpdateForm)
    /// Adds to a whole field; null stays null, and the sum wraps at 64 bits.
    case addInteger(ValueAddress, Int64)
    case addColumn(Column)
    case eraseColumn(table: ByteText, field: ByteText)
    /// The address ends in the index where the element will stand.
    case arrayInsert(ValueAddress, Payload, priorSize: UInt32)
    /// The address ends in the index of the element that moves.
    case arrayMove(ValueAddress, to: UInt32, priorSize: UInt32)
    /// The address ends in the index of the element.
    case arrayErase(ValueAddress, priorSize: UInt32)
    case clear(ValueAddress, CollectionKind)
    case setInsert(ValueAddress, Payload)
    case setErase(ValueAddress, Payload)

    /// What an update says beside its value.
    public enum UpdateForm: Sendable, Hashable {
        /// The address ends in an index of a list that had this many elements.
        case element(priorSize: UInt32)
        /// A field or a key; whether the client's library gave the value at the object's creation.
        case value(isDefault: Bool)
    }

    /// What objects of a class are; the order is that of the wire.
    public enum TableKind: Sendable, Hashable {
        case topLevel(KeyColumn)
        case embedded
        /// Devices write it and never read it.
        case asymmetric(KeyColumn)
    }

    /// The column of the primary key.
    public struct KeyColumn: Sendable, Hashable {
        /// `_id`.
        public var field: ByteText
        /// The type of its values.
        public var type: Payload.Kind
        /// Whether one object may have null for its key.
        public var isNullable: Bool

        /// Made of its parts.
        public init(field: ByteText, type: Payload.Kind, isNullable: Bool) {
            self.field = field
            self.type = type
            self.isNullable = isNullable
        }
    }

    /// A property of a class.
    public struct Column: Sendable, Hashable {
        /// The class.
        public var table: ByteText
        /// The property.
        public var field: ByteText
        /// The type of the value or of the elements; `null` is mixed.
        public var type: Payload.Kind
        /// Whether the value or the elements may be null.
        public var isNullable: Bool
        /// One value or a collection of them.
        public var collection: CollectionKind
        /// The class that a link leads to, or of which embedded objects are.
        public var target: ByteText?

        /// Made of its parts; a target for links alone.
        public init(
            table: ByteText,
            field: ByteText,
            type: Payload.Kind,
            isNullable: Bool,
            collection: CollectionKind = .single,
            target: ByteText? = nil
        ) {
            self.table = table
            self.field = field
            self.type = type
            self.isNullable = isNullable
            self.collection = collection
            self.target = target
        }
    }
}

/// How many values a property holds; the raw value stands on the wire.
public enum CollectionKind: UInt8, Sendable, Hashable, CaseIterable {
    case single = 0
    case list = 1
    case dictionary = 2
    case set = 3
}

/// An object by class and primary key.
public struct ObjectAddress: Sendable, Hashable {
    /// The class.
    public var table: ByteText
    /// The primary key.
    public var key: ObjectKey

    /// Made of its parts.
    public init(table: ByteText, key: ObjectKey) {
        self.table = table
        self.key = key
    }
}

/// A value inside an object: a field, and the way below it.
///
/// Shape: `["items", 2, "name"]` is the field `items` with the path `[2, "name"]`.
public struct ValueAddress: Sendable, Hashable {
    /// The top-level object.
    public var object: ObjectAddress
    /// The field of that object.
    public var field: ByteText
    /// The way from the field's value.
    public var path: [PathElement]

    /// Made of its parts.
    public init(object: ObjectAddress, field: ByteText, path: [PathElement] = []) {
        self.object = object
        self.field = field
        self.path = path
    }
}

/// One step of the way into a field's value.
public enum PathElement: Sendable, Hashable {
    /// An element of a list.
    case index(UInt32)
    /// A key of a dictionary, or a field of an embedded object: the schema tells which.
    case key(ByteText)
}

/// The primary key of an object.
public enum ObjectKey: Sendable, Hashable {
    case null
    case int(Int64)
    case string(ByteText)
    case objectID(ObjectID)
    case uuid(UUIDBytes)
}

/// The sixteen bytes of a UUID.
public struct UUIDBytes: Sendable, Hashable {
    /// The first eight bytes, big-endian.
    let upper: UInt64
    /// The last eight bytes, big-endian.
    let lower: UInt64

    /// Exactly sixteen bytes, or nil.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        upper = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        lower = bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The sixteen bytes.
    public var bytes: [UInt8] {
        [upper, lower].flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * $0)) } }
    }
}

public import BSON
public import MQL
public import Schemas

/// The classes that an app syncs.
///
/// Made of the schemas of its collections by ``init(_:)``. Source: `sync-semantics.md` §13.
public struct SyncSchema: Sendable, Hashable {
    /// A collection that takes part.
    public struct Source: Sendable {
        /// The collection.
        public var namespace: Namespace
        /// Its documents; one without a title does not sync.
        public var schema: CollectionSchema
        /// Which of its fields are links.
        public var relationships: [Relationship]
        /// Whether devices only write it.
        public var isAsymmetric: Bool

        /// Made of its parts.
        public init(
            namespace: Namespace,
            schema: CollectionSchema,
            relationships: [Relationship] = [],
            isAsymmetric: Bool = false
        ) {
            self.namespace = namespace
            self.schema = schema
            self.relationships = relationships
            self.isAsymmetric = isAsymmetric
        }
    }

    /// Something in a collection's schema that devices cannot have.
    public struct Fault: Sendable, Hashable {
        /// The collection.
        public let namespace: Namespace
        /// The field, with dots and `[]`; nil for the collection itself.
        public let field: String?
        /// One sentence without the place.
        public let message: String

        /// One line: `shop.Item: tags: …`.
        public var description: String {
            ([namespace.name] + [field, message].compactMap { $0 }).joined(separator: ": ")
        }
    }

    /// In bytewise order of their names, embedded ones included.
    public private(set) var classes: [SyncClass]
    private let index: [ByteText: Int]
    private let byNamespace: [Namespace: Int]

    init(classes: [SyncClass]) {
        self.classes = classes.sorted { TextOrder.compare($0.name.text, $1.name.text) < 0 }
        index = Dictionary(
            self.classes.enumerated().map { ($1.name, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        byNamespace = Dictionary(
            self.classes.enumerated().compactMap { place, type in type.namespace.map { ($0, place) } },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// The class of a name.
    public subscript(_ name: ByteText) -> SyncClass? {
        index[name].map { classes[$0] }
    }

    /// The class whose objects a collection holds.
    public subscript(_ namespace: Namespace) -> SyncClass? {
        byNamespace[namespace].map { classes[$0] }
    }

    /// What a device needs before any data: all classes, then their properties.
    ///
    /// Source: `realm-sync-protocol.md` §6.4.
    public var instructions: [Instruction] {
        classes.map { .addTable($0.name, $0.kind) }
            + classes.flatMap { type in
                type.properties.map { .addColumn($0.column(in: type.name)) }
            }
    }

    /// The same classes, with single precision for a property that a device declares so.
    ///
    /// The store knows doubles alone, and a device refuses a double for a property that is a float.
    public func adopting(_ column: Instruction.Column) -> SyncSchema {
        guard column.type == .float, let place = index[column.table],
            let property = classes[place].property(column.field), property.type == .double
        else { return self }
        var copy = self
        copy.classes[place] = classes[place].replacing(property.asFloat)
        return copy
    }
}

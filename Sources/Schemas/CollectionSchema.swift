public import BSON

/// The schema of a collection's documents, parsed.
///
/// Checked on the writes of users (`violations(_:options:)`), and the source of typed columns
/// (``scalarFields``). Source: `rules.md` §14.
public struct CollectionSchema: Sendable {
    /// The constraints on the document.
    public let root: SchemaNode

    /// The type name for Sync.
    public var title: String? { root.title }
    /// The top-level properties, in the order of the file.
    public var properties: [SchemaNode.Property] { root.properties }
    /// Names of the top-level fields that every document must have.
    public var required: [String] { root.required }

    /// Whether every document passes, so that writes need not be checked.
    public var isUnconstrained: Bool { !root.constrains && !root.hasValidate }
    /// Whether some node carries a `validate` expression.
    public var hasValidate: Bool { root.hasValidate }

    init(root: SchemaNode) {
        self.root = root
    }

    /// The schema that takes every document: `{}`.
    public static let empty = CollectionSchema(root: SchemaNode())

    /// Paths that hold one scalar of one declared type, for typed columns.
    ///
    /// Top-level properties and those of embedded documents, never below an array. `bsonType` is normalised (`bool`,
    /// `double`); a property that may also be `null` has its other type.
    public var scalarFields: [(path: FieldPath, bsonType: String)] {
        var fields: [(path: FieldPath, bsonType: String)] = []
        Self.collect(root, [], into: &fields)
        return fields
    }

    private static func collect(
        _ node: SchemaNode,
        _ path: [String],
        into fields: inout [(path: FieldPath, bsonType: String)]
    ) {
        for property in node.properties where isAddressable(property.name) {
            let here = path + [property.name]
            let types = property.node.types?.filter { $0 != .null } ?? []
            if types.count == 1, let type = types.first {
                switch type {
                case .object: collect(property.node, here, into: &fields)
                case .array, .mixed, .linkingObjects, .null, .undefined, .regex, .javascript, .symbol,
                    .minKey, .maxKey, .binData:
                    break
                case .double, .string, .objectId, .bool, .date, .int, .timestamp, .long, .decimal, .uuid,
                    .number:
                    fields.append((FieldPath(components: here), type.rawValue))
                }
            } else if types.isEmpty, !property.node.properties.isEmpty {
                collect(property.node, here, into: &fields)
            }
        }
    }

    /// Whether a dotted path can name the property.
    private static func isAddressable(_ name: String) -> Bool {
        !name.isEmpty && !name.hasPrefix("$") && !name.utf8.contains(UInt8(ascii: "."))
            && !name.utf8.contains(0)
    }
}

public import BSON
public import MQL

/// The constraints on one value: what stands at a property, at the items of an array, or at the root.
///
/// Source: `rules.md` §14.1.
public struct SchemaNode: Sendable {
    /// What a key not named by `properties` or `patternProperties` may hold.
    public enum Additional: Sendable {
        case allowed
        case refused
        indirect case schema(SchemaNode)
    }

    /// The schema of array elements.
    public enum Items: Sendable {
        case any
        indirect case all(SchemaNode)
        /// One schema per position, and one for the elements after them.
        indirect case tuple([SchemaNode], rest: Additional)
    }

    /// What the presence of a key demands.
    public enum Dependency: Sendable {
        case keys([String])
        indirect case schema(SchemaNode)
    }

    /// One named property.
    public struct Property: Sendable {
        public let name: String
        public let node: SchemaNode
    }

    /// The schema's name; at the root the type name for Sync.
    public internal(set) var title: String?
    /// nil is any type.
    public internal(set) var types: [SchemaType]?
    public internal(set) var enumeration: [BSONValue]?
    /// In the order of the file.
    public internal(set) var properties: [Property] = []
    public internal(set) var required: [String] = []
    public internal(set) var minProperties: Int?
    public internal(set) var maxProperties: Int?
    public internal(set) var patternProperties: [(pattern: RegexPattern, node: SchemaNode)] = []
    public internal(set) var additionalProperties: Additional = .allowed
    public internal(set) var dependencies: [(key: String, dependency: Dependency)] = []
    public internal(set) var items: Items = .any
    public internal(set) var minItems: Int?
    public internal(set) var maxItems: Int?
    public internal(set) var uniqueItems = false
    public internal(set) var multipleOf: BSONValue?
    public internal(set) var maximum: BSONValue?
    public internal(set) var exclusiveMaximum = false
    public internal(set) var minimum: BSONValue?
    public internal(set) var exclusiveMinimum = false
    /// In code points.
    public internal(set) var minLength: Int?
    public internal(set) var maxLength: Int?
    public internal(set) var pattern: RegexPattern?
    public internal(set) var allOf: [SchemaNode] = []
    public internal(set) var anyOf: [SchemaNode] = []
    public internal(set) var oneOf: [SchemaNode] = []
    /// None or one.
    public internal(set) var not: [SchemaNode] = []
    /// The rule expression as written; `Rules` parses and evaluates it.
    public internal(set) var validate: BSONValue?
    /// What Sync shows for a stored document that lacks the field.
    public internal(set) var defaultValue: BSONValue?
    /// Where each property stands in ``properties``.
    var propertyIndex: [FieldName: Int] = [:]
    var requiredNames: Set<FieldName> = []
    /// Whether this node or one below it constrains anything, `validate` aside.
    var constrains = false
    /// Whether this node or one below it carries `validate`.
    var hasValidate = false

    init() {}

    /// The schema of a named property.
    public func property(_ name: String) -> SchemaNode? {
        propertyIndex[FieldName(name)].map { properties[$0].node }
    }
}

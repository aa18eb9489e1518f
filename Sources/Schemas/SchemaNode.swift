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
        /// The field.
        public let name: String
        /// What it must fit.
        public let node: SchemaNode
    }

    /// The schema's name; at the root the type name for Sync.
    public internal(set) var title: String?
    /// nil is any type.
    public internal(set) var types: [SchemaType]?
    /// The values that are allowed; nil for any.
    public internal(set) var enumeration: [BSONValue]?
    /// In the order of the file.
    public internal(set) var properties: [Property] = []
    /// Fields that must be there and not null.
    public internal(set) var required: [String] = []
    /// The least number of fields.
    public internal(set) var minProperties: Int?
    /// The greatest number of fields.
    public internal(set) var maxProperties: Int?
    /// Schemas for the fields whose names match.
    public internal(set) var patternProperties: [(pattern: RegexPattern, node: SchemaNode)] = []
    /// What fields of other names may hold.
    public internal(set) var additionalProperties: Additional = .allowed
    /// What the presence of a field demands, by its name.
    public internal(set) var dependencies: [(key: String, dependency: Dependency)] = []
    /// What the elements of an array may be.
    public internal(set) var items: Items = .any
    /// The least number of elements.
    public internal(set) var minItems: Int?
    /// The greatest number of elements.
    public internal(set) var maxItems: Int?
    /// Whether elements must differ by BSON equality.
    public internal(set) var uniqueItems = false
    /// A divisor, greater than 0.
    public internal(set) var multipleOf: BSONValue?
    /// The greatest number.
    public internal(set) var maximum: BSONValue?
    /// Whether ``maximum`` itself is too great.
    public internal(set) var exclusiveMaximum = false
    /// The least number.
    public internal(set) var minimum: BSONValue?
    /// Whether ``minimum`` itself is too small.
    public internal(set) var exclusiveMinimum = false
    /// In code points.
    public internal(set) var minLength: Int?
    /// In code points.
    public internal(set) var maxLength: Int?
    /// What a text must contain a match of.
    public internal(set) var pattern: RegexPattern?
    /// Schemas that must all fit.
    public internal(set) var allOf: [SchemaNode] = []
    /// Schemas of which one must fit; empty for none.
    public internal(set) var anyOf: [SchemaNode] = []
    /// Schemas of which exactly one must fit; empty for none.
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

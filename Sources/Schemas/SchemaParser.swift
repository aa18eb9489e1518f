public import BSON
public import Errors

/// Turns a schema document into a ``CollectionSchema``.
///
/// Takes what real exports contain beside the documented form: `"boolean"`, `"float"`,
/// `"type": "object"`, embedded objects without a type, `linkingObjects`, and `{}`.
/// Source: `rules.md` §14.1.
public enum SchemaParser {
    /// Schemas may nest this deep, as `mixed` may.
    static let depthLimit = 100

    /// Parses a schema that has no errors; warnings are dropped.
    ///
    /// - Throws: ``ServiceError`` with code `invalidAppDefinition` and each error in `details`.
    public static func parse(_ document: BSONDocument) throws(ServiceError) -> CollectionSchema {
        let (schema, faults) = parseCollectingFaults(document)
        let errors = faults.filter { $0.severity == .error }
        guard let first = errors.first else { return schema }
        throw ServiceError(
            .invalidAppDefinition,
            "schema: \(first.jsonPath): \(first.message)",
            details: Dictionary(
                errors.map { ($0.jsonPath, $0.message) },
                uniquingKeysWith: { "\($0); \($1)" }
            )
        )
    }

    /// Parses what can be parsed and lists everything that is wrong; `validate` expressions are
    /// checked by `SchemaValidation` in `Rules`.
    public static func parseCollectingFaults(
        _ document: BSONDocument
    ) -> (schema: CollectionSchema, faults: [DefinitionFault]) {
        var reader = SchemaReader()
        let root = reader.node(document, at: "$", depth: 0)
        if let types = root.types, !types.contains(.object), !types.contains(.mixed) {
            reader.error("$", "the schema of a collection describes an object")
        }
        return (CollectionSchema(root: root), reader.faults)
    }
}

/// Walks a schema document and collects faults.
struct SchemaReader {
    private(set) var faults: [DefinitionFault] = []

    mutating func error(_ path: String, _ message: String) {
        faults.append(DefinitionFault(.error, at: path, message))
    }

    mutating func warn(_ path: String, _ message: String) {
        faults.append(DefinitionFault(.warning, at: path, message))
    }

    /// One schema object.
    mutating func node(_ document: BSONDocument, at path: String, depth: Int) -> SchemaNode {
        var node = SchemaNode()
        guard depth < SchemaParser.depthLimit else {
            error(path, "schemas nest at most \(SchemaParser.depthLimit) levels")
            return node
        }
        for field in document {
            keyword(field.key, field.value, of: document, at: jsonPath(path, field.key), depth, into: &node)
        }
        if document["bsonType"] != nil, document["type"] != nil {
            error(path, "'bsonType' and 'type' exclude each other")
        }
        finish(&node)
        return node
    }

    /// Computes what the validator asks of the node as a whole.
    private func finish(_ node: inout SchemaNode) {
        var below = node.properties.map(\.node) + node.patternProperties.map(\.node)
        if case .schema(let other) = node.additionalProperties { below.append(other) }
        switch node.items {
        case .any: break
        case .all(let other): below.append(other)
        case .tuple(let others, let rest):
            below += others
            if case .schema(let other) = rest { below.append(other) }
        }
        let combined = node.allOf + node.anyOf + node.oneOf + node.not
        node.hasValidate = node.validate != nil || (below + combined).contains(where: \.hasValidate)
        node.requiredNames = Set(node.required.map { FieldName($0) })
        let isOpen = if case .refused = node.additionalProperties { false } else { true }
        let takesAnyItem = if case .tuple(_, .refused) = node.items { false } else { true }
        let takesAnyType = node.types?.contains { $0 == .mixed || $0 == .linkingObjects } ?? true
        node.constrains =
            !takesAnyType || node.enumeration != nil || !node.required.isEmpty || !node.dependencies.isEmpty
            || node.minProperties != nil || node.maxProperties != nil || !isOpen || !takesAnyItem
            || node.minItems != nil || node.maxItems != nil || node.uniqueItems || node.multipleOf != nil
            || node.maximum != nil || node.minimum != nil || node.minLength != nil || node.maxLength != nil
            || node.pattern != nil || !combined.isEmpty || below.contains(where: \.constrains)
        node.propertyIndex = Dictionary(
            node.properties.enumerated().map { (FieldName($1.name), $0) },
            uniquingKeysWith: { first, _ in first }
        )
    }
}

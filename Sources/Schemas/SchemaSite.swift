public import BSON
import MQL

/// A place in a document at which a `validate` expression must hold.
public struct SchemaSite: Sendable {
    /// The expression as written in the schema.
    public let validate: BSONValue
    /// What `%%this` is; nil where the field is absent.
    public let value: BSONValue?
    /// What `%%prev` is; nil where the field was absent or the document is new.
    public let previous: BSONValue?
    /// Where it stands: `(root).owner_id`.
    public let path: String
}

extension CollectionSchema {
    /// Every `validate` expression, with its place in the schema's file.
    public var validateExpressions: [(jsonPath: String, validate: BSONValue)] {
        var found: [(jsonPath: String, validate: BSONValue)] = []
        if root.hasValidate { Self.collectValidate(root, "$", into: &found) }
        return found
    }

    private static func collectValidate(
        _ node: SchemaNode,
        _ path: String,
        into found: inout [(jsonPath: String, validate: BSONValue)]
    ) {
        guard node.hasValidate else { return }
        if let validate = node.validate { found.append((path + ".validate", validate)) }
        for property in node.properties {
            collectValidate(property.node, jsonPath(path + ".properties", property.name), into: &found)
        }
        for entry in node.patternProperties {
            collectValidate(
                entry.node,
                jsonPath(path + ".patternProperties", entry.pattern.pattern),
                into: &found
            )
        }
        if case .schema(let child) = node.additionalProperties {
            collectValidate(child, path + ".additionalProperties", into: &found)
        }
        switch node.items {
        case .any: break
        case .all(let child): collectValidate(child, path + ".items", into: &found)
        case .tuple(let children, let rest):
            for (index, child) in children.enumerated() {
                collectValidate(child, "\(path).items[\(index)]", into: &found)
            }
            if case .schema(let child) = rest {
                collectValidate(child, path + ".additionalItems", into: &found)
            }
        }
    }
}

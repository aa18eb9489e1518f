import BSON
import MQL

extension SchemaReader {
    /// One keyword of a schema object.
    mutating func keyword(
        _ name: String,
        _ value: BSONValue,
        of document: BSONDocument,
        at path: String,
        _ depth: Int,
        into node: inout SchemaNode
    ) {
        switch name {
        case "title": node.title = string(value, path)
        case "description": _ = string(value, path)
        case "bsonType": node.types = types(value, path, isJSONType: false)
        case "type": node.types = types(value, path, isJSONType: true)
        case "enum": node.enumeration = nonEmptyArray(value, path)
        case "validate": node.validate = value
        case "default": node.defaultValue = value
        case "properties":
            node.properties = namedNodes(value, path, depth).map { .init(name: $0.name, node: $0.node) }
        case "required": node.required = strings(value, path)
        case "minProperties": node.minProperties = count(value, path)
        case "maxProperties": node.maxProperties = count(value, path)
        case "patternProperties":
            for (pattern, child) in namedNodes(value, path, depth) {
                if let pattern = regex(pattern, jsonPath(path, pattern)) {
                    node.patternProperties.append((pattern, child))
                }
            }
        case "additionalProperties": node.additionalProperties = additional(value, path, depth)
        case "dependencies": node.dependencies = dependencies(value, path, depth)
        case "items":
            node.items = items(value, path, depth, rest: document["additionalItems"])
        case "additionalItems":
            // Read together with `items`, which alone gives it a meaning.
            if document["items"]?.array == nil {
                warn(path, "'additionalItems' has no effect without an array of 'items'")
            }
        case "minItems": node.minItems = count(value, path)
        case "maxItems": node.maxItems = count(value, path)
        case "uniqueItems": node.uniqueItems = bool(value, path) ?? false
        case "multipleOf":
            node.multipleOf = number(value, path)
            if let divisor = node.multipleOf, BSONOrdering.compare(divisor, .int32(0)) <= 0 {
                error(path, "must be greater than 0")
                node.multipleOf = nil
            }
        case "maximum": node.maximum = number(value, path)
        case "minimum": node.minimum = number(value, path)
        case "exclusiveMaximum":
            node.exclusiveMaximum = bool(value, path) ?? false
            if document["maximum"] == nil { error(path, "needs 'maximum'") }
        case "exclusiveMinimum":
            node.exclusiveMinimum = bool(value, path) ?? false
            if document["minimum"] == nil { error(path, "needs 'minimum'") }
        case "minLength": node.minLength = count(value, path)
        case "maxLength": node.maxLength = count(value, path)
        case "pattern": node.pattern = string(value, path).flatMap { regex($0, path) }
        case "allOf": node.allOf = combined(value, path, depth)
        case "anyOf": node.anyOf = combined(value, path, depth)
        case "oneOf": node.oneOf = combined(value, path, depth)
        case "not":
            node.not =
                value.document == nil ? combined(value, path, depth) : combined(.array([value]), path, depth)
        case "linkingObjects":
            // Left by client test builders; a back-link is computed, never stored.
            node.types = [.linkingObjects]
        case "$schema", "id", "$id", "$comment", "examples", "foreignKey", "ref", "source_key":
            break
        default: warn(path, "unknown keyword '\(name)' has no effect")
        }
    }

    private mutating func types(_ value: BSONValue, _ path: String, isJSONType: Bool) -> [SchemaType]? {
        let names: [String]
        switch value {
        case .string(let name): names = [name]
        case .array(let elements) where !elements.isEmpty: names = strings(.array(elements), path)
        default:
            error(path, "must be a type name or a non-empty array of type names")
            return nil
        }
        var result: [SchemaType] = []
        for name in names {
            if let type = Self.type(name, isJSONType: isJSONType) {
                if !result.contains(type) { result.append(type) }
            } else if isJSONType, Self.type(name, isJSONType: false) != nil {
                // App Services itself took such files; the name leaves no doubt.
                warn(path, "'\(name)' is a BSON type; write it as 'bsonType'")
                if let type = Self.type(name, isJSONType: false) { result.append(type) }
            } else {
                error(path, "unknown type '\(name)'")
            }
        }
        return result.isEmpty ? nil : result
    }

    private static func type(_ name: String, isJSONType: Bool) -> SchemaType? {
        if isJSONType {
            return switch name {
            case "object": .object
            case "array": .array
            case "number": .number
            case "boolean": .bool
            case "string": .string
            case "null": .null
            default: nil
            }
        }
        return switch name {
        case "boolean": .bool
        case "float": .double
        case "javascriptWithScope": .javascript
        default: SchemaType(rawValue: name)
        }
    }

    private mutating func additional(_ value: BSONValue, _ path: String, _ depth: Int)
        -> SchemaNode.Additional
    {
        switch value {
        case .bool(true): return .allowed
        case .bool(false): return .refused
        case .document(let document): return .schema(node(document, at: path, depth: depth + 1))
        default:
            error(path, "must be a boolean or a schema")
            return .refused
        }
    }

    private mutating func items(
        _ value: BSONValue,
        _ path: String,
        _ depth: Int,
        rest: BSONValue?
    ) -> SchemaNode.Items {
        if case .array = value {
            let positions = nodes(value, path, depth)
            let rest = rest.map { additional($0, path + ".additionalItems", depth) } ?? .allowed
            return .tuple(positions, rest: rest)
        }
        return child(value, path, depth).map { .all($0) } ?? .any
    }

    private mutating func dependencies(
        _ value: BSONValue,
        _ path: String,
        _ depth: Int
    ) -> [(key: String, dependency: SchemaNode.Dependency)] {
        guard let document = value.document else {
            error(path, "must be an object")
            return []
        }
        var result: [(key: String, dependency: SchemaNode.Dependency)] = []
        for field in document {
            let here = jsonPath(path, field.key)
            if case .array = field.value {
                result.append((field.key, .keys(strings(field.value, here))))
            } else if let child = child(field.value, here, depth) {
                if child.hasValidate { error(here, "'validate' cannot stand in here") }
                result.append((field.key, .schema(child)))
            }
        }
        return result
    }

    private mutating func child(_ value: BSONValue, _ path: String, _ depth: Int) -> SchemaNode? {
        guard let document = value.document else {
            error(path, "must be a schema object")
            return nil
        }
        return node(document, at: path, depth: depth + 1)
    }

    private mutating func nodes(_ value: BSONValue, _ path: String, _ depth: Int) -> [SchemaNode] {
        var result: [SchemaNode] = []
        for (index, element) in nonEmptyArray(value, path).enumerated() {
            if let child = child(element, "\(path)[\(index)]", depth) { result.append(child) }
        }
        return result
    }

    /// Members of a combinator.
    ///
    /// A rule expression has no say in one: its failure is one of the
    /// document, not one of an alternative.
    private mutating func combined(_ value: BSONValue, _ path: String, _ depth: Int) -> [SchemaNode] {
        let members = nodes(value, path, depth)
        if members.contains(where: \.hasValidate) { error(path, "'validate' cannot stand in here") }
        return members
    }

    private mutating func namedNodes(
        _ value: BSONValue,
        _ path: String,
        _ depth: Int
    ) -> [(name: String, node: SchemaNode)] {
        guard let document = value.document else {
            error(path, "must be an object")
            return []
        }
        var result: [(name: String, node: SchemaNode)] = []
        for field in document {
            if let child = child(field.value, jsonPath(path, field.key), depth) {
                result.append((field.key, child))
            }
        }
        return result
    }

    private mutating func regex(_ text: String, _ path: String) -> RegexPattern? {
        let pattern = RegexPattern(pattern: text, options: "")
        if let problem = SchemaPattern.problem(pattern) {
            error(path, "the pattern is not a regular expression: \(problem)")
            return nil
        }
        return pattern
    }

    private mutating func string(_ value: BSONValue, _ path: String) -> String? {
        if value.string == nil { error(path, "must be a string") }
        return value.string
    }

    private mutating func strings(_ value: BSONValue, _ path: String) -> [String] {
        guard let elements = value.array else {
            error(path, "must be an array of strings")
            return []
        }
        var result: [String] = []
        for (index, element) in elements.enumerated() {
            if let text = string(element, "\(path)[\(index)]") { result.append(text) }
        }
        return result
    }

    private mutating func nonEmptyArray(_ value: BSONValue, _ path: String) -> [BSONValue] {
        guard let elements = value.array, !elements.isEmpty else {
            error(path, "must be a non-empty array")
            return []
        }
        return elements
    }

    private mutating func bool(_ value: BSONValue, _ path: String) -> Bool? {
        if value.bool == nil { error(path, "must be a boolean") }
        return value.bool
    }

    private mutating func number(_ value: BSONValue, _ path: String) -> BSONValue? {
        switch value {
        case .double, .int32, .int64, .decimal128: return value
        default:
            error(path, "must be a number")
            return nil
        }
    }

    private mutating func count(_ value: BSONValue, _ path: String) -> Int? {
        guard let number = value.exactInt64, let count = Int(exactly: number), count >= 0 else {
            error(path, "must be a whole number of at least 0")
            return nil
        }
        return count
    }
}

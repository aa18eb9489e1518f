import BSON
import Errors

/// Reads the operand of `$jsonSchema`.
struct JSONSchemaParser {
    let budget: ParseBudget
    private var depth = 0

    init(budget: ParseBudget) {
        self.budget = budget
    }

    /// A whole schema.
    ///
    /// - Throws: ``ServiceError`` with server code 14 for a keyword's type, 9 for its shape, 2 for an unknown
    ///   type or a bad pattern of names, 51091 for a bad pattern.
    static func parse(_ value: BSONValue, _ budget: ParseBudget) throws(ServiceError) -> JSONSchema {
        guard case .document(let document) = value else { throw wrongType("$jsonSchema", "an object") }
        return try JSONSchemaParser(budget: budget).schema(document)
    }

    /// One level; what lies inside is one deeper.
    private func schema(_ document: BSONDocument) throws(ServiceError) -> JSONSchema {
        if depth >= FilterParsing.maximumDepth {
            throw .mongo(
                .overflow,
                "$jsonSchema exceeds the maximum nesting depth of \(FilterParsing.maximumDepth)"
            )
        }
        try budget.addConditions(max(document.count, 1))
        var inner = self
        inner.depth += 1
        for key in document.keys where !Self.known.contains(key) {
            throw .mongo(
                .failedToParse,
                Self.unserved.contains(key)
                    ? "$jsonSchema keyword '\(key)' is not currently supported"
                    : "Unknown $jsonSchema keyword: \(key)"
            )
        }
        for key in ["title", "description"] {
            guard let value = document[key] else { continue }
            guard case .string = value else { throw Self.wrongType(key, "a string") }
        }
        var keywords: [JSONSchema.Keyword] = []
        try inner.addTypes(document, to: &keywords)
        try inner.addNumbers(document, to: &keywords)
        try inner.addRanges(document, to: &keywords)
        try inner.addItems(document, to: &keywords)
        try inner.addProperties(document, to: &keywords)
        try inner.addCombinations(document, to: &keywords)
        return JSONSchema(keywords: keywords)
    }

    /// A schema among a keyword's operands.
    func schema(_ key: String, _ value: BSONValue) throws(ServiceError) -> JSONSchema {
        guard case .document(let document) = value else { throw Self.wrongType(key, "an object") }
        return try schema(document)
    }

    func schemas(_ key: String, _ values: [BSONValue]) throws(ServiceError) -> [JSONSchema] {
        try budget.checkList(key, values.count)
        var schemas: [JSONSchema] = []
        for value in values { schemas.append(try schema(key, value)) }
        return schemas
    }

    private static let known: Set<String> = [
        "title", "description", "type", "bsonType", "enum", "minimum", "exclusiveMinimum", "maximum",
        "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern", "minItems", "maxItems",
        "uniqueItems",
        "items", "additionalItems", "minProperties", "maxProperties", "required", "properties",
        "patternProperties",
        "additionalProperties", "dependencies", "allOf", "anyOf", "oneOf", "not",
    ]
    private static let unserved: Set<String> = [
        "$ref", "$schema", "default", "definitions", "format", "id", "encrypt", "encryptMetadata",
    ]

    static func wrongType(_ key: String, _ wanted: StaticString) -> ServiceError {
        .mongo(.typeMismatch, "$jsonSchema keyword '\(known: key)' must be \(known: wanted)")
    }

    static func malformed(_ key: String, _ wanted: StaticString) -> ServiceError {
        .mongo(.failedToParse, "$jsonSchema keyword '\(known: key)' \(known: wanted)")
    }
}

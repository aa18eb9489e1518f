import BSON
import Errors

/// The keywords about fields, and those that combine schemas.
extension JSONSchemaParser {
    func addProperties(_ document: BSONDocument, to keywords: inout [JSONSchema.Keyword]) throws(ServiceError)
    {
        if let value = document["required"] {
            guard case .array(let members) = value else { throw Self.wrongType("required", "an array") }
            if members.isEmpty { throw Self.malformed("required", "cannot be an empty array") }
            try budget.checkList("required", members.count)
            keywords.append(.required(try Self.strings("required", members)))
        }
        var properties: [JSONSchema.Property] = []
        for (name, schema) in try members(document, "properties") {
            properties.append(JSONSchema.Property(name: name, schema: schema))
        }
        var patterns: [JSONSchema.PatternProperty] = []
        for (name, schema) in try members(document, "patternProperties") {
            let pattern: RegexPattern
            do throws(ServiceError) {
                pattern = try PatternParser.pattern(BSONRegularExpression(pattern: name, options: ""), budget)
            } catch {
                guard error.serverCode?.number == 51091 else { throw error }
                throw .mongo(
                    .badValue,
                    "$jsonSchema keyword 'patternProperties': '\(MessageText.shortened(name))' is no pattern"
                )
            }
            patterns.append(JSONSchema.PatternProperty(pattern: pattern, schema: schema))
        }
        let rest = try rest(document, "additionalProperties")
        if !properties.isEmpty || !patterns.isEmpty || rest != nil {
            keywords.append(.properties(properties, patterns: patterns, rest: rest))
        }
        try addDependencies(document, to: &keywords)
    }

    private func members(_ document: BSONDocument, _ key: String) throws(ServiceError) -> [(
        String, JSONSchema
    )] {
        guard let value = document[key] else { return [] }
        guard case .document(let members) = value else { throw Self.wrongType(key, "an object") }
        try budget.checkList(key, members.count)
        var schemas: [(String, JSONSchema)] = []
        for member in members { schemas.append((member.key, try schema(key, member.value))) }
        return schemas
    }

    private func addDependencies(_ document: BSONDocument, to keywords: inout [JSONSchema.Keyword])
        throws(ServiceError)
    {
        guard let value = document["dependencies"] else { return }
        guard case .document(let members) = value else { throw Self.wrongType("dependencies", "an object") }
        try budget.checkList("dependencies", members.count)
        for member in members {
            switch member.value {
            case .document: keywords.append(.dependency(member.key, try schema("dependencies", member.value)))
            case .array(let names):
                if names.isEmpty { throw Self.malformed("dependencies", "cannot have an empty array") }
                try budget.checkList("dependencies", names.count)
                let required = JSONSchema.Keyword.required(try Self.strings("dependencies", names))
                keywords.append(.dependency(member.key, JSONSchema(keywords: [required])))
            default: throw Self.wrongType("dependencies", "an object of objects and arrays")
            }
        }
    }

    func addCombinations(_ document: BSONDocument, to keywords: inout [JSONSchema.Keyword])
        throws(ServiceError)
    {
        if let schemas = try combination(document, "allOf") { keywords.append(.allOf(schemas)) }
        if let schemas = try combination(document, "anyOf") { keywords.append(.anyOf(schemas)) }
        if let schemas = try combination(document, "oneOf") { keywords.append(.oneOf(schemas)) }
        if let value = document["not"] { keywords.append(.not(try schema("not", value))) }
    }

    private func combination(_ document: BSONDocument, _ key: String) throws(ServiceError) -> [JSONSchema]? {
        guard let value = document[key] else { return nil }
        guard case .array(let members) = value else { throw Self.wrongType(key, "an array") }
        if members.isEmpty {
            throw .mongo(.badValue, "$jsonSchema keyword '\(known: key)' must be a nonempty array")
        }
        return try schemas(key, members)
    }
}

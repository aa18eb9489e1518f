import BSON
import Errors

/// The keywords about values: types, numbers, lengths and elements.
extension JSONSchemaParser {
    func addTypes(_ document: BSONDocument, to keywords: inout [JSONSchema.Keyword]) throws(ServiceError) {
        if document["type"] != nil, document["bsonType"] != nil {
            throw .mongo(.failedToParse, "Cannot specify both $jsonSchema keywords 'type' and 'bsonType'")
        }
        for key in ["type", "bsonType"] {
            guard let value = document[key] else { continue }
            let names = try Self.names(key, value)
            var types = Set<BSONType>()
            for name in names { types.formUnion(try Self.types(name, isJSON: key == "type")) }
            keywords.append(.types(types))
        }
        guard let value = document["enum"] else { return }
        guard case .array(let members) = value else { throw Self.wrongType("enum", "an array") }
        try budget.checkList("enum", members.count)
        if members.isEmpty { throw Self.malformed("enum", "cannot be an empty array") }
        let ordered = members.map(\.withSortedFields)
        if Set(ordered.map { BSONKey($0) }).count < ordered.count {
            throw Self.malformed("enum", "cannot contain duplicate values")
        }
        keywords.append(.values(ordered))
    }

    /// One name, or an array of different ones.
    private static func names(_ key: String, _ value: BSONValue) throws(ServiceError) -> [String] {
        let members: [BSONValue]
        switch value {
        case .string: members = [value]
        case .array(let elements): members = elements
        default: throw wrongType(key, "a string or an array of strings")
        }
        if members.isEmpty { throw malformed(key, "must name at least one type") }
        return try strings(key, members)
    }

    /// Texts that all differ.
    static func strings(_ key: String, _ members: [BSONValue]) throws(ServiceError) -> [String] {
        var names: [String] = []
        var seen = Set<ByteText>()
        for member in members {
            guard case .string(let name) = member else { throw wrongType(key, "an array of strings") }
            guard seen.insert(ByteText(name)).inserted else {
                throw malformed(key, "has a value twice")
            }
            names.append(name)
        }
        return names
    }

    /// The types of a name; JSON has but six of them, of which `boolean` is one.
    private static func types(_ name: String, isJSON: Bool) throws(ServiceError) -> Set<BSONType> {
        if name == "integer" {
            throw .mongo(.failedToParse, "$jsonSchema type 'integer' is not currently supported.")
        }
        if name == "number" { return [.int32, .int64, .double, .decimal128] }
        if isJSON, name == "boolean" { return [.bool] }
        let isKnown = !isJSON || ["object", "array", "string", "null"].contains(name)
        guard isKnown, let type = BSONType(alias: name) else {
            throw .mongo(.badValue, "Unknown type name alias: \(MessageText.shortened(name))")
        }
        return [type]
    }

    func addNumbers(_ document: BSONDocument, to keywords: inout [JSONSchema.Keyword]) throws(ServiceError) {
        for (key, exclusive, inside, outside) in [
            ("minimum", "exclusiveMinimum", ComparisonOperator.greaterOrEqual, ComparisonOperator.greater),
            ("maximum", "exclusiveMaximum", .lessOrEqual, .less),
        ] {
            var isExclusive = false
            if let value = document[exclusive] {
                guard case .bool(let flag) = value else { throw Self.wrongType(exclusive, "a boolean") }
                if document[key] == nil {
                    throw .mongo(
                        .failedToParse,
                        "$jsonSchema keyword '\(known: key)' must be a present if \(known: exclusive) is present"
                    )
                }
                isExclusive = flag
            }
            guard let value = document[key] else { continue }
            guard value.isNumber else { throw Self.wrongType(key, "a number") }
            keywords.append(.compare(isExclusive ? outside : inside, value))
        }
        guard let value = document["multipleOf"] else { return }
        guard let number = NumericValue(value) else { throw Self.wrongType("multipleOf", "a number") }
        if number.isNaN || number.isZero || number.isBelowZero {
            throw Self.malformed("multipleOf", "must have a positive value")
        }
        keywords.append(.multipleOf(value))
    }

    func addRanges(_ document: BSONDocument, to keywords: inout [JSONSchema.Keyword]) throws(ServiceError) {
        if let range = try range(document, "minLength", "maxLength") { keywords.append(.length(range)) }
        if let range = try range(document, "minItems", "maxItems") { keywords.append(.items(range)) }
        if let range = try range(document, "minProperties", "maxProperties") {
            keywords.append(.fields(range))
        }
        guard let value = document["pattern"] else { return }
        guard case .string(let pattern) = value else { throw Self.wrongType("pattern", "a string") }
        keywords.append(
            .pattern(try PatternParser.pattern(BSONRegularExpression(pattern: pattern, options: ""), budget))
        )
    }

    /// What two keywords allow; nil without either.
    ///
    /// Nothing fits where the least is above the most.
    private func range(_ document: BSONDocument, _ least: String, _ most: String) throws(ServiceError)
        -> ClosedRange<Int>?
    {
        let low = try Self.count(document, least)
        let high = try Self.count(document, most)
        guard low != nil || high != nil else { return nil }
        let start = low ?? 0
        // No value has so many.
        guard start <= high ?? .max else { return Int.max...Int.max }
        return start...(high ?? .max)
    }

    private static func count(_ document: BSONDocument, _ key: String) throws(ServiceError) -> Int? {
        guard let value = document[key] else { return nil }
        guard let number = NumericValue(value)?.exactInt64, number >= 0 else {
            throw malformed(key, "must be a representable non-negative integer")
        }
        return Int(number)
    }

    func addItems(_ document: BSONDocument, to keywords: inout [JSONSchema.Keyword]) throws(ServiceError) {
        if let value = document["uniqueItems"] {
            guard case .bool(let flag) = value else { throw Self.wrongType("uniqueItems", "a boolean") }
            if flag { keywords.append(.uniqueItems) }
        }
        let rest = try rest(document, "additionalItems")
        switch document["items"] {
        case nil: break
        case .document(let inner)?: keywords.append(.elements(try schema("items", .document(inner))))
        case .array(let members)?: keywords.append(.tuple(try schemas("items", members), rest: rest))
        default: throw Self.wrongType("items", "an array or an object")
        }
    }

    /// `additionalItems`, `additionalProperties`: nil allows everything.
    func rest(_ document: BSONDocument, _ key: String) throws(ServiceError) -> JSONSchema? {
        switch document[key] {
        case nil: return nil
        case .bool(let flag)?: return flag ? nil : .never
        case .document(let inner)?: return try schema(key, .document(inner))
        default: throw Self.wrongType(key, "either an object or a boolean")
        }
    }
}

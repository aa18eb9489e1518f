public import BSON

/// What `$jsonSchema` asks of one value: the keywords of JSON Schema draft 4 that MongoDB has.
///
/// A keyword about another type than the value's holds. Source: MongoDB manual, `$jsonSchema`.
public struct JSONSchema: Sendable, Hashable {
    /// One keyword.
    public indirect enum Keyword: Sendable, Hashable {
        /// `type`, `bsonType`
        case types(Set<BSONType>)
        /// `enum`; fields of objects may stand in any order.
        case values([BSONValue])
        /// `minimum`, `maximum`, inclusive or not.
        case compare(ComparisonOperator, BSONValue)
        case multipleOf(BSONValue)
        /// In code points.
        case length(ClosedRange<Int>)
        case pattern(RegexPattern)
        /// How many elements an array has.
        case items(ClosedRange<Int>)
        case uniqueItems
        /// Every element.
        case elements(JSONSchema)
        /// An element by its place, and those behind.
        case tuple([JSONSchema], rest: JSONSchema?)
        /// How many fields an object has.
        case fields(ClosedRange<Int>)
        case required([String])
        case properties([Property], patterns: [PatternProperty], rest: JSONSchema?)
        /// What the presence of a field demands.
        case dependency(String, JSONSchema)
        case allOf([JSONSchema])
        case anyOf([JSONSchema])
        case oneOf([JSONSchema])
        case not(JSONSchema)
    }

    /// A field by its name.
    public struct Property: Sendable, Hashable {
        let name: String
        let schema: JSONSchema
    }

    /// The fields whose names have a match of a pattern.
    public struct PatternProperty: Sendable, Hashable {
        let pattern: RegexPattern
        let schema: JSONSchema
    }

    /// What must hold, all of it; nothing for `{}`.
    public let keywords: [Keyword]

    /// Fits nothing.
    static let never = JSONSchema(keywords: [.not(JSONSchema(keywords: []))])
}

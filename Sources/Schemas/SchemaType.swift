public import BSON

/// The type names that a schema may use, normalised.
///
/// Real exports write `boolean` for `bool` and `float` for `double`; the parser takes both.
/// Source: `rules.md` §14.1.
public enum SchemaType: String, Sendable, Hashable, CaseIterable {
    case double
    case string
    case object
    case array
    case binData
    case undefined
    case objectId
    case bool
    case date
    case null
    case regex
    case javascript
    case symbol
    case int
    case timestamp
    case long
    case decimal
    case minKey
    case maxKey
    case uuid
    /// Any number.
    case number
    /// Any value.
    case mixed
    /// A computed back-link of a client's model: never stored, so nothing is checked.
    case linkingObjects

    /// Whether a value is of this type.
    ///
    /// A JSON number literal has no width, so a number that the declared type holds without loss
    /// is taken for it: an int32 where `long`, `double` or `decimal` stands, an int64 where
    /// `decimal` stands or `double` holds it exactly.
    public func accepts(_ value: BSONValue) -> Bool {
        switch (self, value) {
        case (.mixed, _), (.linkingObjects, _),
            (.double, .double), (.double, .int32), (.string, .string), (.object, .document), (.array, .array),
            (.binData, .binary), (.undefined, .undefined), (.objectId, .objectID), (.bool, .bool),
            (.date, .date), (.null, .null), (.regex, .regex), (.javascript, .code),
            (.javascript, .codeWithScope), (.symbol, .symbol), (.int, .int32), (.timestamp, .timestamp),
            (.long, .int64), (.long, .int32), (.decimal, .decimal128), (.decimal, .int32),
            (.decimal, .int64), (.minKey, .minKey), (.maxKey, .maxKey), (.number, .double),
            (.number, .int32), (.number, .int64), (.number, .decimal128):
            true
        case (.double, .int64(let number)):
            Int64(exactly: Double(number)) == number
        case (.uuid, .binary(let binary)):
            binary.subtype == 4 && binary.bytes.count == 16
        default:
            false
        }
    }
}

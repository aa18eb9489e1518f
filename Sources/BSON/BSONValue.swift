/// One value of BSON: a case per type, in the order of the specification.
///
/// `==` is identity of representation (`int32(1) != int64(1)`, `0.0 != -0.0`, NaN is itself, field order
/// counts, text by its bytes); MongoDB's equality and order are in ``BSONOrdering``.
/// Source: bsonspec.org 1.1; `reference/mql.md` §1.
public enum BSONValue: Sendable {
    case double(Double)
    case string(String)
    case document(BSONDocument)
    case array([BSONValue])
    case binary(BSONBinary)
    case undefined
    case objectID(ObjectID)
    case bool(Bool)
    /// Milliseconds since 1970-01-01T00:00:00Z; any 64-bit value.
    case date(Int64)
    case null
    indirect case regex(BSONRegularExpression)
    indirect case dbPointer(BSONDBPointer)
    case code(String)
    case symbol(String)
    indirect case codeWithScope(BSONCodeWithScope)
    case int32(Int32)
    case timestamp(BSONTimestamp)
    case int64(Int64)
    case decimal128(Decimal128)
    case minKey
    case maxKey
}

extension BSONValue {
    /// The document, if this is one.
    public var document: BSONDocument? {
        if case .document(let document) = self { document } else { nil }
    }

    /// The elements, if this is an array.
    public var array: [BSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The text, if this is a string.
    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The truth value, if this is a boolean.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// Whether this is the null value.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }
}

extension BSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// An int32 where it fits, an int64 otherwise.
    public init(integerLiteral value: Int64) {
        self = Int32(exactly: value).map { .int32($0) } ?? .int64(value)
    }
    /// A double.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// An array.
    public init(arrayLiteral elements: BSONValue...) { self = .array(elements) }
    /// A document with its fields in the order of the literal.
    public init(dictionaryLiteral elements: (String, BSONValue)...) {
        self = .document(BSONDocument(elements.map { BSONDocument.Field(key: $0, value: $1) }))
    }
}

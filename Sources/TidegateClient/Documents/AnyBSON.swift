public import Foundation

/// One value of a document, by MongoDB's types.
///
/// Types that have no case here (regular expressions, timestamps, code, minKey …) are the documents that canonical
/// Extended JSON writes for them, and go back as they came.
public enum AnyBSON: Sendable, Hashable {
    case null
    case bool(Bool)
    case int32(Int32)
    case int64(Int64)
    case double(Double)
    case string(String)
    /// To the millisecond.
    case datetime(Date)
    case objectId(ObjectId)
    case decimal128(Decimal128)
    /// Of subtype 0.
    case binary(Data)
    case uuid(UUID)
    case array([AnyBSON])
    case document(Document)
}

/// A decimal number as MongoDB writes it: `1.50`, `NaN`, `1E+3`.
public struct Decimal128: Sendable, Hashable, CustomStringConvertible {
    /// The number's text.
    public let description: String

    /// Of a number's text, which the server checks.
    public init(_ text: String) {
        description = text
    }
}

extension AnyBSON {
    /// The text of a string.
    public var stringValue: String? { if case .string(let value) = self { value } else { nil } }

    /// The document of a document.
    public var documentValue: Document? { if case .document(let value) = self { value } else { nil } }

    /// The elements of an array.
    public var arrayValue: [AnyBSON]? { if case .array(let value) = self { value } else { nil } }

    /// The id of an ObjectId.
    public var objectIdValue: ObjectId? { if case .objectId(let value) = self { value } else { nil } }

    /// The truth of a bool.
    public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// A whole number, whatever type it has.
    public var asInt: Int? {
        switch self {
        case .int32(let value): Int(value)
        case .int64(let value): Int(exactly: value)
        case .double(let value): Int(exactly: value)
        default: nil
        }
    }
}

extension AnyBSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A long.
    public init(integerLiteral value: Int64) { self = .int64(value) }
    /// A double.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// A bool.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Null.
    public init(nilLiteral: ()) { self = .null }
    /// An array.
    public init(arrayLiteral elements: AnyBSON...) { self = .array(elements) }
    /// A document, in this order.
    public init(dictionaryLiteral elements: (String, AnyBSON)...) { self = .document(Document(elements)) }
}

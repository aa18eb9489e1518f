import Crypto
public import Errors

/// The text of an `_id`: equal exactly when the ids are equal in BSON, sorted as BSON sorts them.
///
/// Shape: one character for the bracket, then a payload that sorts bytewise (collation `C`):
///
/// ```
/// a MinKey   d null   m NaN   n<number>   s<text>   t<document>   w<binary>   x<ObjectId hex>
/// y0 y1      z<date>  {<timestamp>        }<pointer, code>        ~ MaxKey
/// ```
///
/// A number is its class (`1` −∞, `2` negative, `3` zero, `4` positive, `5` +∞), the decimal exponent plus
/// 10000 in five digits, and its significant digits; for negative ones exponent and digits are complemented
/// and `~` closes them. Digits are exact, so that `1`, `1.0` and `Decimal("1.00")` share a key while the double
/// 0.1 and the decimal 0.1 do not. Inside documents texts are closed by U+0001.
///
/// A btree entry holds about 2 700 bytes; a longer key becomes its first 2 560 bytes and a SHA-256, which keeps
/// it unique but sorts it only by those bytes.
///
/// Source: `storage-study.md` §2; `reference/mql.md` §1.2.
public enum TypedKey {
    /// The longest key that is kept whole, in bytes.
    static let wholeLimit = 2600
    private static let prefixBytes = 2560

    /// The key of an id.
    ///
    /// - Throws: ``ServiceError`` InvalidIdField (53) for an array, a regular expression or undefined;
    ///   `invalidParameter` for a NUL character, which PostgreSQL cannot keep.
    public static func text(_ id: BSONValue) throws(ServiceError) -> String {
        var writer = TypedKeyWriter()
        switch id {
        case .array, .regex, .undefined:
            throw .mongo(.invalidIdField, "The '_id' value cannot be of type \(id.type.alias)")
        case .double(let number) where number.isNaN: writer.bytes.append(UInt8(ascii: "m"))
        case .decimal128(let number) where number.isNaN: writer.bytes.append(UInt8(ascii: "m"))
        case .string(let text), .symbol(let text):
            writer.appendBracket(of: id)
            writer.bytes.append(contentsOf: text.utf8)
        default:
            writer.appendBracket(of: id)
            writer.appendPayload(of: id, isNested: false)
        }
        guard !writer.bytes.contains(0) else {
            throw ServiceError(
                .invalidParameter,
                "an _id with a NUL character (U+0000) cannot be stored",
                serverCode: .badValue
            )
        }
        return String(decoding: shortened(writer.bytes), as: UTF8.self)
    }

    /// The range of keys whose ids are comparable with a value: `lower <= key < upper`.
    ///
    /// NaN has a range of its own, since no number is above or below it in a query.
    public static func bounds(ofBracketOf value: BSONValue) -> (lower: String, upper: String) {
        switch value {
        case .minKey: ("a", "b")
        case .null, .undefined: ("d", "e")
        case .double(let number): number.isNaN ? ("m", "n") : ("n", "o")
        case .decimal128(let number): number.isNaN ? ("m", "n") : ("n", "o")
        case .int32, .int64: ("n", "o")
        case .string, .symbol: ("s", "t")
        case .document: ("t", "u")
        case .array: ("u", "v")
        case .binary: ("w", "x")
        case .objectID: ("x", "y")
        case .bool: ("y", "z")
        case .date: ("z", "{")
        case .timestamp: ("{", "|")
        case .regex: ("|", "}")
        case .dbPointer: ("}0", "}1")
        case .code: ("}1", "}2")
        case .codeWithScope: ("}2", "}3")
        case .maxKey: ("~", "\u{7F}")
        }
    }

    /// The first of the ``bounds(ofBracketOf:)``.
    public static func lowerBound(ofBracketOf value: BSONValue) -> String { bounds(ofBracketOf: value).lower }

    /// The second of the ``bounds(ofBracketOf:)``, itself outside.
    public static func upperBound(ofBracketOf value: BSONValue) -> String { bounds(ofBracketOf: value).upper }

    /// A shortened key is longer than every whole one, so the two kinds never meet.
    private static func shortened(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.count > wholeLimit else { return bytes }
        var cut = prefixBytes
        // Not within a character: its following bytes begin with the bits 10.
        while cut > 0, bytes[cut] & 0xC0 == 0x80 { cut -= 1 }
        var key = Array(bytes[..<cut])
        while key.count < prefixBytes { key.append(UInt8(ascii: "#")) }
        for byte in SHA256.hash(data: bytes) { JSONText.appendHexadecimal(byte, to: &key) }
        return key
    }
}

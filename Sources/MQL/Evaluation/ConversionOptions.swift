import BSON
import Errors

/// How a conversion spells bytes: the members `format`, `byteOrder` and `to.subtype` of `$convert`.
struct ConversionOptions {
    /// How bytes are written as text.
    enum Format: String {
        case base64
        case base64url
        case utf8
        case hex
        case uuid
        /// UUIDs as such and everything else in base64; to text alone.
        case automatic = "auto"
    }

    /// Which byte of a number comes first.
    enum ByteOrder: String {
        case little
        case big
    }

    var format: Format?
    var order = ByteOrder.little
    var subtype: UInt8 = 0

    /// What `$toString` means.
    static let automatic = ConversionOptions(format: .automatic)
    /// What `$toUUID` means.
    static let uuid = ConversionOptions(format: .uuid, subtype: 4)

    /// - Throws: ``ServiceError`` with server code 4341106 to 4341108, 4341114, 4341125, 9130001 or 9130002
    ///   for the option that is wrong.
    init(type: BSONType, target: BSONValue, format: BSONValue?, order: BSONValue?) throws(ServiceError) {
        if let format = try Self.word(Format.self, "format", format, noText: 4_341_114, unknown: 4_341_125) {
            self.format = format
        }
        if let order = try Self.word(
            ByteOrder.self,
            "byteOrder",
            order,
            noText: 9_130_001,
            unknown: 9_130_002
        ) {
            self.order = order
        }
        if type == .binary, case .document(let document) = target, let subtype = document["subtype"] {
            self.subtype = try Self.subtype(subtype)
        }
    }

    /// One of the words that a member may have; nil when it is not given.
    private static func word<Word: RawRepresentable<String>>(
        _: Word.Type,
        _ member: String,
        _ value: BSONValue?,
        noText: Int,
        unknown: Int
    ) throws(ServiceError) -> Word? {
        guard let value, !value.isNullish else { return nil }
        guard case .string(let name) = value else {
            throw .mongo(
                noText,
                "$convert requires that '\(known: member)' be a string, found: \(known: TypeName.of(value))"
            )
        }
        guard let word = Word(rawValue: name) else {
            throw .mongo(
                unknown,
                "$convert: Invalid '\(known: member)' argument: '\(MessageText.shortened(name))'"
            )
        }
        return word
    }

    private init(format: Format, subtype: UInt8 = 0) {
        self.format = format
        self.subtype = subtype
    }

    init() {}

    private static func subtype(_ value: BSONValue) throws(ServiceError) -> UInt8 {
        guard let number = NumericValue(value) else {
            throw .mongo(
                4_341_108,
                "$convert's 'subtype' argument must be a number, but is \(known: TypeName.of(value))"
            )
        }
        guard let whole = number.exactInt64 else {
            throw .mongo(4_341_106, "In $convert, numeric 'subtype' argument is not an integer")
        }
        guard (0...9).contains(whole) || (128...255).contains(whole), let subtype = UInt8(exactly: whole)
        else {
            throw .mongo(
                4_341_107,
                "In $convert, numeric value for 'subtype' does not correspond to a BinData type: \(whole)"
            )
        }
        return subtype
    }
}

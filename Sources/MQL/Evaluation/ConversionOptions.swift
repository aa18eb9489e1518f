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
        if let format, !format.isNullish {
            guard case .string(let name) = format else {
                throw .mongo(
                    4_341_114,
                    "$convert requires that 'format' be a string, found: \(known: TypeName.of(format))"
                )
            }
            guard let known = Format(rawValue: name) else {
                throw .mongo(
                    4_341_125,
                    "$convert: Invalid 'format' argument: '\(MessageText.shortened(name))'"
                )
            }
            self.format = known
        }
        if let order, !order.isNullish {
            guard case .string(let name) = order else {
                throw .mongo(
                    9_130_001,
                    "$convert requires that 'byteOrder' be a string, found: \(known: TypeName.of(order))"
                )
            }
            guard let known = ByteOrder(rawValue: name) else {
                throw .mongo(
                    9_130_002,
                    "$convert: Invalid 'byteOrder' argument: '\(MessageText.shortened(name))'"
                )
            }
            self.order = known
        }
        if type == .binary, case .document(let document) = target, let subtype = document["subtype"] {
            self.subtype = try Self.subtype(subtype)
        }
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

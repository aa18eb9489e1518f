import BSON
import Errors

/// Conversions from bytes and to bytes.
///
/// Source: MongoDB manual, `$convert`; `documentdb/functional-tests`, `expressions/type/convert`.
enum BinaryConversion {
    /// Bytes as text.
    ///
    /// - Throws: ``ServiceError`` with server code 241 for bytes that the format cannot write, 4341115 without one.
    static func text(_ binary: BSONBinary, _ format: ConversionOptions.Format?) throws(ServiceError) -> String
    {
        guard let format = format else { throw missingFormat }
        let isUUID = binary.subtype == 4 && binary.bytes.count == 16
        switch format {
        case .uuid:
            guard isUUID else { throw Conversion.unsupported(.binary(binary), .string) }
            return BinaryText.uuid(binary.bytes)
        case .automatic where isUUID: return BinaryText.uuid(binary.bytes)
        case .utf8:
            let bytes = written(binary)
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw .mongo(.conversionFailure, "Invalid UTF-8 in $convert with no onError value")
            }
            try ValueSize.checkText(text.utf8.count)
            return text
        case .hex:
            let bytes = written(binary)
            try checkLength(bytes.count * 2)
            return BinaryText.hexadecimal(bytes)
        case .base64, .base64url, .automatic:
            let bytes = written(binary)
            try checkLength((bytes.count + 2) / 3 * 4)
            var text: [UInt8] = []
            Base64.append(bytes, to: &text)
            if format == .base64url { text = urlSafe(text) }
            return String(decoding: text, as: UTF8.self)
        }
    }

    /// A number's bytes, or those that a text writes down.
    ///
    /// - Throws: ``ServiceError`` with server code 241 for what has none, 4341115 for a text without format.
    static func binary(_ value: BSONValue, _ options: ConversionOptions) throws(ServiceError) -> BSONBinary {
        switch value {
        case .binary(let binary):
            guard binary.subtype == options.subtype else {
                throw .mongo(
                    .conversionFailure,
                    "Conversions between different binData subtypes are not supported in $convert with no onError value"
                )
            }
            return binary
        case .int32(let number): return bytes(UInt64(UInt32(bitPattern: number)), 4, options)
        case .int64(let number): return bytes(UInt64(bitPattern: number), 8, options)
        case .double(let number): return bytes(number.bitPattern, 8, options)
        case .string(let text):
            guard let format = options.format else { throw missingFormat }
            guard (format == .uuid) == (options.subtype == 4), let bytes = decoded(text, format) else {
                throw Conversion.unreadable(text, "\(format.rawValue) binData")
            }
            return BSONBinary(subtype: options.subtype, bytes: bytes)
        default: throw Conversion.unsupported(value, .binary)
        }
    }

    /// One, two, four or eight bytes as an integer, sign-extended.
    static func integer(_ binary: BSONBinary, _ type: BSONType, _ order: ConversionOptions.ByteOrder)
        throws(ServiceError) -> Int64
    {
        let bytes = written(binary)
        let count = bytes.count
        guard [1, 2, 4, 8].contains(count), count <= (type == .int32 ? 4 : 8) else {
            throw Conversion.unsupported(.binary(binary), type)
        }
        let shift = UInt64(64 - 8 * count)
        return Int64(bitPattern: bits(bytes, order) << shift) >> Int64(shift)
    }

    /// Four or eight bytes as a floating-point number.
    static func double(_ binary: BSONBinary, _ order: ConversionOptions.ByteOrder) throws(ServiceError)
        -> Double
    {
        let bytes = written(binary)
        switch bytes.count {
        case 4: return Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits(bytes, order))))
        case 8: return Double(bitPattern: bits(bytes, order))
        default: throw Conversion.unsupported(.binary(binary), .double)
        }
    }

    private static func bits(_ bytes: [UInt8], _ order: ConversionOptions.ByteOrder) -> UInt64 {
        (order == .little ? bytes.reversed() : bytes).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }

    private static func bytes(_ bits: UInt64, _ count: Int, _ options: ConversionOptions) -> BSONBinary {
        let little = (0..<count).map { UInt8(truncatingIfNeeded: bits >> UInt64(8 * $0)) }
        return BSONBinary(
            subtype: options.subtype,
            bytes: options.order == .little ? little : little.reversed()
        )
    }

    /// The bytes as BSON stores them: the old subtype 2 begins with its length.
    private static func written(_ binary: BSONBinary) -> [UInt8] {
        guard binary.subtype == 2 else { return binary.bytes }
        let length = UInt32(truncatingIfNeeded: binary.bytes.count)
        return (0..<4).map { UInt8(truncatingIfNeeded: length >> UInt32(8 * $0)) } + binary.bytes
    }

    private static func decoded(_ text: String, _ format: ConversionOptions.Format) -> [UInt8]? {
        switch format {
        case .automatic: return nil
        case .utf8: return Array(text.utf8)
        case .uuid: return BinaryText.bytes(uuid: text)
        case .hex: return BinaryText.bytes(hexadecimal: text)
        case .base64:
            let isStandard = text.utf8.allSatisfy { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }
            return isStandard && text.utf8.count % 4 == 0 ? Base64.decode(text) : nil
        case .base64url:
            let isSafe = text.utf8.allSatisfy { $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "/") }
            return isSafe ? Base64.decode(text) : nil
        }
    }

    /// Base64 without padding and with the two characters that URLs allow.
    private static func urlSafe(_ text: [UInt8]) -> [UInt8] {
        text.compactMap { character in
            switch character {
            case UInt8(ascii: "="): nil
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: character
            }
        }
    }

    private static func checkLength(_ length: Int) throws(ServiceError) {
        if length >= ValueSize.maximumText {
            throw .mongo(.conversionFailure, "Resulting string is too long in $convert with no onError value")
        }
    }

    private static var missingFormat: ServiceError {
        .mongo(
            4_341_115,
            "Missing 'format' argument for $convert between binData and string"
        )
    }
}

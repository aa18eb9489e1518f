import BSON
import Errors

/// Conversions between types, as `$convert` and `$toInt` and its relatives make them.
///
/// Source: MongoDB manual, `$convert`.
enum Conversion {
    /// A value, never null, as another type.
    ///
    /// - Throws: ``ServiceError`` with server code 241 for what does not convert.
    static func convert(_ value: BSONValue, to type: BSONType) throws(ServiceError) -> BSONValue {
        switch type {
        case .double: return .double(try double(value))
        case .string: return .string(try text(value))
        case .objectID: return try objectID(value)
        case .bool: return try bool(value)
        case .date: return try date(value)
        case .int32:
            let number = try integer(value, .int32)
            guard let small = Int32(exactly: number) else { throw overflow(value, .int32) }
            return .int32(small)
        case .int64: return .int64(try integer(value, .int64))
        case .decimal128: return .decimal128(try decimal(value))
        default:
            if value.type == type { return value }
            throw unsupported(value, type)
        }
    }

    private static func unsupported(_ value: BSONValue, _ type: BSONType) -> ServiceError {
        .mongo(
            .conversionFailure,
            "Unsupported conversion from \(known: TypeName.of(value)) to \(type.alias) in $convert with no onError value"
        )
    }

    private static func overflow(_ value: BSONValue, _ type: BSONType) -> ServiceError {
        .mongo(
            .conversionFailure,
            "Conversion would overflow target type in $convert with no onError value: \(MessageText.of(value))"
        )
    }

    private static func unreadable(_ text: String, _ what: String) -> ServiceError {
        .mongo(
            .conversionFailure,
            "Failed to parse \(what) '\(MessageText.shortened(text))' in $convert with no onError value"
        )
    }

    private static func integer(_ value: BSONValue, _ type: BSONType) throws(ServiceError) -> Int64 {
        switch value {
        case .bool(let flag): return flag ? 1 : 0
        case .int32(let number): return Int64(number)
        case .int64(let number): return number
        case .double, .decimal128:
            guard let number = NumericValue(value)?.truncatedInt64 else { throw overflow(value, type) }
            return number
        case .date(let milliseconds) where type == .int64: return milliseconds
        case .string(let text):
            // Only an optional sign and digits: Int64 reads the same, and nothing more.
            guard let number = Int64(text) else { throw unreadable(text, "number") }
            return number
        case .binary(let binary)
        where [1, 2, 4, 8].contains(binary.bytes.count) && binary.bytes.count <= (type == .int32 ? 4 : 8):
            // Little-endian, sign-extended.
            let count = binary.bytes.count
            let raw = binary.bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let shift = UInt64(64 - 8 * count)
            return Int64(bitPattern: raw << shift) >> Int64(shift)
        default: throw unsupported(value, type)
        }
    }

    private static func double(_ value: BSONValue) throws(ServiceError) -> Double {
        switch value {
        case .bool(let flag): return flag ? 1 : 0
        case .int32, .int64, .double: return value.doubleValue ?? 0
        case .decimal128(let decimal):
            let number = decimal.doubleValue
            if number.isInfinite, decimal.isFinite { throw overflow(value, .double) }
            return number
        case .date(let milliseconds): return Double(milliseconds)
        case .string(let text):
            guard isDecimalNumber(text), let number = Double(text) else { throw unreadable(text, "number") }
            if number.isInfinite, !text.utf8.contains(where: { $0 | 0x20 == UInt8(ascii: "i") }) {
                throw unreadable(text, "number")
            }
            return number
        case .binary(let binary) where binary.bytes.count == 4:
            let bits = binary.bytes.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            return Double(Float(bitPattern: bits))
        case .binary(let binary) where binary.bytes.count == 8:
            return Double(bitPattern: binary.bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        default: throw unsupported(value, .double)
        }
    }

    private static func decimal(_ value: BSONValue) throws(ServiceError) -> Decimal128 {
        switch value {
        case .bool(let flag): return Decimal128(Int64(flag ? 1 : 0))
        case .date(let milliseconds): return Decimal128(milliseconds)
        case .string(let text):
            guard isDecimalNumber(text), let number = Decimal128(text) else {
                throw unreadable(text, "number")
            }
            return number
        default:
            guard let number = NumericValue(value) else { throw unsupported(value, .decimal128) }
            return number.decimalValue
        }
    }

    /// Digits with sign, point and exponent, or a name of infinity or NaN; no spaces, no hexadecimal.
    private static func isDecimalNumber(_ text: String) -> Bool {
        if text.isEmpty || text.utf8.count > 6200 { return false }
        let lowered = TextCase.lowered(text)
        let bare =
            lowered.utf8.first == UInt8(ascii: "-") || lowered.utf8.first == UInt8(ascii: "+")
            ? String(Substring(lowered.utf8.dropFirst())) : lowered
        if ["nan", "inf", "infinity"].contains(bare) { return true }
        return bare.utf8.allSatisfy {
            (48...57).contains($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "e")
                || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-")
        }
    }

    private static func bool(_ value: BSONValue) throws(ServiceError) -> BSONValue {
        switch value {
        case .bool, .int32, .int64, .double, .decimal128: .bool(value.isTruthy)
        case .string, .objectID, .date, .binary, .document, .array, .regex, .timestamp, .code,
            .codeWithScope, .symbol, .dbPointer, .minKey, .maxKey:
            .bool(true)
        case .null, .undefined: .bool(false)
        }
    }

    private static func date(_ value: BSONValue) throws(ServiceError) -> BSONValue {
        switch value {
        case .date: return value
        case .int64(let number): return .date(number)
        case .double, .decimal128:
            guard let number = NumericValue(value)?.truncatedInt64 else { throw overflow(value, .date) }
            return .date(number)
        case .objectID(let id): return .date(OperatorEvaluator.milliseconds(of: id))
        case .timestamp(let timestamp): return .date(Int64(timestamp.seconds) * 1000)
        case .string(let text):
            guard let date = try DateTextParser.parse(text, format: nil, zone: nil) else {
                throw .mongo(
                    .conversionFailure,
                    "Error parsing date string '\(MessageText.shortened(text))'"
                )
            }
            return .date(date)
        default: throw unsupported(value, .date)
        }
    }

    private static func objectID(_ value: BSONValue) throws(ServiceError) -> BSONValue {
        switch value {
        case .objectID: return value
        case .string(let text):
            guard let id = ObjectID(hex: text) else { throw unreadable(text, "objectId") }
            return .objectID(id)
        default: throw unsupported(value, .objectID)
        }
    }

    private static func text(_ value: BSONValue) throws(ServiceError) -> String {
        switch value {
        case .string(let text): return text
        case .bool(let flag): return String(flag)
        case .int32, .int64, .double, .decimal128: return NumericValue(value)?.text ?? ""
        case .objectID(let id): return id.hex
        case .date(let milliseconds):
            return try DateText.formatted(
                DateFields(local: milliseconds),
                offset: 0,
                format: "%Y-%m-%dT%H:%M:%S.%LZ"
            )
        case .binary(let binary) where binary.subtype == 4 && binary.bytes.count == 16:
            return BinaryText.uuid(binary.bytes)
        default: throw unsupported(value, .string)
        }
    }

    /// A text of 36 characters as a UUID.
    static func uuid(_ value: BSONValue) throws(ServiceError) -> BSONValue {
        switch value {
        case .binary(let binary) where binary.subtype == 4: return value
        case .string(let text):
            guard let bytes = BinaryText.bytes(uuid: text) else { throw unreadable(text, "UUID") }
            return .binary(BSONBinary(subtype: 4, bytes: bytes))
        default: throw unsupported(value, .binary)
        }
    }
}

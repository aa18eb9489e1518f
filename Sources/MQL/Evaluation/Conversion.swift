import BSON
import Errors

/// Conversions between types, as `$convert` and `$toInt` and its relatives make them.
///
/// Source: MongoDB manual, `$convert`.
enum Conversion {
    /// A value, never null, as another type.
    ///
    /// - Throws: ``ServiceError`` with server code 241 for what does not convert.
    static func convert(
        _ value: BSONValue,
        to type: BSONType,
        _ options: ConversionOptions = ConversionOptions()
    ) throws(ServiceError) -> BSONValue {
        if case .binary(let binary) = value {
            switch type {
            case .string: return .string(try BinaryConversion.text(binary, options.format))
            case .double: return .double(try BinaryConversion.double(binary, options.order))
            case .int32:
                return .int32(
                    Int32(truncatingIfNeeded: try BinaryConversion.integer(binary, .int32, options.order))
                )
            case .int64: return .int64(try BinaryConversion.integer(binary, .int64, options.order))
            default: break
            }
        }
        switch type {
        case .binary: return .binary(try BinaryConversion.binary(value, options))
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

    static func unsupported(_ value: BSONValue, _ type: BSONType) -> ServiceError {
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

    static func unreadable(_ text: String, _ what: String) -> ServiceError {
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
            guard isDecimalNumber(text) || isHexadecimalNumber(text), let number = Double(text),
                isInRange(text, isZero: number == 0, isInfinite: number.isInfinite)
            else { throw unreadable(text, "number") }
            return number
        default: throw unsupported(value, .double)
        }
    }

    private static func decimal(_ value: BSONValue) throws(ServiceError) -> Decimal128 {
        switch value {
        case .bool(let flag): return Decimal128(Int64(flag ? 1 : 0))
        case .date(let milliseconds): return Decimal128(milliseconds)
        case .string(let text):
            guard isDecimalNumber(text), let number = Decimal128(text),
                isInRange(text, isZero: number.isZero, isInfinite: number.isInfinite)
            else { throw unreadable(text, "number") }
            return number
        default:
            guard let number = NumericValue(value) else { throw unsupported(value, .decimal128) }
            return number.decimalValue
        }
    }

    /// Digits with sign, point and exponent, or a name of infinity or NaN; no spaces, no hexadecimal.
    private static func isDecimalNumber(_ text: String) -> Bool {
        if text.isEmpty { return false }
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

    /// Whether a text that was read as zero or infinity also says so.
    private static func isInRange(_ text: String, isZero: Bool, isInfinite: Bool) -> Bool {
        if isInfinite { return text.utf8.contains { $0 | 0x20 == UInt8(ascii: "n") } }
        guard isZero else { return true }
        let hasPrefix = text.utf8.contains { $0 | 0x20 == UInt8(ascii: "x") }
        let mark = UInt8(ascii: hasPrefix ? "p" : "e")
        let digits = text.utf8.prefix { $0 | 0x20 != mark }.drop {
            $0 | 0x20 != UInt8(ascii: "x") && hasPrefix
        }
        return !digits.contains {
            (UInt8(ascii: "1")...UInt8(ascii: "9")).contains($0)
                || hasPrefix && (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0 | 0x20)
        }
    }

    /// A hexadecimal number in C's notation; one that begins with `0x` is refused, as MongoDB has it.
    private static func isHexadecimalNumber(_ text: String) -> Bool {
        if text.hasPrefix("0x") { return false }
        var rest = text.utf8[...]
        if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
        guard rest.popFirst() == UInt8(ascii: "0"), let mark = rest.popFirst(),
            mark | 0x20 == UInt8(ascii: "x")
        else { return false }
        return rest.allSatisfy {
            (48...57).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0 | 0x20)
                || $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "p") || $0 == UInt8(ascii: "+")
                || $0 == UInt8(ascii: "-")
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
        default: throw unsupported(value, .string)
        }
    }
}

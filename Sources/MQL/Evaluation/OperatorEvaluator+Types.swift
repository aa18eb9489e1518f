import BSON
import Errors

/// Type operators.
extension OperatorEvaluator {
    func type(_ op: ExpressionOperator, _ values: [BSONValue?]) throws(ServiceError) -> BSONValue {
        let value = values[0]
        switch op {
        case .type: return .string(TypeName.of(value))
        case .isNumber: return .bool(value?.isNumber ?? false)
        case .bsonSize:
            guard let value, !value.isNullish else { return .null }
            guard case .document(let document) = value else {
                throw .mongo(
                    31393,
                    "$bsonSize requires a document input, found: \(known: TypeName.of(value))"
                )
            }
            return .int32(Int32(clamping: BSONBinaryFormat.size(of: document)))
        case .binarySize:
            guard let value, !value.isNullish else { return .null }
            switch value {
            case .string(let text): return .int32(Int32(clamping: text.utf8.count))
            case .binary(let binary): return .int32(Int32(clamping: binary.bytes.count))
            default:
                throw .mongo(
                    51276,
                    "$binarySize requires a string or BinData argument, found: \(known: TypeName.of(value))"
                )
            }
        case .timestampSecond, .timestampIncrement:
            guard let value, !value.isNullish else { return .null }
            guard case .timestamp(let timestamp) = value else {
                throw .mongo(
                    op == .timestampSecond ? 5_687_301 : 5_687_302,
                    "Argument to \(op.rawValue) must be a timestamp, but is \(known: TypeName.of(value))"
                )
            }
            return .int64(Int64(op == .timestampSecond ? timestamp.seconds : timestamp.increment))
        default: break
        }
        guard let value, !value.isNullish else { return .null }
        switch op {
        case .toString: return try Conversion.convert(value, to: .string, .automatic)
        case .toInt: return try Conversion.convert(value, to: .int32)
        case .toLong: return try Conversion.convert(value, to: .int64)
        case .toDouble: return try Conversion.convert(value, to: .double)
        case .toDecimal: return try Conversion.convert(value, to: .decimal128)
        case .toBool: return try Conversion.convert(value, to: .bool)
        case .toDate: return try Conversion.convert(value, to: .date)
        case .toObjectID: return try Conversion.convert(value, to: .objectID)
        default: return try Conversion.convert(value, to: .binary, .uuid)
        }
    }

    /// Gives a value another type: `{$convert: {input, to, onError, onNull}}`.
    func convert(_ operands: NamedOperands) throws(ServiceError) -> BSONValue? {
        // MongoDB computes constants before it runs, so that a bad one is an error even where it is not needed.
        for constant in ["onNull", "onError"] where operands.isConstant(constant) {
            _ = try operands.value(constant)
        }
        let input = try operands.value("input")
        let target = try operands.value("to")
        guard let input, !input.isNullish else {
            return operands.has("onNull") ? try operands.value("onNull") : .null
        }
        guard let target, !target.isNullish else { return .null }
        let type = try Self.targetType(target)
        let options = try ConversionOptions(
            type: type,
            target: target,
            format: operands.value("format"),
            order: operands.value("byteOrder")
        )
        do throws(ServiceError) {
            return try Conversion.convert(input, to: type, options)
        } catch {
            // 18537: a year that no text can show.
            guard error.serverCode == .conversionFailure || error.serverCode?.number == 18537,
                operands.has("onError")
            else { throw error }
            return try operands.value("onError")
        }
    }

    /// A type by alias or number, alone or as `{type: …}`.
    private static func targetType(_ value: BSONValue) throws(ServiceError) -> BSONType {
        switch value {
        case .string(let alias):
            guard let type = BSONType(alias: alias) else {
                throw .mongo(.badValue, "Unknown type name: \(MessageText.shortened(alias))")
            }
            return type
        case .document(let document):
            guard let inner = document["type"], inner.document == nil else {
                throw .mongo(.failedToParse, "$convert's 'to' argument must have a 'type'")
            }
            return try targetType(inner)
        default:
            guard let number = NumericValue(value) else {
                throw .mongo(
                    .failedToParse,
                    "$convert's 'to' argument must be a string or number, but is \(known: TypeName.of(value))"
                )
            }
            guard let code = number.exactInt32 else {
                throw .mongo(
                    .failedToParse,
                    "In $convert, numeric 'to' argument is not an integer"
                )
            }
            if code == 0 {
                throw .mongo(.conversionFailure, "Conversion to missing is not supported in $convert")
            }
            guard let type = BSONType(rawValue: code) else {
                throw .mongo(
                    .failedToParse,
                    "In $convert, numeric value for 'to' does not correspond to a BSON type: \(code)"
                )
            }
            return type
        }
    }
}

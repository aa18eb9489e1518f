import BSON
import Errors

/// Reads the operand of `$bit`: `{and: 5, or: 2}`.
enum BitOperandParser {
    /// - Throws: ``ServiceError`` with server code 2.
    static func operations(_ key: String, _ value: BSONValue) throws(ServiceError) -> [BitOperation] {
        guard case .document(let document) = value else {
            throw .mongo(
                .badValue,
                "The $bit modifier is not compatible with a \(known: TypeName.of(value)). You must pass in an embedded document: {$bit: {field: {and/or/xor: #}}"
            )
        }
        if document.isEmpty {
            throw .mongo(
                .badValue,
                "You must pass in at least one bitwise operation. The format is: {$bit: {field: {and/or/xor: #}}"
            )
        }
        var operations: [BitOperation] = []
        for field in document {
            guard let bitOperator = BitOperator(rawValue: field.key) else {
                throw .mongo(
                    .badValue,
                    "The $bit modifier only supports 'and', 'or', and 'xor', not '\(field.key)' which is an unknown operator: {\(field.key): \(MongoShellText.describe(field.value))}"
                )
            }
            switch field.value {
            case .int32, .int64: operations.append(BitOperation(bitOperator, field.value))
            default:
                throw .mongo(
                    .badValue,
                    "The $bit modifier field must be an Integer(32/64 bit); a '\(known: TypeName.of(field.value))' is not supported here: {\(field.key): \(MongoShellText.describe(field.value))}"
                )
            }
        }
        return operations
    }
}

import BSON
import Errors

/// Reads the operand of `$type`: a code, an alias, or a list of them.
enum TypeOperandParser {
    /// The types that the operand names; `number` stands for four of them.
    static func types(_ value: BSONValue) throws(ServiceError) -> Set<BSONType> {
        guard case .array(let members) = value else { return try one(value) }
        if members.isEmpty {
            throw .mongo(.failedToParse, "$type must match at least one type")
        }
        var types = Set<BSONType>()
        for member in members { types.formUnion(try one(member)) }
        return types
    }

    private static func one(_ value: BSONValue) throws(ServiceError) -> Set<BSONType> {
        switch value {
        case .string("number"):
            return [.double, .int32, .int64, .decimal128]
        case .string(let alias):
            guard let type = BSONType(alias: alias) else {
                throw .mongo(.badValue, "Unknown type name alias: \(alias)")
            }
            return [type]
        case .double, .int32, .int64, .decimal128:
            guard let number = value.exactInt64, let code = Int32(exactly: number) else {
                throw .mongo(.badValue, "Invalid numerical type code: \(MongoShellText.describe(value))")
            }
            if code == 0 {
                throw .mongo(.badValue, "Invalid numerical type code: 0. Instead use {$exists:false}.")
            }
            guard let type = BSONType(rawValue: code) else {
                throw .mongo(.badValue, "Invalid numerical type code: \(code)")
            }
            return [type]
        default:
            throw .mongo(.typeMismatch, "type must be represented as a number or a string")
        }
    }
}

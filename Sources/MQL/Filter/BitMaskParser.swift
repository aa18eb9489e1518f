import BSON
import Errors

/// Reads the mask of `$bitsAllSet` and its relatives.
enum BitMaskParser {
    /// The longest mask served as bytes; each set bit becomes a number of its own.
    private static let maximumBytes = 65_536

    /// The positions of the set bits, ascending from the least significant.
    static func positions(_ value: BSONValue, operatorName name: String) throws(ServiceError) -> [Int] {
        switch value {
        case .array(let members): return try list(members, name)
        case .binary(let binary):
            if binary.bytes.count > maximumBytes {
                throw .mongo(.badValue, "\(name) takes a mask of at most \(maximumBytes) bytes")
            }
            return binary.bytes.enumerated().flatMap { index, byte in
                (0..<8).filter { byte >> $0 & 1 == 1 }.map { index * 8 + $0 }
            }
        case .int32, .int64, .double, .decimal128:
            guard let mask = value.exactInt64 else {
                throw .mongo(
                    .failedToParse,
                    "Expected an integer: \(name): \(MongoShellText.describe(value))"
                )
            }
            if mask < 0 {
                throw .mongo(
                    .failedToParse,
                    "Expected a non-negative number in: \(name): \(MongoShellText.describe(value))"
                )
            }
            return (0..<63).filter { mask >> $0 & 1 == 1 }
        default:
            throw .mongo(
                .badValue,
                "a field takes an Array, a number, or a BinData but received: \(name): \(MongoShellText.describe(value))"
            )
        }
    }

    private static func list(_ members: [BSONValue], _ name: String) throws(ServiceError) -> [Int] {
        var positions = Set<Int>()
        for (index, member) in members.enumerated() {
            guard member.isNumber, let number = member.exactInt64, let position = Int32(exactly: number)
            else {
                throw .mongo(
                    .badValue,
                    "Failed to parse bit position. Expected an integer: \(index): \(MongoShellText.describe(member))"
                )
            }
            if position < 0 {
                throw .mongo(
                    .badValue,
                    "Failed to parse bit position. Expected a non-negative number in: \(index): \(position)"
                )
            }
            positions.insert(Int(position))
        }
        return positions.sorted()
    }
}

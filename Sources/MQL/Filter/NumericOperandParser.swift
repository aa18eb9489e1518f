import BSON
import Errors

/// Reads the numbers that `$size` and `$mod` take.
enum NumericOperandParser {
    /// The operand of `$size`: an integral, non-negative number of 32 bits.
    static func size(_ value: BSONValue) throws(ServiceError) -> Int {
        let text = MongoShellText.describe(value)
        guard value.isNumber else {
            throw .mongo(.badValue, "Failed to parse $size. Expected a number in: $size: \(text)")
        }
        guard let number = value.exactInt64, let count = Int32(exactly: number) else {
            throw .mongo(.badValue, "Failed to parse $size. Expected an integer: $size: \(text)")
        }
        guard count >= 0 else {
            throw .mongo(
                .badValue,
                "Failed to parse $size. Expected a non-negative number in: $size: \(text)"
            )
        }
        return Int(count)
    }

    /// The operand of `$mod`: divisor and remainder, truncated toward zero.
    static func modulo(_ value: BSONValue) throws(ServiceError) -> (divisor: Int64, remainder: Int64) {
        guard case .array(let operands) = value else {
            throw .mongo(.badValue, "malformed mod, needs to be an array")
        }
        if operands.count < 2 { throw .mongo(.badValue, "malformed mod, not enough elements") }
        if operands.count > 2 { throw .mongo(.badValue, "malformed mod, too many elements") }
        guard operands[0].isNumber else { throw .mongo(.badValue, "malformed mod, divisor not a number") }
        guard operands[1].isNumber else { throw .mongo(.badValue, "malformed mod, remainder not a number") }
        guard let divisor = truncated(operands[0]) else {
            throw .mongo(.badValue, "malformed mod, divisor value is invalid")
        }
        guard let remainder = truncated(operands[1]) else {
            throw .mongo(.badValue, "malformed mod, remainder value is invalid")
        }
        if divisor == 0 { throw .mongo(.badValue, "divisor cannot be 0") }
        return (divisor, remainder)
    }

    /// A number without its fraction; nil for NaN, infinities and what 64 bits do not hold.
    static func truncated(_ value: BSONValue) -> Int64? {
        if let exact = value.exactInt64 { return exact }
        guard let number = value.doubleValue, number.isFinite else { return nil }
        return Int64(exactly: number.rounded(.towardZero))
    }
}

import BSON
import Errors

/// The operand of a find's `$slice`: a count, or a skip with a count.
struct ProjectionSlice {
    let skip: Int?
    let limit: Int

    /// - Returns: nil when the operand is that of the expression `$slice`.
    /// - Throws: ``ServiceError`` with server code 28667 (other types) or 28724 (no positive count).
    init?(_ operand: BSONValue) throws(ServiceError) {
        switch operand {
        case .int32, .int64, .double, .decimal128:
            skip = nil
            limit = Self.count(operand)
        case .array(let members):
            guard members.count == 2, members[0].isNumber, members[1].isNumber else {
                if members.count == 2 || members.count == 3 { return nil }
                throw Self.invalid(operand)
            }
            skip = Self.count(members[0])
            limit = Self.count(members[1])
            if limit <= 0 {
                throw .mongo(
                    28724,
                    "First argument to $slice must be positive: \(MongoShellText.describe(members[1]))"
                )
            }
        default:
            throw Self.invalid(operand)
        }
    }

    /// What stands in the way of the find's form, where the expression's form does not fit either.
    func refusal(because reason: ServiceError) -> ServiceError {
        .mongo(
            skip == nil ? 28667 : 28724,
            "Invalid $slice syntax. The given syntax did not match the find() syntax because :: \(reason.message) :: The given syntax did not match the expression $slice syntax."
        )
    }

    /// A number without its fraction, held within 32 bits.
    private static func count(_ value: BSONValue) -> Int {
        let number = value.doubleValue ?? 0
        if number.isNaN { return 0 }
        return Int(min(max(number.rounded(.towardZero), -2_147_483_647), 2_147_483_647))
    }

    private static func invalid(_ operand: BSONValue) -> ServiceError {
        .mongo(
            28667,
            "Invalid $slice syntax. The given syntax { $slice: \(MongoShellText.describe(operand)) } did not match the find() syntax because :: Location31273: $slice only supports numbers and [skip, limit] arrays :: The given syntax did not match the expression $slice syntax."
        )
    }

    /// The part of an array that is shown.
    static func apply(_ elements: [BSONValue], skip: Int?, limit: Int) -> [BSONValue] {
        guard let skip else {
            return limit >= 0 ? Array(elements.prefix(limit)) : Array(elements.suffix(-limit))
        }
        let start = skip >= 0 ? min(skip, elements.count) : max(elements.count + skip, 0)
        return Array(elements[start...].prefix(max(limit, 0)))
    }
}

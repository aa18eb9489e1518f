import BSON
import Errors

/// The tests that look at one candidate; a nil candidate is a missing field.
enum ValueTests {
    /// Whether a comparison, type, modulo or bit test holds.
    ///
    /// Other tests concern several values.
    static func holds(_ test: FieldTest, _ value: BSONValue?) -> Bool {
        switch test {
        case .compare(let comparison, let operand): return compares(value, comparison, operand)
        case .type(let types): return value.map { types.contains($0.type) } ?? false
        case .modulo(let divisor, let remainder): return hasRemainder(value, divisor, remainder)
        case .bits(let bits, let positions): return hasBits(value, bits, positions)
        case .inside, .exists, .matches, .all, .allElements, .elementMatch, .size, .not: return false
        }
    }

    /// Whether `value <comparison> operand` holds, within the operand's bracket of types.
    static func compares(_ value: BSONValue?, _ comparison: ComparisonOperator, _ operand: BSONValue) -> Bool
    {
        switch operand {
        case .null:
            // `$gte` and `$lte` with null are equality; nothing is above or below null.
            guard comparison != .greater, comparison != .less else { return false }
            return value.map(\.isNull) ?? true
        case .minKey, .maxKey:
            return satisfies(BSONOrdering.compare(value ?? .null, operand), comparison)
        default:
            guard let value else { return false }
            if comparison == .equal { return BSONOrdering.equal(value, operand) }
            guard BSONOrdering.bracket(value) == BSONOrdering.bracket(operand) else { return false }
            if operand.isNaN || value.isNaN {
                return operand.isNaN && value.isNaN
                    && (comparison == .greaterOrEqual || comparison == .lessOrEqual)
            }
            return satisfies(BSONOrdering.compare(value, operand), comparison)
        }
    }

    private static func satisfies(_ order: Int, _ comparison: ComparisonOperator) -> Bool {
        switch comparison {
        case .equal: order == 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        case .less: order < 0
        case .lessOrEqual: order <= 0
        }
    }

    /// Whether a pattern occurs in a string, or is a stored pattern itself.
    static func matches(_ pattern: RegexPattern, _ value: BSONValue?) throws(ServiceError) -> Bool {
        switch value {
        case .string(let text)?, .symbol(let text)?: return try RegexMatcher.matches(pattern, text)
        case .regex(let stored)?:
            return stored.pattern == pattern.pattern && stored.options == pattern.options
        default: return false
        }
    }

    private static func hasRemainder(_ value: BSONValue?, _ divisor: Int64, _ remainder: Int64) -> Bool {
        guard let value, value.isNumber, let number = NumericOperandParser.truncated(value) else {
            return false
        }
        // The smallest number divided by -1 overflows; everything divides by -1 without remainder.
        return (divisor == -1 ? 0 : number % divisor) == remainder
    }

    private static func hasBits(_ value: BSONValue?, _ test: BitTest, _ positions: [Int]) -> Bool {
        guard let value else { return false }
        let isSet: (Int) -> Bool
        if case .binary(let binary) = value {
            let bytes = binary.storedBytes
            isSet = { position in
                position / 8 < bytes.count && bytes[position / 8] >> (position % 8) & 1 == 1
            }
        } else {
            guard value.isNumber, let number = value.exactInt64 else { return false }
            isSet = { number >> Swift.min($0, 63) & 1 == 1 }
        }
        return switch test {
        case .allSet: positions.allSatisfy(isSet)
        case .anySet: positions.contains(where: isSet)
        case .allClear: !positions.contains(where: isSet)
        case .anyClear: !positions.allSatisfy(isSet)
        }
    }
}

extension BSONValue {
    /// Whether this is a number that is not a number.
    var isNaN: Bool {
        switch self {
        case .double(let number): number.isNaN
        case .decimal128(let number): number.isNaN
        default: false
        }
    }
}

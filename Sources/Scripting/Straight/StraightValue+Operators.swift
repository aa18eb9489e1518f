internal import BSON

/// What operators make of values.
extension StraightValue {
    /// What `===` says.
    func isSame(as other: StraightValue) throws(NotStraight) -> Bool {
        switch (try scalar, try other.scalar) {
        case (.undefined, .undefined), (.null, .null): return true
        case (.bool(let left), .bool(let right)): return left == right
        case (.number(let left), .number(let right)): return left == right
        case (.string(let left), .string(let right)): return left.utf8.elementsEqual(right.utf8)
        case (.object, .object): throw NotStraight()
        default: return false
        }
    }

    /// What `==` says.
    func isLike(_ other: StraightValue) throws(NotStraight) -> Bool {
        let (isNullish, isOtherNullish) = (try isNullish, try other.isNullish)
        if isNullish || isOtherNullish { return isNullish && isOtherNullish }
        switch (try scalar, try other.scalar) {
        case (.bool, .bool), (.number, .number), (.string, .string): return try isSame(as: other)
        default: throw NotStraight()
        }
    }

    /// What `typeof` says.
    func type() throws(NotStraight) -> String {
        switch self {
        case .undefined: return "undefined"
        // A number of the engine's beyond 32 bits, or a `Long` that was given: `scalar` does not tell.
        case .given, .made: break
        default: throw NotStraight()
        }
        switch try scalar {
        case .undefined: return "undefined"
        case .null, .object: return "object"
        case .bool: return "boolean"
        case .number: return "number"
        case .string: return "string"
        }
    }

    /// What `<` and its like say of two numbers.
    func compared(_ comparison: StraightFunction.Comparison, _ other: StraightValue) throws(NotStraight)
        -> Bool
    {
        guard case .number(let left) = try scalar, case .number(let right) = try other.scalar else {
            throw NotStraight()
        }
        return switch comparison {
        case .less: left < right
        case .lessOrEqual: left <= right
        case .greater: left > right
        case .greaterOrEqual: left >= right
        }
    }

    /// What an operator makes of two numbers, `+` also of a text and what a template shows.
    func combined(_ sign: StraightFunction.Arithmetic, _ other: StraightValue) throws(NotStraight)
        -> StraightValue
    {
        let result: Double
        switch (sign, try scalar, try other.scalar) {
        // An object has another text there than in a template.
        case (_, .object, _), (_, _, .object): throw NotStraight()
        case (.plus, .string, _), (.plus, _, .string):
            return .made(.string(try text() + other.text()))
        case (.plus, .number(let left), .number(let right)): result = left + right
        case (.minus, .number(let left), .number(let right)): result = left - right
        case (.times, .number(let left), .number(let right)): result = left * right
        case (.over, .number(let left), .number(let right)): result = left / right
        case (.modulo, .number(let left), .number(let right)):
            result = left.truncatingRemainder(dividingBy: right)
        default: throw NotStraight()
        }
        return .made(.number(result))
    }
}

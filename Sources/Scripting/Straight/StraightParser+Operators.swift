internal import BSON

/// Expressions, by the grammar of JavaScript: the innermost binds tightest.
extension StraightParser {
    mutating func expression() throws(NotStraight) -> StraightFunction.Expression {
        try enter()
        defer { depth -= 1 }
        let condition = try logical()
        guard take(mark: "?") else { return condition }
        let then = try expression()
        try expect(":")
        return .choice(condition, then: then, otherwise: try expression())
    }

    private mutating func logical() throws(NotStraight) -> StraightFunction.Expression {
        var left = try equality()
        if isMark("??") {
            while take(mark: "??") { left = .unlessNullish(left, try equality()) }
            // Beside the others it needs parentheses.
            if isMark("&&") || isMark("||") { throw NotStraight() }
            return left
        }
        left = try conjunction(left)
        while take(mark: "||") { left = .or(left, try conjunction(equality())) }
        if isMark("??") { throw NotStraight() }
        return left
    }

    private mutating func conjunction(
        _ first: StraightFunction.Expression
    ) throws(NotStraight) -> StraightFunction.Expression {
        var left = first
        while take(mark: "&&") { left = .and(left, try equality()) }
        return left
    }

    private mutating func equality() throws(NotStraight) -> StraightFunction.Expression {
        var left = try relation()
        while isMark("==") || isMark("!=") {
            let isNegated = isMark("!=")
            index += 1
            let isStrict = isMark("=") && isJoined
            if isStrict { index += 1 }
            let comparison = StraightFunction.Expression.equals(left, try relation(), isStrict: isStrict)
            left = isNegated ? .not(comparison) : comparison
        }
        return left
    }

    private mutating func relation() throws(NotStraight) -> StraightFunction.Expression {
        var left = try sum()
        while let comparison = takeMark(Self.comparisons) { left = .compare(comparison, left, try sum()) }
        return left
    }

    private static let comparisons: [String: StraightFunction.Comparison] = [
        "<": .less, "<=": .lessOrEqual, ">": .greater, ">=": .greaterOrEqual,
    ]

    private static let sums: [String: StraightFunction.Arithmetic] = ["+": .plus, "-": .minus]

    private static let products: [String: StraightFunction.Arithmetic] = [
        "*": .times, "/": .over, "%": .modulo,
    ]

    private mutating func sum() throws(NotStraight) -> StraightFunction.Expression {
        var left = try product()
        while let sign = takeMark(Self.sums) { left = .arithmetic(sign, left, try product()) }
        return left
    }

    private mutating func product() throws(NotStraight) -> StraightFunction.Expression {
        var left = try unary()
        while let sign = takeMark(Self.products) {
            left = .arithmetic(sign, left, try unary())
        }
        return left
    }

    private mutating func takeMark<Operator>(_ operators: [String: Operator]) -> Operator? {
        guard let mark = tokens.mark(index), let found = operators[mark] else { return nil }
        index += 1
        return found
    }

    private mutating func unary() throws(NotStraight) -> StraightFunction.Expression {
        try enter()
        defer { depth -= 1 }
        if take(mark: "!") { return .not(try unary()) }
        if take(word: "typeof") { return .typeOf(try unary()) }
        if isAsync, take(word: "await") { return .awaited(try unary()) }
        guard take(mark: "-") else { return try chain() }
        guard let token, token.kind == .number else { throw NotStraight() }
        index += 1
        return .constant(.number(-(try number(token))))
    }
}

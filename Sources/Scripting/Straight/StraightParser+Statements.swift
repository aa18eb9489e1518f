/// What stands between semicolons and braces.
extension StraightParser {
    mutating func statement() throws(NotStraight) -> [StraightFunction.Statement] {
        if take(mark: ";") { return [] }
        if take(word: "return") { return [.returns(try operandOfReturn())] }
        if take(word: "if") { return [try choice()] }
        if take(word: "try") { return [try attempt()] }
        if take(word: "throw") { return [try throwing()] }
        if take(word: "console") { return [try log()] }
        if isAsync, isWord("await") {
            let expression = try expression()
            try endStatement()
            return [.evaluate(expression)]
        }
        guard take(word: "const") || take(word: "let") || take(word: "var") else { throw NotStraight() }
        var bindings: [StraightFunction.Statement] = []
        repeat {
            // What it is bound to does not see its names yet.
            let known = visible
            let pattern = try pattern()
            let now = visible
            visible = known
            try expect("=")
            bindings.append(.bind(pattern, to: try expression()))
            visible = now
        } while take(mark: ",")
        try endStatement()
        return bindings
    }

    private mutating func operandOfReturn() throws(NotStraight) -> StraightFunction.Expression? {
        if take(mark: ";") || isMark("}") { return nil }
        try requireSameLine()
        let value = try expression()
        try endStatement()
        return value
    }

    private mutating func choice() throws(NotStraight) -> StraightFunction.Statement {
        try enter()
        defer { depth -= 1 }
        try expect("(")
        let condition = try expression()
        try expect(")")
        let then = try branch()
        return .choice(condition, then: then, otherwise: take(word: "else") ? try branch() : [])
    }

    private mutating func attempt() throws(NotStraight) -> StraightFunction.Statement {
        try enter()
        defer { depth -= 1 }
        catches = true
        let body = try block()
        guard take(word: "catch") else { throw NotStraight() }
        let outer = visible
        if take(mark: "(") {
            _ = try declareInside(next())
            try expect(")")
        }
        // Only the engine gets there.
        _ = try block()
        visible = outer
        return .attempt(body)
    }

    private mutating func throwing() throws(NotStraight) -> StraightFunction.Statement {
        try requireSameLine()
        if isWord("new"), tokens.isWord(index + 1, ["Error"]), tokens.mark(index + 2) == "(" {
            index += 3
            _ = try list(until: ")") { parser throws(NotStraight) in try parser.expression() }
        } else {
            _ = try expression()
        }
        try endStatement()
        return .throwing
    }

    private mutating func log() throws(NotStraight) -> StraightFunction.Statement {
        try expect(".")
        guard ["log", "info", "debug", "warn", "error"].contains(try next().text) else { throw NotStraight() }
        try expect("(")
        let values = try list(until: ")") { parser throws(NotStraight) in try parser.expression() }
        try endStatement()
        return .log(values)
    }

    private mutating func branch() throws(NotStraight) -> [StraightFunction.Statement] {
        if isMark("{") { return try block() }
        // No declaration stands alone there.
        guard ["return", "if", "throw", "console"].contains(where: isWord) else { throw NotStraight() }
        return try statement()
    }

    private mutating func endStatement() throws(NotStraight) {
        if take(mark: ";") || isMark("}") { return }
        // A word that no expression goes on with: the line's end is the statement's.
        guard let token, token.startsLine, token.kind == .word,
            !["in", "instanceof", "of"].contains(token.text)
        else { throw NotStraight() }
    }
}

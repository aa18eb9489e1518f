internal import BSON

/// Expressions, by the grammar of JavaScript: the innermost binds tightest.
extension StraightParser {
    /// An expression that may wait for an answer.
    mutating func returned() throws(NotStraight) -> StraightFunction.Expression {
        guard isAsync, take(word: "await") else { return try expression() }
        return .awaited(try chain())
    }

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
        var left = try unary()
        while isMark("==") || isMark("!=") {
            let isNegated = isMark("!=")
            index += 1
            let isStrict = isMark("=") && isJoined
            if isStrict { index += 1 }
            let comparison = StraightFunction.Expression.equals(left, try unary(), isStrict: isStrict)
            left = isNegated ? .not(comparison) : comparison
        }
        return left
    }

    private mutating func unary() throws(NotStraight) -> StraightFunction.Expression {
        try enter()
        defer { depth -= 1 }
        if take(mark: "!") { return .not(try unary()) }
        guard take(mark: "-") else { return try chain() }
        guard let token, token.kind == .number else { throw NotStraight() }
        index += 1
        return .constant(.number(-(try number(token))))
    }

    private mutating func chain() throws(NotStraight) -> StraightFunction.Expression {
        let base = try primary()
        var links: [StraightFunction.Link] = []
        while true {
            if isMark(".") || isMark("?.") {
                let isOptional = isMark("?.")
                index += 1
                let name = try next()
                guard name.kind == .member else { throw NotStraight() }
                if isMark("(") {
                    let place = place(name.start + name.text.utf8.count)
                    let arguments = try arguments()
                    links.append(.call(name.text, arguments, isOptional: isOptional, at: place))
                } else {
                    links.append(.member(name.text, isOptional: isOptional))
                }
            } else if take(mark: "[") {
                links.append(.element(try expression()))
                try expect("]")
            } else if isMark("(") {
                throw NotStraight()
            } else {
                return links.isEmpty ? base : .chain(base, links)
            }
        }
    }

    private mutating func arguments() throws(NotStraight) -> [StraightFunction.Expression] {
        try expect("(")
        return try expressions(until: ")")
    }

    private mutating func expressions(until mark: String) throws(NotStraight) -> [StraightFunction.Expression]
    {
        try list(until: mark) { parser throws(NotStraight) in try parser.expression() }
    }

    private mutating func primary() throws(NotStraight) -> StraightFunction.Expression {
        let token = try next()
        switch token.kind {
        case .number: return .constant(.number(try number(token)))
        case .string: return .constant(.string(try Self.text(token.text)))
        case .template: return try template(token)
        case .word: return try name(token)
        case .mark where token.text == "[": return .array(try expressions(until: "]"))
        case .mark where token.text == "{": return .object(try members())
        case .mark where token.text == "(":
            let inner = try expression()
            try expect(")")
            return inner
        case .mark, .member, .regex: throw NotStraight()
        }
    }

    private mutating func name(_ token: SourceTokens.Token) throws(NotStraight) -> StraightFunction.Expression
    {
        switch token.text {
        case "true": return .constant(true)
        case "false": return .constant(false)
        case "null": return .constant(.null)
        case "undefined": return .undefined
        case "context": return .context
        case "BSON": return try objectID()
        case "new":
            if take(word: "BSON") { return try objectID() }
            guard take(word: "Date"), try arguments().isEmpty else { throw NotStraight() }
            return .newDate
        default: return .local(try slot(of: token.text))
        }
    }

    /// `.ObjectId(…)`, behind `BSON`.
    private mutating func objectID() throws(NotStraight) -> StraightFunction.Expression {
        try expect(".")
        guard ["ObjectId", "ObjectID"].contains(try next().text) else { throw NotStraight() }
        let arguments = try arguments()
        guard arguments.count < 2 else { throw NotStraight() }
        return .newObjectID(arguments.first)
    }

    private mutating func members() throws(NotStraight) -> [(key: String, value: StraightFunction.Expression)]
    {
        var keys: Set<String> = []
        return try list(until: "}") { parser throws(NotStraight) in
            let token = try parser.next()
            guard token.kind == .word || token.kind == .string else { throw NotStraight() }
            let key = token.kind == .word ? token.text : try Self.text(token.text)
            guard BSONValue.keepsItsPlace(key), keys.insert(key).inserted else { throw NotStraight() }
            if parser.take(mark: ":") { return (key, try parser.expression()) }
            guard token.kind == .word else { throw NotStraight() }
            return (key, .local(try parser.slot(of: key)))
        }
    }

    private mutating func template(
        _ first: SourceTokens.Token
    ) throws(NotStraight) -> StraightFunction.Expression {
        var pieces = [StraightFunction.Piece.text(try Self.text(first.text))]
        while isMark("("), let token, bytes[token.start] == UInt8(ascii: "$") {
            index += 1
            pieces.append(.value(try expression()))
            try expect(")")
            let piece = try next()
            guard piece.kind == .template else { throw NotStraight() }
            pieces.append(.text(try Self.text(piece.text)))
        }
        return .template(pieces)
    }

    // MARK: Literals

    /// One that stands by itself: a point behind it may be its own.
    private func number(_ token: SourceTokens.Token) throws(NotStraight) -> Double {
        if [".", "?.", "[", "("].contains(where: isMark) { throw NotStraight() }
        let parts = token.text.split(separator: ".", omittingEmptySubsequences: false)
        let areDigits = parts.allSatisfy { part in
            !part.isEmpty && part.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        }
        guard areDigits, parts[0] == "0" || !parts[0].hasPrefix("0"), let number = Double(token.text) else {
            throw NotStraight()
        }
        return number
    }

    /// What a literal spells; its escapes are of one character.
    private static func text(_ spelt: String) throws(NotStraight) -> String {
        guard spelt.utf8.contains(where: { $0 == UInt8(ascii: "\\") || $0 == 13 }) else { return spelt }
        var text = ""
        var isEscaped = false
        for scalar in spelt.unicodeScalars {
            if isEscaped {
                switch scalar {
                case "n": text.unicodeScalars.append("\n")
                case "t": text.unicodeScalars.append("\t")
                case "r": text.unicodeScalars.append("\r")
                case "\\", "\"", "'", "`", "/", "$": text.unicodeScalars.append(scalar)
                default: throw NotStraight()
                }
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else if scalar == "\r" {
                // The engine makes one line's end of two characters.
                throw NotStraight()
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    private func place(_ end: Int) -> StraightFunction.Place {
        var (line, start) = (1, 0)
        for position in 0..<end where bytes[position] == 10 || bytes[position] == 13 {
            start = position + 1
            if bytes[position] == 10 || bytes[position + 1] != 10 { line += 1 }
        }
        let before = String(decoding: bytes[start..<end], as: UTF8.self)
        return StraightFunction.Place(line: line, column: before.utf16.count + 1)
    }
}

internal import BSON

/// What operators stand between: a value, and what follows it.
extension StraightParser {
    mutating func chain() throws(NotStraight) -> StraightFunction.Expression {
        let base = try primary()
        var links: [StraightFunction.Link] = []
        while true {
            if isMark(".") || isMark("?.") {
                let isOptional = isMark("?.")
                index += 1
                let name = try next()
                guard name.kind == .member else { throw NotStraight() }
                if let walk = StraightFunction.Walk(rawValue: name.text), isCallback {
                    guard !isOptional else { throw NotStraight() }
                    links.append(try each(walk))
                } else if isMark("(") {
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

    /// Whether a bracket opens here, behind which a function begins.
    private var isCallback: Bool {
        guard isMark("(") else { return false }
        var place = index + 1
        if tokens.isKind(place, .word) { return tokens.mark(place + 1) == "=>" }
        guard tokens.mark(place) == "(" else { return false }
        repeat { place += 1 } while tokens.isKind(place, .word) || tokens.mark(place) == ","
        return tokens.mark(place) == ")" && tokens.mark(place + 1) == "=>"
    }

    private mutating func each(_ walk: StraightFunction.Walk) throws(NotStraight) -> StraightFunction.Link {
        try expect("(")
        let callback = try callback()
        var start: StraightFunction.Expression?
        if walk == .reduce, take(mark: ","), !isMark(")") { start = try expression() }
        _ = take(mark: ",")
        try expect(")")
        return .each(walk, callback, from: start)
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
    func number(_ token: SourceTokens.Token) throws(NotStraight) -> Double {
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

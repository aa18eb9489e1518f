internal import BSON

/// Reads a ``StraightFunction`` from a function's source.
///
/// Whatever it reads is JavaScript that the engine reads the same way; what it does not know, and what ends a statement
/// in an unusual way, ends the reading.
struct StraightParser {
    let tokens: [SourceTokens.Token]
    let bytes: [UInt8]
    var index = 0
    var depth = 0
    var isAsync = false
    var catches = false
    /// The names that can be seen, the innermost block's last.
    var visible: [(name: String, slot: Int)] = []
    /// All names so far: one that is declared twice is an error, or hides another.
    private var declared: Set<String> = []
    private var slots = 0

    /// More than this is no function of a few lines.
    private static let longest = 8 << 10
    private static let deepest = 24

    /// Nil for what is not surely one.
    static func read(_ source: String) -> StraightFunction? {
        guard source.utf8.count <= longest, let tokens = SourceTokens.read(source) else { return nil }
        var parser = StraightParser(tokens: tokens, bytes: Array(source.utf8))
        return (try? parser.function()).map(StraightFolding.folded)
    }

    private init(tokens: [SourceTokens.Token], bytes: [UInt8]) {
        self.tokens = tokens
        self.bytes = bytes
    }

    // MARK: Tokens

    var token: SourceTokens.Token? { index < tokens.count ? tokens[index] : nil }

    func isMark(_ text: String) -> Bool { tokens.mark(index) == text }

    func isWord(_ text: String) -> Bool { tokens.isWord(index, [text]) }

    mutating func take(mark: String) -> Bool {
        guard isMark(mark) else { return false }
        index += 1
        return true
    }

    mutating func take(word: String) -> Bool {
        guard isWord(word) else { return false }
        index += 1
        return true
    }

    mutating func expect(_ mark: String) throws(NotStraight) {
        guard take(mark: mark) else { throw NotStraight() }
    }

    func requireSameLine() throws(NotStraight) {
        if let token, token.startsLine { throw NotStraight() }
    }

    /// What stands between commas, up to a mark; a comma may stand before that, too.
    mutating func list<Element>(
        until end: String,
        _ one: (inout StraightParser) throws(NotStraight) -> Element
    ) throws(NotStraight) -> [Element] {
        var elements: [Element] = []
        while !take(mark: end) {
            elements.append(try one(&self))
            if !isMark(end) { try expect(",") }
        }
        return elements
    }

    mutating func next() throws(NotStraight) -> SourceTokens.Token {
        guard let token else { throw NotStraight() }
        index += 1
        return token
    }

    /// Whether the mark here follows the one before without a gap.
    var isJoined: Bool {
        guard let token, index > 0 else { return false }
        let last = tokens[index - 1]
        return token.start == last.start + last.text.utf8.count
    }

    /// Nesting is bounded: reading is recursive.
    mutating func enter() throws(NotStraight) {
        depth += 1
        if depth > Self.deepest { throw NotStraight() }
    }

    // MARK: Names

    private static let reserved: Set<String> = [
        "context", "BSON", "Date", "exports", "module", "arguments", "eval", "undefined", "NaN", "Infinity",
        "null", "true", "false", "this", "console", "Error", "await", "super", "class", "enum", "import",
        "extends", "debugger", "with",
    ]

    mutating func declare(_ token: SourceTokens.Token) throws(NotStraight) -> Int {
        guard !declared.contains(token.text) else { throw NotStraight() }
        return try declareInside(token)
    }

    /// A name that may hide one around it: a callback's parameter, what was caught.
    mutating func declareInside(_ token: SourceTokens.Token) throws(NotStraight) -> Int {
        guard token.kind == .word, SourceProof.isOperand(token.text), !Self.reserved.contains(token.text)
        else { throw NotStraight() }
        declared.insert(token.text)
        visible.append((token.text, slots))
        slots += 1
        return slots - 1
    }

    /// A list's method's argument: names, an arrow, and an expression of those.
    mutating func callback() throws(NotStraight) -> StraightFunction.Callback {
        let (outer, wasAsync) = (visible, isAsync)
        isAsync = false
        defer { (visible, isAsync) = (outer, wasAsync) }
        var names: [SourceTokens.Token] = []
        if take(mark: "(") {
            names = try list(until: ")") { parser throws(NotStraight) in try parser.next() }
        } else {
            names = [try next()]
        }
        guard Set(names.map(\.text)).count == names.count else { throw NotStraight() }
        var parameters: [Int] = []
        for name in names { parameters.append(try declareInside(name)) }
        try requireSameLine()
        try expect("=>")
        // What begins with a brace is no expression.
        guard !isMark("{") else { throw NotStraight() }
        return StraightFunction.Callback(parameters: parameters, body: try expression())
    }

    func slot(of name: String) throws(NotStraight) -> Int {
        guard let found = visible.last(where: { $0.name == name }) else { throw NotStraight() }
        return found.slot
    }

    mutating func pattern() throws(NotStraight) -> StraightFunction.Pattern {
        guard take(mark: "{") else { return .slot(try declare(next())) }
        return .members(
            try list(until: "}") { parser throws(NotStraight) in
                let name = try parser.next()
                guard name.kind == .word, BSONValue.keepsItsPlace(name.text) else { throw NotStraight() }
                let bound = parser.take(mark: ":") ? try parser.next() : name
                return (name.text, try parser.declare(bound))
            }
        )
    }

    // MARK: The function

    private mutating func function() throws(NotStraight) -> StraightFunction {
        guard take(word: "exports") else { throw NotStraight() }
        try expect("=")
        if take(word: "async") {
            try requireSameLine()
            isAsync = true
        }
        var parameters: [StraightFunction.Pattern] = []
        let body: [StraightFunction.Statement]
        if take(word: "function") {
            if let token, token.kind == .word {
                // It can be named inside; whoever does is not understood.
                _ = try declare(token)
                visible.removeAll()
                index += 1
            }
            parameters = try parameterList()
            body = try block()
        } else {
            if isMark("(") {
                parameters = try parameterList()
            } else {
                parameters = [.slot(try declare(next()))]
            }
            try requireSameLine()
            try expect("=>")
            body = isMark("{") ? try block() : [.returns(try expression())]
        }
        while take(mark: ";") {}
        guard index == tokens.count else { throw NotStraight() }
        return StraightFunction(
            parameters: parameters,
            body: body,
            slots: slots,
            catches: catches,
            // Nothing else leads to data.
            asks: tokens.contains { $0.kind == .word && $0.text == "services" }
        )
    }

    private mutating func parameterList() throws(NotStraight) -> [StraightFunction.Pattern] {
        try expect("(")
        return try list(until: ")") { parser throws(NotStraight) in try parser.pattern() }
    }

    mutating func block() throws(NotStraight) -> [StraightFunction.Statement] {
        try expect("{")
        let outer = visible.count
        var statements: [StraightFunction.Statement] = []
        while !take(mark: "}") { statements += try statement() }
        visible.removeLast(visible.count - outer)
        return statements
    }
}

/// The places of a source where the name of a property is computed (`o[k]`), and what the source does there.
///
/// Such a name may be `constructor` or `__proto__`, and what is read then is an object of the language. That
/// is harmless where the value is an operand that only makes another: a number, a text, a truth
/// (`(totals[k] ?? 0) + 1`, `if (!seen[k])`). Writing is harmless, too: what a source holds was made for its
/// call, or is a built-in function, which is frozen. And a name that is a number for sure leads to no object
/// of the language, whatever is done with it.
struct SourceElements {
    private let tokens: [SourceTokens.Token]
    /// For each bracket the place of the other one.
    private let partners: [Int: Int]
    private let counters: Set<String>

    init(_ tokens: [SourceTokens.Token]) {
        self.tokens = tokens
        var partners: [Int: Int] = [:]
        var open: [Int] = []
        for index in tokens.indices where tokens[index].kind == .mark {
            if tokens[index].text == "[" {
                open.append(index)
            } else if tokens[index].text == "]", let opening = open.popLast() {
                partners[opening] = index
                partners[index] = opening
            }
        }
        self.partners = partners
        counters = SourceCounters.names(in: tokens)
    }

    /// Whether a bracket, opening or closing, is one of an element's, and not of an array or a pattern.
    ///
    /// On a line of its own, it is in doubt: after some statements that have no end it begins another.
    func isAccess(_ bracket: Int) -> Bool {
        guard tokens.indices.contains(bracket) else { return false }
        let opening = tokens[bracket].text == "]" ? partners[bracket] : bracket
        guard let opening else { return false }
        return SourceElements.isAccess(opening, tokens)
    }

    /// As ``isAccess(_:)``, for an opening bracket.
    static func isAccess(_ opening: Int, _ tokens: [SourceTokens.Token]) -> Bool {
        guard opening > 0, !tokens[opening].startsLine else { return false }
        let last = tokens[opening - 1]
        switch last.kind {
        case .word: return SourceProof.isOperand(last.text)
        case .member: return true
        case .mark: return last.text == "]"
        case .number, .string, .template, .regex: return false
        }
    }

    /// Whether what stands behind a value in an opening bracket leads to nothing that others see.
    func isHarmless(_ opening: Int) -> Bool {
        guard isAccess(opening), let closing = partners[opening] else { return false }
        return isNumber(opening + 1..<closing) || isWrittenOrOperand(opening, closing)
    }

    /// Whether an expression is a number for sure: of counters, or what a subtraction and the like makes.
    private func isNumber(_ range: Range<Int>) -> Bool {
        guard !range.isEmpty else { return false }
        let ofNumbers = range.allSatisfy { index in
            let token = tokens[index]
            switch token.kind {
            case .number: return true
            case .word: return counters.contains(token.text)
            case .mark: return ["+", "-", "*", "/", "%", "++", "--"].contains(token.text)
            case .member, .string, .template, .regex: return false
            }
        }
        if ofNumbers { return true }
        var calculates = false
        for index in range {
            let token = tokens[index]
            switch token.kind {
            case .number, .member: break
            case .word: guard SourceProof.isOperand(token.text) else { return false }
            case .mark where ["-", "*", "/", "%"].contains(token.text): calculates = true
            case .mark where token.text == "." || token.text == "?.": break
            case .mark, .string, .template, .regex: return false
            }
        }
        return calculates
    }

    private func isWrittenOrOperand(_ opening: Int, _ closing: Int) -> Bool {
        guard let start = start(opening) else { return false }
        let before = start - 1
        if tokens.isWord(before, ["new"]) { return false }
        let next = closing + 1
        if let mark = tokens.mark(next) {
            if Self.assigning.contains(mark) || Self.calculating.contains(mark) || mark == "**" {
                return true
            }
            // Of a falsy value, which is no object, or of what only decides.
            if mark == "?" || mark == "&&" { return true }
            // With a line's end before, these would belong to what follows.
            if mark == "++" || mark == "--" { return ends(next + 1) }
            if mark == "??" || mark == "||" { return hasDefault(before, next) }
        }
        if tokens.mark(before) == "!" { return ends(next) || tokens.mark(next) == "||" }
        if tokens.isWord(before, ["delete"]) || tokens.isMark(before, ["++", "--"]) { return ends(next) }
        return tokens.mark(before) == "(" && tokens.mark(next) == ")"
            && tokens.isWord(before - 1, ["if", "while"])
    }

    /// `(o[k] ?? 0) +`, where the parentheses are no call's.
    private func hasDefault(_ before: Int, _ next: Int) -> Bool {
        guard tokens.mark(before) == "(", tokens.indices.contains(next + 1), tokens.mark(next + 2) == ")"
        else {
            return false
        }
        guard tokens[next + 1].kind == .number || tokens[next + 1].kind == .string else { return false }
        guard tokens.isWord(before - 1, ["return"]) || tokens.isMark(before - 1, Self.opensGroup) else {
            return false
        }
        return tokens.isMark(next + 3, Self.calculating) || tokens.mark(next + 3) == "**"
    }

    /// Where the value begins that has the element: a name, members of it, elements of those.
    private func start(_ opening: Int) -> Int? {
        var index = opening - 1
        while index >= 0 {
            let token = tokens[index]
            switch token.kind {
            case .word: return SourceProof.isOperand(token.text) ? index : nil
            case .member: index -= 2
            case .mark where token.text == "]":
                guard let partner = partners[index], Self.isAccess(partner, tokens) else { return nil }
                index = partner - 1
            case .mark, .number, .string, .template, .regex: return nil
            }
        }
        return nil
    }

    /// Whether an expression ends before a token.
    private func ends(_ index: Int) -> Bool { tokens.isMark(index, Self.ending) }

    /// Marks before which an expression ends.
    static let ending: Set<String> = [";", ")", ",", "]", "}", ":"]
    static let assigning: Set<String> = ["=", "+=", "-=", "*=", "/=", "%="]
    /// Operators of two operands whose value is no object, but for `**`; `===` is read as `==` and `=`.
    static let calculating: Set<String> = ["+", "-", "*", "/", "%", "<", ">", "<=", ">=", "==", "!="]
    /// Marks after which a parenthesis is no call's.
    private static let opensGroup: Set<String> = [
        "=", "+", "-", "*", "/", "%", "(", "[", ",", ":", "?", "+=", "-=", "*=", "/=", "%=", "<", ">", "<=",
        ">=",
        "==", "!=", "=>", "&&", "||", "??",
    ]
}

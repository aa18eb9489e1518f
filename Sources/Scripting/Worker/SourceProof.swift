/// Whether a function cannot change the language's own objects, whatever it is called with: then nobody
/// need look at them after it has run.
///
/// A proof by the source's words, made once for a function. Those objects are reached by names of theirs
/// (`prototype`, `constructor`, `__proto__`, a global), by a name that is computed (`o[k]`, but see
/// ``SourceElements``), or by `this` where a function has none. A source without all of these has only values
/// that were made for its call. Of the globals it may call what neither hands them out nor changes them.
/// Everything in doubt counts as not proven, which costs the check and nothing else: a source in which
/// anything is spelt unusually, too.
enum SourceProof {
    /// Whether a source has none of the words that could change them.
    ///
    /// - Parameters:
    ///   - source: Of a function, as the app has it.
    ///   - globals: The names that the context has before any script ran, with those of `Object.prototype`.
    /// - Returns: False for what is not sure.
    static func holds(for source: String, globals: Set<String>) -> Bool {
        guard let tokens = SourceTokens.read(source) else { return false }
        let elements = SourceElements(tokens)
        for index in tokens.indices {
            let token = tokens[index]
            switch token.kind {
            case .word, .member:
                if unsafe.contains(token.text) || token.text.hasPrefix("__") { return false }
                if token.kind == .word, !isHarmless(index, tokens, globals) { return false }
                // What an assignment put among the globals is to be seen there when the call is over.
                if token.kind == .word, token.text == "delete", !isOfProperty(index + 1, tokens) {
                    return false
                }
            case .string:
                // It may be the name of a property.
                if unsafe.contains(token.text) || token.text.hasPrefix("__") { return false }
            case .mark where token.text == "[":
                guard
                    isOfElements(index, tokens) || isNamedAccess(index, tokens) || elements.isHarmless(index)
                else { return false }
            case .mark where token.text == "]":
                // The computed name of a pattern: `{ [k]: v } = o`.
                if tokens.mark(index + 1) == ":", !elements.isAccess(index) { return false }
            case .number, .template, .regex, .mark: break
            }
        }
        return true
    }

    /// Whether a word is one that stands for a value, and nothing else.
    static func isOperand(_ word: String) -> Bool {
        !keywords.contains(word) && !doubtful.contains(word) && !statements.contains(word)
    }

    /// Whether a word is none of a global, or a call of one that may be called.
    private static func isHarmless(
        _ index: Int,
        _ tokens: [SourceTokens.Token],
        _ globals: Set<String>
    ) -> Bool {
        let word = tokens[index].text
        if ofTheCall.contains(word) || constants.contains(word) || !globals.contains(word) { return true }
        if callable.contains(word), tokens.mark(index + 1) == "(" { return true }
        if isAskedFor(index, tokens) { return true }
        guard tokens.mark(index + 1) == ".", tokens.indices.contains(index + 2) else { return false }
        let member = tokens[index + 2]
        guard member.kind == .member else { return false }
        if numbers[word]?.contains(member.text) == true { return true }
        return methods[word]?.contains(member.text) == true && tokens.mark(index + 3) == "("
    }

    /// Whether a word is what `instanceof` asks for, and nothing more.
    private static func isAskedFor(_ index: Int, _ tokens: [SourceTokens.Token]) -> Bool {
        tokens.isWord(index - 1, ["instanceof"])
            && (tokens.isMark(index + 1, SourceElements.ending)
                || tokens.isMark(index + 1, ["&&", "||", "?"]))
    }

    /// Whether a name is followed by that of a property.
    private static func isOfProperty(_ index: Int, _ tokens: [SourceTokens.Token]) -> Bool {
        tokens.isMark(index + 1, [".", "?.", "["]) && !tokens[index + 1].startsLine
    }

    /// Whether a bracket opens an array or a pattern of one.
    private static func isOfElements(_ index: Int, _ tokens: [SourceTokens.Token]) -> Bool {
        guard index > 0 else { return false }
        let last = tokens[index - 1]
        switch last.kind {
        case .mark: return !["]", ")", "}", "?.", ".", "++", "--"].contains(last.text)
        case .word: return keywords.contains(last.text) || isOfLoop(index - 1, tokens)
        case .member, .number, .string, .template, .regex: return false
        }
    }

    /// Whether a word is the `of` behind a loop's variable: no other may stand behind a name on its line.
    private static func isOfLoop(_ index: Int, _ tokens: [SourceTokens.Token]) -> Bool {
        guard index > 0, tokens[index].text == "of", !tokens[index].startsLine else { return false }
        return tokens[index - 1].kind == .word && isOperand(tokens[index - 1].text)
    }

    /// Whether a bracket asks for an element by a literal, whose text is looked at as all are.
    private static func isNamedAccess(_ index: Int, _ tokens: [SourceTokens.Token]) -> Bool {
        guard tokens.mark(index + 2) == "]" else { return false }
        return tokens[index + 1].kind == .number || tokens[index + 1].kind == .string
    }

    /// Words behind which an expression begins.
    private static let keywords: Set<String> = [
        "return", "typeof", "case", "in", "else", "do", "void", "delete", "throw", "instanceof", "new",
        "const", "var",
    ]
    /// Words that begin statements or their parts.
    private static let statements: Set<String> = [
        "if", "for", "while", "switch", "catch", "try", "finally", "break", "continue", "default", "function",
        "export",
    ]
    /// Words that are names in one place and keywords in another.
    private static let doubtful: Set<String> = [
        "let", "of", "await", "yield", "async", "get", "set", "static",
    ]

    /// Names that lead from any value to the language's objects, and words by which a source does what it
    /// does not show.
    private static let unsafe: Set<String> = [
        "constructor", "prototype", "caller", "callee", "arguments", "this", "super", "class", "extends",
        "import", "eval", "with", "globalThis", "require", "Function", "Reflect", "Proxy", "Symbol",
        "debugger", "enum",
    ]

    /// Globals that each call has of its own.
    private static let ofTheCall: Set<String> = ["context", "console", "BSON", "EJSON", "utils"]
    /// Globals that nobody can change, and that are no objects.
    private static let constants: Set<String> = ["undefined", "NaN", "Infinity"]
    /// Globals that may be called, which includes `new`.
    private static let callable: Set<String> = [
        "Date", "Map", "Set", "Promise", "Error", "TypeError", "RangeError", "Number", "String", "Boolean",
        "Array", "BigInt", "Object", "RegExp", "parseInt", "parseFloat", "isNaN", "isFinite",
        "encodeURIComponent", "decodeURIComponent", "encodeURI", "decodeURI", "setTimeout", "clearTimeout",
    ]
    /// Members of globals that nobody can change, and that are no objects.
    private static let numbers: [String: Set<String>] = [
        "Math": ["PI", "E", "LN2", "LN10", "LOG2E", "LOG10E", "SQRT2"],
        "Number": [
            "MAX_SAFE_INTEGER", "MIN_SAFE_INTEGER", "MAX_VALUE", "MIN_VALUE", "EPSILON", "POSITIVE_INFINITY",
            "NEGATIVE_INFINITY",
        ],
    ]
    /// Methods of globals that may be called.
    private static let methods: [String: Set<String>] = [
        "Array": ["isArray", "from", "of"],
        "Date": ["now", "parse", "UTC"],
        "JSON": ["parse", "stringify"],
        "Math": [
            "abs", "acos", "asin", "atan", "atan2", "cbrt", "ceil", "cos", "exp", "floor", "hypot", "log",
            "log10", "log2", "max", "min", "pow", "random", "round", "sign", "sin", "sqrt", "tan", "trunc",
        ],
        "Number": ["isInteger", "isSafeInteger", "isFinite", "isNaN", "parseFloat", "parseInt"],
        "Object": ["assign", "create", "entries", "freeze", "fromEntries", "hasOwn", "is", "keys", "values"],
        "Promise": ["all", "allSettled", "race", "any", "resolve", "reject"],
        "String": ["fromCharCode", "fromCodePoint"],
    ]
}

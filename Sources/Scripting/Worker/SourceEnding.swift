/// Whether nothing of a function runs once the call that it waits for has its answer, and what it returns is that
/// answer: `return collection.findOne(…)`, and `return await …`, and an awaited constant that is returned next.
///
/// A proof by the source's words, as ``SourceProof`` is one, for sources that this proves too: then nothing in them is
/// reached by a name that they do not show. Whoever uses a promise's value says `await`, `then` or a method of `Promise`,
/// or has an object with a `then`.
enum SourceEnding {
    /// Whether every promise's value that a source uses is one that a function of it returns as it is.
    ///
    /// - Parameter source: Of a function, proven by ``SourceProof``.
    /// - Returns: False for what is not sure.
    static func isAnswer(in source: String) -> Bool {
        guard let tokens = SourceTokens.read(source) else { return false }
        for index in tokens.indices {
            let token = tokens[index]
            switch token.kind {
            case .word, .member, .string:
                if users.contains(token.text) { return false }
                if token.kind == .word, token.text == "await", !isReturned(index, tokens) { return false }
            // The computed name of an object's method: it may be any of those words.
            case .mark where token.text == "]":
                if tokens.isMark(index + 1, [":", "=", "("]) || tokens.mark(index + 2) == "=" {
                    return false
                }
            case .mark, .number, .template, .regex: break
            }
        }
        return true
    }

    /// What uses a promise's value, or does something when it is known; and what makes an object with any name.
    private static let users: Set<String> = [
        "then", "catch", "finally", "try", "Promise", "yield", "fromEntries",
    ]

    /// Whether what `await` gives is returned, by itself.
    private static func isReturned(_ index: Int, _ tokens: [SourceTokens.Token]) -> Bool {
        guard let end = endOfOperand(index + 1, tokens) else { return false }
        if tokens.mark(index - 1) == "=>" { return isEnd(end, tokens, [";", "}", ")", "]", ","]) }
        if tokens.isWord(index - 1, ["return"]) {
            return !tokens[index].startsLine && isEnd(end, tokens, [";", "}"])
        }
        // `const name = await …; return name`
        guard tokens.mark(index - 1) == "=", tokens.isKind(index - 2, .word),
            tokens.isWord(index - 3, ["const", "let", "var"]), isEnd(end, tokens, [";"])
        else { return false }
        let next = tokens.mark(end) == ";" ? end + 1 : end
        return tokens.isWord(next, ["return"]) && tokens.isWord(next + 1, [tokens[index - 2].text])
            && !tokens[next + 1].startsLine && isEnd(next + 2, tokens, [";", "}"])
    }

    /// Whether an expression surely ends before a token.
    private static func isEnd(_ index: Int, _ tokens: [SourceTokens.Token], _ marks: Set<String>) -> Bool {
        guard tokens.indices.contains(index) else { return true }
        if tokens.isMark(index, marks) { return true }
        // A word that no expression goes on with: the line's end is the statement's.
        return tokens[index].startsLine && tokens[index].kind == .word
            && !["in", "instanceof", "of"].contains(tokens[index].text)
    }

    /// Where a name with members, elements and calls behind it ends; nil for anything else.
    private static func endOfOperand(_ index: Int, _ tokens: [SourceTokens.Token]) -> Int? {
        guard tokens.isKind(index, .word), SourceProof.isOperand(tokens[index].text) else { return nil }
        var index = index + 1
        while let mark = tokens.mark(index) {
            switch mark {
            case ".":
                guard tokens.isKind(index + 1, .member) else { return nil }
                index += 2
            case "(", "[":
                guard let close = close(of: index, tokens) else { return nil }
                index = close + 1
            default: return index
            }
        }
        return index
    }

    private static func close(of index: Int, _ tokens: [SourceTokens.Token]) -> Int? {
        var depth = 0
        for place in index..<tokens.count {
            if tokens.isMark(place, ["(", "[", "{"]) { depth += 1 }
            if tokens.isMark(place, [")", "]", "}"]) { depth -= 1 }
            if depth == 0 { return place }
        }
        return nil
    }
}

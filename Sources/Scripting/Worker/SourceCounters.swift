/// The variables of a source that hold nothing but numbers: `i` of `for (let i = 0; i < n; i++)`.
///
/// A name counts when each place where it stands is one of a few: declared with a number, counted up or down,
/// compared, calculated with, or the name of an element. Whichever variable of that name a place means, it is
/// a number then.
enum SourceCounters {
    /// Their names.
    static func names(in tokens: [SourceTokens.Token]) -> Set<String> {
        var names: Set<String> = []
        for index in tokens.indices where declares(index, tokens) { names.insert(tokens[index].text) }
        guard !names.isEmpty else { return names }
        for index in tokens.indices where tokens.isWord(index, names) && !isOfNumber(index, tokens) {
            names.remove(tokens[index].text)
        }
        return names
    }

    /// Whether it is declared here, as in `let i = 0;`.
    private static func declares(_ index: Int, _ tokens: [SourceTokens.Token]) -> Bool {
        tokens.isKind(index, .word) && tokens.isWord(index - 1, ["let", "var"])
            && tokens.mark(index + 1) == "=" && isJustNumber(index + 2, [";", ","], tokens)
    }

    private static func isJustNumber(
        _ index: Int,
        _ ends: Set<String>,
        _ tokens: [SourceTokens.Token]
    ) -> Bool {
        tokens.isKind(index, .number) && tokens.isMark(index + 1, ends)
    }

    /// Whether a name can only be that of a number where it stands.
    private static func isOfNumber(_ index: Int, _ tokens: [SourceTokens.Token]) -> Bool {
        if declares(index, tokens) { return true }
        let (before, next) = (index - 1, index + 1)
        let steps: Set<String> = ["++", "--"]
        if tokens.isMark(next, steps) || tokens.isMark(next, SourceElements.calculating) { return true }
        if tokens.isMark(next, ["+=", "-="]) { return isJustNumber(index + 2, [";", ",", ")"], tokens) }
        // It is read, and what it is read for is not written to it.
        if tokens.isMark(before, steps) || tokens.isMark(before, SourceElements.calculating)
            || tokens.isMark(before, SourceElements.assigning) || tokens.mark(before) == "=>"
        {
            return tokens.isMark(next, SourceElements.ending) || tokens.mark(next) == "?"
        }
        if tokens.mark(before) == "[", tokens.mark(next) == "]" {
            return SourceElements.isAccess(before, tokens)
        }
        return tokens.mark(before) == "(" && tokens.mark(next) == ")" && isArgument(index, tokens)
    }

    /// Of `f(i)`, where no function is declared, and in a template.
    private static func isArgument(_ index: Int, _ tokens: [SourceTokens.Token]) -> Bool {
        if tokens.isKind(index + 2, .template) { return true }
        guard index >= 2, tokens.isMark(index + 2, SourceElements.ending) else { return false }
        let callee = tokens[index - 2]
        return callee.kind == .member || callee.kind == .word && SourceProof.isOperand(callee.text)
    }
}

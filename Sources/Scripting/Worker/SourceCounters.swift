/// The variables of a source that hold nothing but numbers: `i` of `for (let i = 0; i < n; i++)`.
///
/// A name counts when each place where it stands is one of a few: declared with a number, counted up or down,
/// compared, calculated with, or the name of an element. Whichever variable of that name a place means, it is
/// a number then.
enum SourceCounters {
    /// Marks before which an expression ends.
    static let ending: Set<String> = [";", ")", ",", "]", "}", ":"]

    /// Their names.
    static func names(in tokens: [SourceTokens.Token]) -> Set<String> {
        let source = Source(tokens: tokens)
        var names: Set<String> = []
        for index in tokens.indices where source.declares(index) { names.insert(tokens[index].text) }
        guard !names.isEmpty else { return names }
        for index in tokens.indices where tokens[index].kind == .word && names.contains(tokens[index].text) {
            if !source.isOfNumber(index) { names.remove(tokens[index].text) }
        }
        return names
    }

    private struct Source {
        let tokens: [SourceTokens.Token]

        private func mark(_ index: Int) -> String {
            tokens.indices.contains(index) && tokens[index].kind == .mark ? tokens[index].text : ""
        }

        private func kind(_ index: Int) -> SourceTokens.Token.Kind? {
            tokens.indices.contains(index) ? tokens[index].kind : nil
        }

        /// Whether it is declared here, as in `let i = 0;`.
        func declares(_ index: Int) -> Bool {
            guard index > 0, kind(index) == .word, kind(index - 1) == .word,
                tokens[index - 1].text == "let" || tokens[index - 1].text == "var"
            else { return false }
            return mark(index + 1) == "=" && isJustNumber(index + 2, [";", ","])
        }

        private func isJustNumber(_ index: Int, _ ends: Set<String>) -> Bool {
            kind(index) == .number && ends.contains(mark(index + 1))
        }

        /// Whether a name can only be that of a number where it stands.
        func isOfNumber(_ index: Int) -> Bool {
            if declares(index) { return true }
            let before = mark(index - 1)
            let next = mark(index + 1)
            if next == "++" || next == "--" || calculating.contains(next) { return true }
            if next == "+=" || next == "-=" { return isJustNumber(index + 2, [";", ",", ")"]) }
            // It is read, and what it is read for is not written to it.
            if before == "++" || before == "--" || calculating.contains(before) || assigning.contains(before)
            {
                return ending.contains(next) || next == "?"
            }
            if before == "[", next == "]" { return SourceElements.isAccess(index - 1, tokens) }
            return before == "(" && next == ")" && isArgument(index)
        }

        /// Of `f(i)`, where no function is declared, and in a template.
        private func isArgument(_ index: Int) -> Bool {
            if kind(index + 2) == .literal { return true }
            guard index >= 2, ending.contains(mark(index + 2)) else { return false }
            let callee = tokens[index - 2]
            return callee.kind == .member || callee.kind == .word && SourceProof.isOperand(callee.text)
        }

        private var calculating: Set<String> { ["+", "-", "*", "/", "%", "<", ">", "<=", ">=", "==", "!="] }
        private var assigning: Set<String> { ["=", "+=", "-=", "*=", "/=", "%=", "=>"] }
    }
}

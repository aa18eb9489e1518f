import Testing

/// A row of a table of `reference/functions.md`, and what a function gives that does what it says.
struct TableRow: Sendable, CustomTestStringConvertible {
    /// The first cell.
    let row: String
    /// A whole source, or an expression.
    let source: String
    /// The result as canonical text; a failure's message after a `!`.
    let answer: String

    init(_ row: String, _ source: String, _ answer: String) {
        self.row = row
        self.source = source
        self.answer = answer
    }

    var testDescription: String { row }
}

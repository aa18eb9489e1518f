/// Runs scripts.
public protocol Scripts: Sendable {
    /// Runs one function to its end; cancelling the task ends the run.
    func run(_ call: ScriptCall, of bundle: ScriptBundle, host: any ScriptHost) async -> ScriptOutcome

    /// Runs one function that neither needs an engine nor asks for anything; nil for any other, of which nothing has
    /// happened.
    func runAtOnce(_ call: ScriptCall, of bundle: ScriptBundle) -> ScriptOutcome?

    /// The fault of a source, or nil when it parses; nothing of it runs.
    func check(_ source: String, file: String) async -> SyntaxFault?
}

/// Where a source does not parse.
public struct SyntaxFault: Sendable, Hashable {
    /// As given to the check.
    public let file: String
    /// From 1.
    public let line: Int
    /// From 1; 0 when the engine does not tell.
    public let column: Int
    /// The engine's words.
    public let message: String

    /// Made of its parts.
    public init(file: String, line: Int, column: Int, message: String) {
        self.file = file
        self.line = line
        self.column = column
        self.message = message
    }
}

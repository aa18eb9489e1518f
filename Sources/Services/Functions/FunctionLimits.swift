public import MQL

/// How much functions may take, beside what the engine bounds.
public struct FunctionLimits: Sendable {
    /// How long a run may take.
    ///
    /// Source: `reference/functions.md` §8.
    public var runTime: Duration
    /// Runs of one app at once; more are refused with 429.
    public var concurrentRunsPerApp: Int
    /// Open transactions of all functions at once; each holds a connection.
    public var transactions: Int
    /// How much one operation on a collection may ask.
    public var parse: ParseLimits

    /// The defaults, but for what is given.
    public init(
        runTime: Duration = .seconds(300),
        concurrentRunsPerApp: Int = 8000,
        transactions: Int = 8,
        parse: ParseLimits = .standard
    ) {
        self.runTime = runTime
        self.concurrentRunsPerApp = concurrentRunsPerApp
        self.transactions = transactions
        self.parse = parse
    }
}

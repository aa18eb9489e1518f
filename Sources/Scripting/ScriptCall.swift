public import BSON

/// One run of a function.
public struct ScriptCall: Sendable {
    /// What runs.
    public enum Entry: Sendable {
        /// A function of the bundle.
        case named(String)
        /// The source of a function that has no name: a run-as script, an operator's trial.
        case source(String)
    }

    /// How the entry is called and answers.
    public enum Form: Sendable {
        /// Called with the arguments; answers with a value.
        case plain
        /// Called with a request, its only argument, and a response, which the outcome carries.
        case endpoint
    }

    /// What runs.
    public let entry: Entry
    /// How it is called.
    public let form: Form
    /// Its arguments.
    public let arguments: [BSONValue]
    /// `context.user` as functions see it.
    public let user: BSONDocument
    /// `context.request`, asked when a script wants to see it, by whichever task; nil outside of requests.
    public let request: @Sendable () -> BSONDocument?
    /// What `context.runningAsSystem()` answers.
    public let runsAsSystem: Bool
    /// When the answer is due; the limit of the run time is the caller's to apply.
    public let deadline: ContinuousClock.Instant
    /// Whether the first lines of the console are kept, as of endpoints and triggers, rather than the last.
    public let keepsFirstLines: Bool
    /// Who waits for the answer; nil is somebody who stays.
    ///
    /// A call that waits for a worker ends when they have gone.
    public let caller: CallerPresence?

    /// What is handed to the script, in bytes.
    var size: Int {
        arguments.reduce(BSONBinaryFormat.size(of: user)) { $0 + BSONBinaryFormat.size(of: $1) }
    }

    /// Made of its parts.
    public init(
        entry: Entry,
        form: Form = .plain,
        arguments: [BSONValue],
        user: BSONDocument,
        request: @autoclosure @escaping @Sendable () -> BSONDocument? = nil,
        runsAsSystem: Bool,
        deadline: ContinuousClock.Instant,
        keepsFirstLines: Bool = false,
        caller: CallerPresence? = nil
    ) {
        self.entry = entry
        self.form = form
        self.arguments = arguments
        self.user = user
        self.request = request
        self.runsAsSystem = runsAsSystem
        self.deadline = deadline
        self.keepsFirstLines = keepsFirstLines || form == .endpoint
        self.caller = caller
    }
}

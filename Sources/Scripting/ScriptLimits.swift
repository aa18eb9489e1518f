/// What scripts may use.
///
/// Source of the defaults: `reference/functions.md` §8.
public struct ScriptLimits: Sendable, Hashable {
    /// How many worker processes there may be.
    public var workers: Int
    /// How many more may run for calls that are made while another call waits for them.
    public var extraWorkers: Int
    /// How many calls may wait for a worker; past it they are refused with `busy`.
    public var waiting: Int
    /// How many of them may be of one app.
    public var waitingPerApp: Int
    /// How long an idle worker is kept.
    public var idle: Duration
    /// How long a run may take, whatever its deadline.
    public var runTime: Duration
    /// How many bytes a worker may hold in memory.
    public var memoryBytes: Int
    /// A worker that holds more than this after a call is replaced.
    public var keptMemoryBytes: Int
    /// How many host calls of one run may be under way.
    public var queue: Int
    /// How many of them are answered at a time, those of sessions aside.
    public var concurrentHostCalls: Int
    /// How deep functions may call each other, within a run and across rules.
    public var depth: Int
    /// How many bytes the arguments of a call may have.
    public var requestBytes: Int
    /// How many bytes its result may have.
    public var responseBytes: Int
    /// How many lines of the console are kept.
    public var logLines: Int
    /// How many bytes of each.
    public var logLineBytes: Int

    /// Takes the published limits for what is left out.
    public init(
        workers: Int = 8,
        extraWorkers: Int = 4,
        waiting: Int = 10_000,
        waitingPerApp: Int = 10_000,
        idle: Duration = .seconds(60),
        runTime: Duration = .seconds(300),
        memoryBytes: Int = 350 << 20,
        keptMemoryBytes: Int = 160 << 20,
        queue: Int = 1000,
        concurrentHostCalls: Int = 16,
        depth: Int = 64,
        requestBytes: Int = 18 << 20,
        responseBytes: Int = 18 << 20,
        logLines: Int = 25,
        logLineBytes: Int = 512
    ) {
        self.workers = workers
        self.extraWorkers = extraWorkers
        self.waiting = waiting
        self.waitingPerApp = waitingPerApp
        self.idle = idle
        self.runTime = runTime
        self.memoryBytes = memoryBytes
        self.keptMemoryBytes = keptMemoryBytes
        self.queue = queue
        self.concurrentHostCalls = concurrentHostCalls
        self.depth = depth
        self.requestBytes = requestBytes
        self.responseBytes = responseBytes
        self.logLines = logLines
        self.logLineBytes = logLineBytes
    }
}

import Accounts
import BSON
import HTTPGateway
import MQL
import Scripting
import Services

/// A limit: a setting that is a whole number, and where the number goes.
struct LimitSetting: Sendable {
    let setting: Setting
    let range: ClosedRange<Int>
    let apply: @Sendable (inout ServerSettings, Int) -> Void

    private init(
        _ name: String,
        _ value: Int,
        in range: ClosedRange<Int>,
        _ help: String,
        _ apply: @escaping @Sendable (inout ServerSettings, Int) -> Void
    ) {
        setting = Setting(name: name, defaultValue: String(value), help: help)
        self.range = range
        self.apply = apply
    }

    /// What a flag's help says.
    static func help(_ name: String) -> String {
        guard let limit = all.first(where: { $0.setting.name == name }) else {
            preconditionFailure("there is no limit '\(name)'")
        }
        return "\(limit.setting.help) (default: \(limit.setting.defaultValue ?? ""))"
    }

    /// Every limit, in the order of the README.
    static let all: [LimitSetting] =
        sizes + results + admission + logins + watches + functions
        + connections

    /// Those that a request asks for anew; the others are built into what waits, counts and remembers.
    static let changeable: Set<String> = Set((sizes + admission).map(\.setting.name)).subtracting([
        "max-header-bytes", "max-header-fields", "max-waiting-statements", "pool-wait",
    ])

    private static let megabyte = 1 << 20

    /// How much one request may hold.
    private static let sizes: [LimitSetting] = [
        LimitSetting(
            "max-body-bytes",
            18 * megabyte,
            in: 1024...1024 * megabyte,
            "Bytes of a request's body."
        ) {
            $0.gateway.limits.bodyBytes = $1
        },
        LimitSetting("max-url-bytes", 8192, in: 256...65536, "Bytes of a URL, its query included.") {
            $0.gateway.limits.urlBytes = $1
        },
        LimitSetting("max-header-bytes", 80 * 1024, in: 1024...megabyte, "Bytes of all header fields.") {
            $0.gateway.limits.headerBytes = $1
        },
        LimitSetting("max-header-fields", 200, in: 10...10_000, "Header fields of a request.") {
            $0.gateway.limits.headerFields = $1
        },
        LimitSetting("max-depth", 202, in: 4...202, "Levels of objects and arrays in a body.") {
            $0.gateway.limits.read.depth = $1
        },
        LimitSetting(
            "max-values",
            1_000_000,
            in: 100...100_000_000,
            "Values in a body, objects and arrays included."
        ) {
            $0.gateway.limits.read.nodes = $1
        },
        LimitSetting("max-array-length", 200_000, in: 10...100_000_000, "Elements of one array in a body.") {
            $0.gateway.limits.read.elements = $1
        },
        LimitSetting("max-key-bytes", 4096, in: 16...megabyte, "Bytes of a field's name.") {
            $0.gateway.limits.read.keyBytes = $1
        },
        LimitSetting("max-conditions", 1000, in: 1...100_000, "Conditions in all filters of a request.") {
            $0.gateway.limits.parse.conditions = $1
        },
        LimitSetting("max-list-members", 10_000, in: 1...1_000_000, "Members of one $in, $nin or $all.") {
            $0.gateway.limits.parse.listMembers = $1
        },
        LimitSetting("max-stages", 1000, in: 1...1000, "Stages of a pipeline.") {
            $0.gateway.limits.parse.stages = $1
        },
        LimitSetting("max-update-paths", 1000, in: 1...100_000, "Paths that an update names.") {
            $0.gateway.limits.parse.updatePaths = $1
        },
        LimitSetting("max-pattern-bytes", 8192, in: 1...32764, "Bytes of a regular expression.") {
            $0.gateway.limits.parse.patternBytes = $1
        },
        LimitSetting("max-sort-keys", 32, in: 1...32, "Keys of a sort.") {
            $0.gateway.limits.parse.sortKeys = $1
        },
        LimitSetting(
            "max-projected-fields",
            1000,
            in: 1...100_000,
            "Fields of a projection, or of a stage that makes fields."
        ) {
            $0.gateway.limits.parse.projectedFields = $1
        },
        LimitSetting("max-inserted-documents", 100_000, in: 1...100_000, "Documents of one insertMany.") {
            $0.gateway.limits.parse.insertedDocuments = $1
        },
    ]

    /// How many requests may come, at once and in time; 0 is no limit.
    private static let admission: [LimitSetting] = [
        LimitSetting("max-concurrent-requests", 10_000, in: 0...1_000_000, "Requests under way at once.") {
            $0.gateway.admission.concurrentRequests = $1
        },
        LimitSetting(
            "max-concurrent-requests-per-user",
            0,
            in: 0...1_000_000,
            "Requests of one user under way at once; 0 is no limit."
        ) {
            $0.gateway.admission.concurrentRequestsPerUser = $1
        },
        LimitSetting(
            "max-buffered-body-bytes",
            512 * megabyte,
            in: 0...(1 << 40),
            "Bytes of all bodies under way that are larger than 64 KiB."
        ) {
            $0.gateway.admission.bufferedBodyBytes = $1
        },
        LimitSetting(
            "max-waiting-statements",
            1000,
            in: 0...1_000_000,
            "Statements that wait for a connection to PostgreSQL."
        ) {
            $0.queue.statements = $1
        },
        LimitSetting("pool-wait", 10, in: 1...3600, "Seconds that a statement waits for a connection.") {
            $0.queue.seconds = $1
        },
        LimitSetting(
            "requests-per-second-per-user",
            0,
            in: 0...1_000_000,
            "Requests of one user in a second, in the long run; 100 documents of an insertMany are one."
        ) {
            $0.gateway.admission.requestsPerSecondPerUser = $1
        },
        LimitSetting(
            "request-burst-per-user",
            1000,
            in: 1...1_000_000,
            "Requests that one user may save up for a rush."
        ) {
            $0.gateway.admission.requestBurstPerUser = $1
        },
        LimitSetting(
            "requests-per-second-per-address",
            0,
            in: 0...1_000_000,
            "Requests of one address in a second that come without a good user: logins, wrong or no credentials."
        ) {
            $0.gateway.admission.requestsPerSecondPerAddress = $1
        },
        LimitSetting(
            "request-burst-per-address",
            1000,
            in: 1...1_000_000,
            "Requests that one address may save up for a rush."
        ) {
            $0.gateway.admission.requestBurstPerAddress = $1
        },
    ]

    /// What credentials cost, and how many may be tried; 0 is no limit.
    private static let logins: [LimitSetting] = [
        LimitSetting(
            "password-cost",
            PasswordHash.Cost.standard.logN,
            in: 14...20,
            "What a password's hash costs: the base-2 logarithm of scrypt's N. Each step doubles time and memory (17: 128 MiB)."
        ) {
            $0.accounts.passwordCost = PasswordHash.Cost(logN: $1, r: 8, p: 1)
        },
        LimitSetting(
            "failed-logins-per-minute-per-address",
            60,
            in: 0...1_000_000,
            "Failed logins from one address in a minute."
        ) {
            $0.accounts.failedLoginsPerAddress = $1
        },
        LimitSetting(
            "failed-logins-per-minute-per-account",
            20,
            in: 0...1_000_000,
            "Failed logins of one account from one address in a minute; five times as many from everywhere."
        ) {
            $0.accounts.failedLoginsPerAccount = $1
        },
        LimitSetting(
            "mails-per-hour-per-account",
            6,
            in: 0...1_000_000,
            "Confirmation and reset mails to one account in an hour, of all gateways together."
        ) {
            $0.accounts.mailsPerAccount = $1
        },
        LimitSetting(
            "mails-per-hour-per-address",
            60,
            in: 0...1_000_000,
            "Such mails that one address may ask for in an hour, registrations included."
        ) {
            $0.accounts.mailsPerAddress = $1
        },
        LimitSetting("max-waiting-logins", 64, in: 0...100_000, "Logins that wait for a password hash.") {
            $0.accounts.waitingHashes = $1
        },
    ]

    /// How many may watch, how slowly, and how long they may be away.
    private static let watches: [LimitSetting] = [
        LimitSetting("max-watches", 5000, in: 0...1_000_000, "Watches at once; 0 is no limit.") {
            $0.watches.most = $1
        },
        LimitSetting(
            "max-watches-per-user",
            50,
            in: 0...1_000_000,
            "Watches of one user at once; 0 is no limit."
        ) {
            $0.watches.mostPerUser = $1
        },
        LimitSetting(
            "max-watch-lag",
            60,
            in: 1...86400,
            "Seconds that a watch may be behind because its client reads slowly."
        ) {
            $0.watches.lagSeconds = $1
        },
        LimitSetting(
            "change-retention",
            24,
            in: 1...8760,
            "Hours that changes of watched collections are kept, and logged after the last watch."
        ) {
            $0.watches.retentionHours = $1
        },
    ]

    /// What one operation may bring back and compute.
    private static let results: [LimitSetting] = [
        LimitSetting(
            "max-result-bytes",
            64 * megabyte,
            in: 1024...1024 * megabyte,
            "Bytes of an answer's documents."
        ) {
            $0.data.resultBytes = $1
        },
        LimitSetting(
            "max-result-documents",
            50_000,
            in: 1...50_000,
            "Documents of an answer; a find stops there, an aggregation is refused."
        ) {
            $0.data.resultDocuments = $1
        },
        LimitSetting(
            "max-evaluation-steps",
            200_000_000,
            in: 1000...100_000_000_000,
            "Steps of the expressions of a request in memory; some millions take a second."
        ) {
            $0.data.evaluationSteps = $1
        },
    ]

    /// How much functions may take, and how many may run.
    private static let functions: [LimitSetting] = [
        LimitSetting(
            "function-workers",
            8,
            in: 1...1000,
            "Processes that run functions, of all apps together."
        ) {
            $0.scripts.workers = $1
        },
        LimitSetting("function-memory", 350, in: 64...65536, "MiB that a function may hold.") {
            $0.scripts.memoryBytes = $1 * megabyte
        },
        LimitSetting("function-timeout", 300, in: 1...3600, "Seconds that a function may run.") {
            $0.functions.runTime = .seconds($1)
            $0.scripts.runTime = .seconds($1)
        },
        LimitSetting(
            "max-concurrent-functions",
            8000,
            in: 1...1_000_000,
            "Functions of one app under way at once, those included that wait for a worker."
        ) {
            $0.functions.concurrentRunsPerApp = $1
        },
        LimitSetting(
            "max-function-bytes",
            18 * megabyte,
            in: 1024...1024 * megabyte,
            "Bytes of a function's arguments, and of its result."
        ) {
            $0.scripts.requestBytes = $1
            $0.scripts.responseBytes = $1
        },
        LimitSetting(
            "max-function-transactions",
            8,
            in: 1...1000,
            "Transactions of functions open at once, each with a connection; never more than half of pool-size."
        ) {
            $0.functions.transactions = $1
        },
    ]

    /// How many connections there may be, and how long they may do nothing.
    private static let connections: [LimitSetting] = [
        LimitSetting(
            "max-connections",
            10_000,
            in: 1...1_000_000,
            "Connections of clients, of all doors together."
        ) {
            $0.connections.most = $1
        },
        LimitSetting(
            "header-timeout",
            30,
            in: 1...3600,
            "Seconds that a connection may say nothing, and from a request's first byte to the end of its header; TLS included."
        ) {
            $0.connections.headTimeout = $1
        },
        LimitSetting("idle-timeout", 75, in: 1...86400, "Seconds that a connection may be without a request.")
        {
            $0.connections.idleTimeout = $1
        },
        LimitSetting(
            "write-timeout",
            30,
            in: 1...3600,
            "Seconds in which a client must take some of its answer, 64 KiB at the most."
        ) {
            $0.connections.writeTimeout = $1
        },
    ]
}

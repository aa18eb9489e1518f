import ArgumentParser

/// The flags of every limit, unparsed: what each means is in ``LimitSetting``.
struct LimitOptions: ParsableArguments {
    @Option(name: .long, help: help("max-body-bytes")) var maxBodyBytes: String?
    @Option(name: .customLong("max-url-bytes"), help: help("max-url-bytes")) var maxURLBytes: String?
    @Option(name: .long, help: help("max-header-bytes")) var maxHeaderBytes: String?
    @Option(name: .long, help: help("max-header-fields")) var maxHeaderFields: String?
    @Option(name: .long, help: help("max-depth")) var maxDepth: String?
    @Option(name: .long, help: help("max-values")) var maxValues: String?
    @Option(name: .long, help: help("max-array-length")) var maxArrayLength: String?
    @Option(name: .long, help: help("max-key-bytes")) var maxKeyBytes: String?
    @Option(name: .long, help: help("max-conditions")) var maxConditions: String?
    @Option(name: .long, help: help("max-list-members")) var maxListMembers: String?
    @Option(name: .long, help: help("max-stages")) var maxStages: String?
    @Option(name: .long, help: help("max-update-paths")) var maxUpdatePaths: String?
    @Option(name: .long, help: help("max-pattern-bytes")) var maxPatternBytes: String?
    @Option(name: .long, help: help("max-sort-keys")) var maxSortKeys: String?
    @Option(name: .long, help: help("max-projected-fields")) var maxProjectedFields: String?
    @Option(name: .long, help: help("max-inserted-documents")) var maxInsertedDocuments: String?
    @Option(name: .long, help: help("max-concurrent-requests")) var maxConcurrentRequests: String?
    @Option(name: .long, help: help("max-concurrent-requests-per-user")) var maxConcurrentRequestsPerUser:
        String?
    @Option(name: .long, help: help("max-buffered-body-bytes")) var maxBufferedBodyBytes: String?
    @Option(name: .long, help: help("max-waiting-statements")) var maxWaitingStatements: String?
    @Option(name: .long, help: help("pool-wait")) var poolWait: String?
    @Option(name: .long, help: help("requests-per-second-per-user")) var requestsPerSecondPerUser: String?
    @Option(name: .long, help: help("request-burst-per-user")) var requestBurstPerUser: String?
    @Option(name: .long, help: help("requests-per-second-per-address")) var requestsPerSecondPerAddress:
        String?
    @Option(name: .long, help: help("request-burst-per-address")) var requestBurstPerAddress: String?
    @Option(name: .long, help: help("password-cost")) var passwordCost: String?
    @Option(name: .long, help: help("failed-logins-per-minute-per-address"))
    var failedLoginsPerMinutePerAddress: String?
    @Option(name: .long, help: help("failed-logins-per-minute-per-account"))
    var failedLoginsPerMinutePerAccount: String?
    @Option(name: .long, help: help("mails-per-hour-per-account")) var mailsPerHourPerAccount: String?
    @Option(name: .long, help: help("mails-per-hour-per-address")) var mailsPerHourPerAddress: String?
    @Option(name: .long, help: help("max-waiting-logins")) var maxWaitingLogins: String?
    @Option(name: .long, help: help("max-result-bytes")) var maxResultBytes: String?
    @Option(name: .long, help: help("max-result-documents")) var maxResultDocuments: String?
    @Option(name: .long, help: help("max-evaluation-steps")) var maxEvaluationSteps: String?
    @Option(name: .long, help: help("max-watches")) var maxWatches: String?
    @Option(name: .long, help: help("max-watches-per-user")) var maxWatchesPerUser: String?
    @Option(name: .long, help: help("max-watch-lag")) var maxWatchLag: String?
    @Option(name: .long, help: help("change-retention")) var changeRetention: String?
    @Option(name: .long, help: help("function-workers")) var functionWorkers: String?
    @Option(name: .long, help: help("function-memory")) var functionMemory: String?
    @Option(name: .long, help: help("function-timeout")) var functionTimeout: String?
    @Option(name: .long, help: help("max-concurrent-functions")) var maxConcurrentFunctions: String?
    @Option(name: .long, help: help("max-function-bytes")) var maxFunctionBytes: String?
    @Option(name: .long, help: help("max-function-transactions")) var maxFunctionTransactions: String?
    @Option(name: .long, help: help("max-connections")) var maxConnections: String?
    @Option(name: .long, help: help("header-timeout")) var headerTimeout: String?
    @Option(name: .long, help: help("idle-timeout")) var idleTimeout: String?
    @Option(name: .long, help: help("write-timeout")) var writeTimeout: String?

    private static func help(_ name: String) -> ArgumentHelp {
        ArgumentHelp(stringLiteral: LimitSetting.help(name))
    }

    /// What was given on the command line, by the limits' names.
    var given: [String: String] {
        let values: [(String, String?)] = [
            ("max-body-bytes", maxBodyBytes), ("max-url-bytes", maxURLBytes),
            ("max-header-bytes", maxHeaderBytes), ("max-header-fields", maxHeaderFields),
            ("max-depth", maxDepth), ("max-values", maxValues), ("max-array-length", maxArrayLength),
            ("max-key-bytes", maxKeyBytes), ("max-conditions", maxConditions),
            ("max-list-members", maxListMembers), ("max-stages", maxStages),
            ("max-update-paths", maxUpdatePaths), ("max-pattern-bytes", maxPatternBytes),
            ("max-sort-keys", maxSortKeys), ("max-projected-fields", maxProjectedFields),
            ("max-inserted-documents", maxInsertedDocuments),
            ("max-concurrent-requests", maxConcurrentRequests),
            ("max-concurrent-requests-per-user", maxConcurrentRequestsPerUser),
            ("max-buffered-body-bytes", maxBufferedBodyBytes),
            ("max-waiting-statements", maxWaitingStatements),
            ("pool-wait", poolWait),
            ("requests-per-second-per-user", requestsPerSecondPerUser),
            ("request-burst-per-user", requestBurstPerUser),
            ("requests-per-second-per-address", requestsPerSecondPerAddress),
            ("request-burst-per-address", requestBurstPerAddress),
            ("password-cost", passwordCost),
            ("failed-logins-per-minute-per-address", failedLoginsPerMinutePerAddress),
            ("failed-logins-per-minute-per-account", failedLoginsPerMinutePerAccount),
            ("mails-per-hour-per-account", mailsPerHourPerAccount),
            ("mails-per-hour-per-address", mailsPerHourPerAddress),
            ("max-waiting-logins", maxWaitingLogins),
            ("max-result-bytes", maxResultBytes),
            ("max-result-documents", maxResultDocuments),
            ("max-evaluation-steps", maxEvaluationSteps),
            ("max-watches", maxWatches),
            ("max-watches-per-user", maxWatchesPerUser),
            ("max-watch-lag", maxWatchLag),
            ("change-retention", changeRetention),
            ("function-workers", functionWorkers),
            ("function-memory", functionMemory),
            ("function-timeout", functionTimeout),
            ("max-concurrent-functions", maxConcurrentFunctions),
            ("max-function-bytes", maxFunctionBytes),
            ("max-function-transactions", maxFunctionTransactions),
            ("max-connections", maxConnections),
            ("header-timeout", headerTimeout),
            ("idle-timeout", idleTimeout),
            ("write-timeout", writeTimeout),
        ]
        return Dictionary(uniqueKeysWithValues: values.compactMap { name, value in value.map { (name, $0) } })
    }
}

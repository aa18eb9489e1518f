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
        ]
        return Dictionary(uniqueKeysWithValues: values.compactMap { name, value in value.map { (name, $0) } })
    }
}

import Errors

/// Bounds on what the parsers of this room accept, so that a small request cannot cost much.
///
/// Beside them stand the bounds of MongoDB itself, which no setting lifts: 100 levels of a filter, 1000 stages, 32 keys
/// of a sort, patterns of 32,764 bytes.
public struct ParseLimits: Sendable, Hashable {
    /// Tests in all the filters of one operation; a member of a list that is an object or a pattern is one.
    public var conditions: Int
    /// Members of one `$in`, `$nin`, `$all` or mask of bits.
    public var listMembers: Int
    /// Stages of one pipeline.
    public var stages: Int
    /// Paths that one update names.
    public var updatePaths: Int
    /// Bytes of one regular expression.
    public var patternBytes: Int
    /// Keys of one sort.
    public var sortKeys: Int
    /// Fields of one projection, or of one stage that makes fields.
    public var projectedFields: Int
    /// Documents of one `insertMany`.
    public var insertedDocuments: Int

    /// Takes the standard bound for what is left out.
    public init(
        conditions: Int = 1000,
        listMembers: Int = 10_000,
        stages: Int = 1000,
        updatePaths: Int = 1000,
        patternBytes: Int = 8192,
        sortKeys: Int = SortParser.maximumKeys,
        projectedFields: Int = 1000,
        insertedDocuments: Int = OperationParser.maximumDocuments
    ) {
        self.conditions = conditions
        self.listMembers = listMembers
        self.stages = stages
        self.updatePaths = updatePaths
        self.patternBytes = patternBytes
        self.sortKeys = sortKeys
        self.projectedFields = projectedFields
        self.insertedDocuments = insertedDocuments
    }

    /// What requests are parsed with.
    public static let standard = ParseLimits()

    /// For what an administrator wrote: only MongoDB's own bounds hold.
    public static let unbounded = ParseLimits(
        conditions: .max,
        listMembers: .max,
        updatePaths: .max,
        patternBytes: .max,
        projectedFields: .max
    )
}

/// What is left of the limits while one operation is parsed.
///
/// A class, since one count goes through all the parsers of an operation; it stays on one thread.
final class ParseBudget {
    let limits: ParseLimits
    /// The member of the request that is being parsed, for messages.
    var place = "filter"
    /// The variables that expressions may use, beside the system's: those of `let`.
    var variables: Set<String> = []
    /// How the operation compares texts, which its sorts and buckets know.
    var collation: Collation?
    /// What constants are compared in.
    var comparison: EvaluationContext {
        var context = EvaluationContext(now: 0)
        context.collation = collation
        return context
    }
    /// Whether a `$facet` lies around, which holds for all pipelines inside it.
    var isInFacet = false
    /// Whether a `$text` may be part of the operation: where every statement asks for it.
    var allowsText = false
    /// How many pipelines lie around the one that is being parsed.
    var nesting = 0
    private var conditions = 0

    init(_ limits: ParseLimits) {
        self.limits = limits
    }

    /// Counts tests.
    func addConditions(_ count: Int = 1) throws(ServiceError) {
        conditions += count
        try check(conditions, limits.conditions, "conditions", "max-conditions")
    }

    /// Checks the length of an operator's list.
    func checkList(_ name: String, _ count: Int) throws(ServiceError) {
        try check(count, limits.listMembers, "members in \(name)", "max-list-members")
    }

    func checkPattern(_ pattern: String) throws(ServiceError) {
        let bytes = pattern.utf8.count
        try check(bytes, limits.patternBytes, "bytes in a regular expression", "max-pattern-bytes", 51091)
    }

    func checkStages(_ count: Int) throws(ServiceError) {
        try check(count, limits.stages, "stages", "max-stages", 7_749_501)
    }

    func checkPaths(_ count: Int) throws(ServiceError) {
        try check(count, limits.updatePaths, "paths", "max-update-paths")
    }

    func checkFields(_ count: Int) throws(ServiceError) {
        try check(count, limits.projectedFields, "fields", "max-projected-fields")
    }

    func checkSort(_ count: Int) throws(ServiceError) {
        try check(count, limits.sortKeys, "keys", "max-sort-keys", 13103)
    }

    func checkDocuments(_ count: Int) throws(ServiceError) {
        try check(count, limits.insertedDocuments, "elements", "max-inserted-documents")
    }

    /// Refuses with MongoDB's code for its own bound where it has one, and else with BadValue.
    private func check(
        _ count: Int,
        _ limit: Int,
        _ what: String,
        _ name: String,
        _ code: Int = 2
    ) throws(ServiceError) {
        guard count > limit else { return }
        throw ServiceError(
            .invalidParameter,
            "'\(place)' has more than \(limit) \(what) (limit \(name))",
            serverCode: ServerErrorCode(code),
            details: [place: "more than \(limit) \(what)", "limit": name]
        )
    }
}

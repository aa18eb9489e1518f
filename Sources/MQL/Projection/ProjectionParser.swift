public import BSON
public import Errors

/// Turns a projection document into a ``Projection``.
///
/// Source: `reference/mql.md` §5.
public enum ProjectionParser {
    /// Parses a projection.
    ///
    /// - Parameters:
    ///   - document: `{a: 1, "b.c": 1, _id: 0}` and the like.
    ///   - inPipeline: Whether it belongs to `$project`, which knows neither `$elemMatch` nor the
    ///     positional form, and where `$slice` is an expression.
    ///   - limits: How much it may name.
    /// - Returns: nil for `{}` of a find, which shows everything.
    /// - Throws: ``ServiceError`` with MongoDB's code, 312xx and 313xx for what mixes or collides.
    public static func parse(
        _ document: BSONDocument,
        inPipeline: Bool,
        limits: ParseLimits = .unbounded
    ) throws(ServiceError) -> Projection? {
        try parse(document, inPipeline: inPipeline, ParseBudget(limits))
    }

    /// As ``parse(_:inPipeline:limits:)`` for one of several parts of an operation.
    static func parse(
        _ document: BSONDocument,
        inPipeline: Bool,
        _ budget: ParseBudget
    ) throws(ServiceError) -> Projection? {
        if document.isEmpty {
            if inPipeline {
                throw .mongo(
                    51272,
                    "Invalid $project :: caused by :: projection specification must have at least one field"
                )
            }
            return nil
        }
        var builder = ProjectionBuilder(inPipeline: inPipeline, budget)
        try builder.read(document, under: [])
        return builder.projection
    }
}

/// Gathers the entries of one projection and checks that they go together.
struct ProjectionBuilder {
    /// How deep objects may nest in a projection.
    private static let maximumDepth = 100

    let inPipeline: Bool
    private let budget: ParseBudget
    private var fieldCount = 0
    private var mode: Projection.Mode?
    private var items: [Projection.Item] = []
    private var showsID: Bool?
    private let paths = PathTrie<ByteText>()
    private var hasPositional = false
    private var hasElementMatch = false

    init(inPipeline: Bool, _ budget: ParseBudget) {
        self.inPipeline = inPipeline
        self.budget = budget
    }

    /// The result, when everything has been read.
    var projection: Projection {
        // Only `_id`, `$slice` and `$elemMatch` leave the mode open.
        let mode = self.mode ?? (showsID == true || hasElementMatch ? .inclusion : .exclusion)
        let computesID = items.contains { item in
            if case .computed(let path, _) = item { path.components == ["_id"] } else { false }
        }
        return Projection(mode: mode, includesID: showsID ?? !computesID, items: items)
    }

    /// Reads the entries of a document whose fields lie below a path.
    mutating func read(_ document: BSONDocument, under prefix: [String]) throws(ServiceError) {
        fieldCount += document.count
        try budget.checkFields(fieldCount)
        for field in document {
            let (path, positional) = try path(field.key, under: prefix)
            if positional {
                try readPositional(path, field)
            } else {
                try read(field.value, at: path)
            }
        }
    }

    private mutating func read(_ value: BSONValue, at path: FieldPath) throws(ServiceError) {
        switch value {
        case .bool(let included): try readFlag(included, at: path)
        case .double, .int32, .int64, .decimal128: try readFlag(value.isTruthy, at: path)
        case .document(let document):
            if document.isEmpty {
                throw .mongo(
                    51270,
                    "An empty sub-projection is not a valid value. Found empty object at path \(path.dotted)"
                )
            }
            if document.firstKey?.startsWithDollar == true {
                try readOperator(document, at: path)
            } else {
                if path.components.count >= Self.maximumDepth {
                    throw .mongo(
                        .overflow,
                        "projection exceeds the maximum nesting depth of \(Self.maximumDepth)"
                    )
                }
                try read(document, under: path.components)
            }
        default:
            if mode == .exclusion {
                throw .mongo(
                    31310,
                    "Cannot use an expression \(MongoShellText.describe(value)) in an exclusion projection"
                )
            }
            try readComputed(value, at: path)
        }
    }

    /// `1`, `0`, `true`, `false`.
    private mutating func readFlag(_ included: Bool, at path: FieldPath) throws(ServiceError) {
        try register(path)
        if path.components == ["_id"] {
            showsID = included
            return
        }
        if included {
            if mode == .exclusion {
                throw .mongo(
                    31253,
                    "Cannot do inclusion on field \(path.dotted) in exclusion projection"
                )
            }
            mode = .inclusion
        } else {
            if mode == .inclusion {
                throw .mongo(
                    31254,
                    "Cannot do exclusion on field \(path.dotted) in inclusion projection"
                )
            }
            mode = .exclusion
        }
        items.append(.path(path))
    }

    /// `{$slice: …}`, `{$elemMatch: …}` or an expression.
    private mutating func readOperator(_ document: BSONDocument, at path: FieldPath) throws(ServiceError) {
        if document.count > 1 {
            throw .mongo(
                16410,
                "FieldPath field names may not start with '$'. Consider using $getField or $setField."
            )
        }
        if !inPipeline, document.count == 1, let name = document.firstKey {
            if name == "$elemMatch" { return try readElementMatch(document.fields[0].value, at: path) }
            if name == "$slice", let slice = try ProjectionSlice(document.fields[0].value) {
                do throws(ServiceError) { try register(path) } catch { throw slice.refusal(because: error) }
                items.append(.slice(path, skip: slice.skip, limit: slice.limit))
                return
            }
        }
        if document.firstKey == "$meta" {
            // Goes with either mode.
            try register(path)
            return items.append(.computed(path, try ExpressionParser.parse(.document(document), budget)))
        }
        if mode == .exclusion {
            throw .mongo(31252, "Cannot use expression other than $meta in exclusion projection")
        }
        try readComputed(.document(document), at: path)
    }

    private mutating func readComputed(_ value: BSONValue, at path: FieldPath) throws(ServiceError) {
        try register(path)
        let expression: AggregationExpression
        do {
            expression = try ExpressionParser.parseChecked(value, budget)
        } catch {
            // A projection names an unknown operator with a code of its own; `$elemMatch`, which a find has, and
            // what is inside of another operator with that of pipelines.
            guard error.serverCode == .invalidPipelineOperator, Self.isUnknown(value) else { throw error }
            throw .mongo(31325, error.sentence)
        }
        mode = .inclusion
        items.append(.computed(path, expression))
    }

    private static func isUnknown(_ value: BSONValue) -> Bool {
        guard case .document(let document) = value, let name = document.firstKey else { return false }
        return name != "$elemMatch" && !ExpressionParser.knows(name)
    }

    private mutating func readElementMatch(_ value: BSONValue, at path: FieldPath) throws(ServiceError) {
        guard case .document(let condition) = value else {
            throw .mongo(
                31274,
                "elemMatch: Invalid argument, object required, but got \(known: TypeName.of(value))"
            )
        }
        if hasPositional { throw .mongo(31255, "Cannot specify positional operator and $elemMatch.") }
        if path.components.count > 1 {
            throw .mongo(31275, "Cannot use $elemMatch projection on a nested field.")
        }
        try register(path)
        hasElementMatch = true
        let parser = FieldTestParser(
            parsing: FilterParsing(isQuery: false, stage: (true, true), budget: budget),
            path: path
        )
        items.append(.elementMatch(path, try parser.elementMatch(.document(condition))))
    }

    /// Reads the positional form, `"arr.$": 1`.
    private mutating func readPositional(
        _ path: FieldPath,
        _ field: BSONDocument.Field
    ) throws(ServiceError) {
        if inPipeline {
            throw .mongo(31324, "Cannot use positional projection in aggregation projection")
        }
        let isFlag = field.value.isNumber || field.value.bool != nil
        guard isFlag else {
            guard case .document = field.value else {
                throw .mongo(31308, "positional projection must not be a literal")
            }
            throw .mongo(31271, "positional projection cannot be used with an expression or literal")
        }
        guard field.value.isTruthy, mode != .exclusion else {
            throw .mongo(31395, "positional projection cannot be used with exclusion")
        }
        if hasPositional {
            throw .mongo(31276, "Cannot specify more than one positional projection per query.")
        }
        if hasElementMatch { throw .mongo(31256, "Cannot specify positional operator and $elemMatch.") }
        try register(path)
        hasPositional = true
        mode = .inclusion
        items.append(.positional(path))
    }

    /// Notes a path.
    ///
    /// - Throws: ``ServiceError`` with server code 31249 when a known path lies above, 31250 when
    ///   one is the same or lies below.
    private func register(_ path: FieldPath) throws(ServiceError) {
        switch paths.insert(path.components.map { ByteText($0) }) {
        case nil: break
        case .below?, .above(path.components.count)?:
            throw .mongo(31250, "Path collision at \(path.dotted)")
        case .above(let length)?:
            let rest = path.components.dropFirst(length).joined(separator: ".")
            throw .mongo(31249, "Path collision at \(path.dotted) remaining portion \(rest)")
        }
    }

    /// The whole path of a key, and whether it ends with `.$`, which is taken off.
    private func path(
        _ key: String,
        under prefix: [String]
    ) throws(ServiceError) -> (FieldPath, positional: Bool) {
        var components = key.pathComponents
        let positional = components.count > 1 && components.last == "$"
        if positional { components.removeLast() }
        if components.dropFirst().contains("$") {
            throw .mongo(
                31394,
                "As of 4.4, it's illegal to specify positional operator in the middle of a path. Positional projection may only be used at the end, for example: a.b.$. If the query previously used a form like a.b.$.d, remove the parts following the '$' and the results will be equivalent."
            )
        }
        let checked = try ExpressionPath.components(components.joined(separator: "."))
        let path = FieldPath(components: prefix + checked)
        if path.components.count > ExpressionPath.maximumComponents {
            throw .mongo(.overflow, "FieldPath is too long")
        }
        return (path, positional)
    }
}

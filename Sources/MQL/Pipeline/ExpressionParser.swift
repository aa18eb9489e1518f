public import BSON
public import Errors

/// Reads an aggregation expression.
///
/// Shape: `{$add: ["$a", 1]}` becomes `.call(.add, [.path("a"), .literal(1)])`. What MongoDB does
/// not know is refused with code 168; what it knows and tidegate does not serve, with code 238.
/// Source: `reference/mql.md` §9.
public enum ExpressionParser {
    /// Reads one expression.
    ///
    /// - Parameters:
    ///   - value: The expression as a caller writes it, at most 200 levels deep.
    ///   - variables: Names that the caller binds when it evaluates, beside the system's.
    /// - Returns: The tree, ready to be evaluated on any number of documents.
    /// - Throws: ``ServiceError`` with MongoDB's code for the fault.
    public static func parse(_ value: BSONValue, variables: Set<String> = []) throws(ServiceError)
        -> AggregationExpression
    {
        try Self.parse(value, ExpressionScope(names: variables))
    }

    /// Reads an expression of a request, with the variables in scope there.
    static func parse(_ value: BSONValue, _ budget: ParseBudget) throws(ServiceError)
        -> AggregationExpression
    {
        try parse(value, ExpressionScope(names: budget.variables))
    }

    /// As ``parse(_:_:)`` where MongoDB computes constants at once.
    static func parseChecked(_ value: BSONValue, _ budget: ParseBudget) throws(ServiceError)
        -> AggregationExpression
    {
        let expression = try parse(value, budget)
        try expression.checkConstants()
        return expression
    }

    static func parse(_ value: BSONValue, _ scope: ExpressionScope) throws(ServiceError)
        -> AggregationExpression
    {
        switch value {
        case .string(let text): return try parseText(text, scope)
        case .document(let document): return try parseDocument(document, scope.deeper())
        case .array(let elements):
            return .array(try parseAll(elements, scope.deeper()))
        default: return .literal(value)
        }
    }

    static func parseAll(_ values: [BSONValue], _ scope: ExpressionScope) throws(ServiceError)
        -> [AggregationExpression]
    {
        var parsed: [AggregationExpression] = []
        parsed.reserveCapacity(values.count)
        for value in values { parsed.append(try parse(value, scope)) }
        return parsed
    }

    /// `"$a.b"`, `"$$name.a"` or a literal.
    private static func parseText(_ text: String, _ scope: ExpressionScope) throws(ServiceError)
        -> AggregationExpression
    {
        guard text.utf8.first == UInt8(ascii: "$") else {
            try ValueSize.checkText(text.utf8.count)
            return .literal(.string(text))
        }
        // By bytes: a dollar before a combining mark is no character of its own.
        let rest = Substring(text.utf8.dropFirst())
        if rest.isEmpty { throw .mongo(16872, "'$' by itself is not a valid FieldPath") }
        guard rest.utf8.first == UInt8(ascii: "$") else {
            return .path(FieldPath(components: try ExpressionPath.components(rest, inExpression: true)))
        }
        let parts = rest.utf8.dropFirst()
            .split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
            .map { Substring($0) }
        let name = String(parts.first ?? "")
        try scope.checkUse(of: name)
        if let path = parts.dropFirst().first, path.isEmpty {
            throw .mongo(40353, "FieldPath must not end with a '.'.")
        }
        let path = parts.count > 1 ? try ExpressionPath.components(parts[1], inExpression: true) : []
        return .variable(name, path: path)
    }

    /// `{$op: …}` or an object of expressions.
    private static func parseDocument(_ document: BSONDocument, _ scope: ExpressionScope)
        throws(ServiceError) -> AggregationExpression
    {
        if let key = document.firstKey, key.utf8.first == UInt8(ascii: "$") {
            guard document.count == 1 else {
                throw .mongo(
                    15983,
                    "An object representing an expression must have exactly one field, found \(document.count): \(document.keys.joined(separator: ", "))"
                )
            }
            return try parseOperator(key, document.fields[0].value, scope)
        }
        var fields: [NamedExpression] = []
        fields.reserveCapacity(document.count)
        for field in document {
            try ExpressionPath.checkName(field.key)
            fields.append(NamedExpression(name: field.key, expression: try parse(field.value, scope)))
        }
        var names = Set<String>()
        for field in fields where !names.insert(field.name).inserted {
            throw .mongo(16406, "duplicate field name specified in object literal: \(field.name)")
        }
        return .document(fields)
    }

    /// The operators that have a form of their own, besides those of ``ExpressionOperator``.
    private static let formed: Set<String> = [
        "$literal", "$const", "$expr", "$let", "$map", "$filter", "$reduce", "$switch", "$meta",
    ]

    /// Whether there is an operator of that name, served or not.
    static func knows(_ name: String) -> Bool {
        formed.contains(name) || ExpressionOperator(rawValue: name) != nil
            || ExpressionOperator.unserved.contains(name)
    }

    /// Reads an operator with its operand.
    static func parseOperator(_ name: String, _ operand: BSONValue, _ scope: ExpressionScope)
        throws(ServiceError) -> AggregationExpression
    {
        switch name {
        case "$literal", "$const": return .literal(operand)
        case "$expr": return try parse(operand, scope)
        case "$let": return try parseLet(operand, scope)
        case "$map": return try parseMap(operand, scope)
        case "$filter": return try parseFilter(operand, scope)
        case "$reduce": return try parseReduce(operand, scope)
        case "$switch": return try parseSwitch(operand, scope)
        case "$meta": return try parseMeta(operand, scope)
        default: break
        }
        guard let op = ExpressionOperator(rawValue: name) else {
            if ExpressionOperator.unserved.contains(name) {
                throw .mongo(238, "The expression operator '\(name)' is not supported by tidegate")
            }
            throw .mongo(.invalidPipelineOperator, "Unrecognized expression '\(name)'")
        }
        switch op.form {
        case .exactly(let count):
            let operands = try parseAll(positional(operand), scope)
            guard operands.count == count else {
                throw .mongo(
                    op.isConversion ? 50723 : 16020,
                    "Expression \(name) takes exactly \(count) arguments. \(operands.count) were passed in."
                )
            }
            return .call(op, operands)
        case .between(let least, let most):
            let operands = try parseAll(positional(operand), scope)
            guard operands.count >= least, operands.count <= most else {
                throw .mongo(
                    28667,
                    "Expression \(name) takes at least \(least) arguments, and at most \(most), but \(operands.count) were passed in."
                )
            }
            return .call(op, operands)
        case .any: return .call(op, try parseAll(positional(operand), scope))
        case .named(let form): return .namedCall(op, try parseNamed(name, operand, form, scope))
        case .datePart: return try parseDatePart(op, operand, scope)
        case .special: return try parseSpecial(op, operand, scope)
        }
    }

    /// `{$meta: "textScore"}`, where a `$text` stands before.
    private static func parseMeta(_ operand: BSONValue, _ scope: ExpressionScope) throws(ServiceError)
        -> AggregationExpression
    {
        guard case .string(let name) = operand else {
            throw .mongo(17307, "$meta only supports string arguments")
        }
        if name == "textScore", scope.hasTextScore { return .path(TextScore.path) }
        guard metadata.contains(name) else { throw .mongo(17308, "Unsupported argument to $meta: \(name)") }
        throw .mongo(40218, "query requires \(name) metadata, but it is not available")
    }

    private static let metadata: Set<String> = [
        "textScore", "geoNearDistance", "geoNearPoint", "randVal", "recordId", "indexKey", "sortKey",
        "searchScore",
        "searchHighlights", "searchScoreDetails", "searchSequenceToken", "searchRootDocumentId",
        "vectorSearchScore",
        "score", "scoreDetails", "timeseriesBucketMinTime", "timeseriesBucketMaxTime", "stream",
    ]

    /// The operands by position: an array's elements, or the value itself.
    static func positional(_ operand: BSONValue) -> [BSONValue] {
        if case .array(let elements) = operand { elements } else { [operand] }
    }
}

/// What the names in an expression may refer to, and how deep it may still go.
struct ExpressionScope {
    /// The most levels of an expression.
    static let maximumDepth = 200

    /// The system's variables; `$redact` adds its own three.
    private static let system: Set<String> = ["ROOT", "CURRENT", "NOW", "REMOVE"]

    /// The variable that only the pipeline of an update knows, as on a server that is no replica set.
    static let clusterTime = "CLUSTER_TIME"

    private var names: Set<String>
    private var depth = 0

    init(names: Set<String> = []) {
        self.names = names
    }

    /// One level further down.
    func deeper() throws(ServiceError) -> ExpressionScope {
        guard depth < Self.maximumDepth else {
            throw .mongo(.overflow, "The expression is nested deeper than \(Self.maximumDepth) levels")
        }
        var copy = self
        copy.depth += 1
        return copy
    }

    /// With more variables.
    func adding(_ more: [String]) -> ExpressionScope {
        var copy = self
        copy.names.formUnion(more)
        return copy
    }

    /// Whether documents have a score.
    var hasTextScore: Bool { names.contains(TextScore.field) }

    /// Checks that a variable may be read here.
    func checkUse(of name: String) throws(ServiceError) {
        if Self.system.contains(name) || names.contains(name) { return }
        if name.isEmpty { throw .mongo(.failedToParse, "empty variable names are not allowed") }
        if name == Self.clusterTime {
            throw .mongo(10_071_200, "Builtin variable '$$CLUSTER_TIME' is not available")
        }
        if ["USER_ROLES", "SEARCH_META", "JS_SCOPE", "IS_MR"].contains(name) {
            throw .mongo(238, "The variable '$$\(name)' is not supported by tidegate")
        }
        try Self.checkCharacters(name)
        throw .mongo(17276, "Use of undefined variable: \(name)")
    }

    /// Letters, digits and underscores, with a letter first; beyond ASCII everything.
    private static func checkCharacters(_ name: String) throws(ServiceError) {
        for (index, byte) in name.utf8.enumerated() where byte < 0x80 {
            let isLetter = (65...90).contains(byte & 0xDF)
            if isLetter || index > 0 && ((48...57).contains(byte) || byte == UInt8(ascii: "_")) { continue }
            throw .mongo(.failedToParse, "'\(name)' contains an invalid character for a variable name")
        }
    }
}

public import BSON
import Errors
import MQL
public import Schemas

/// Turns `rules.json` and `default_rule.json` into ``CollectionRules``, with every fault.
///
/// Keys that are not known are errors (D9): an ignored `document_filter` would take away a gate.
/// Source: `rules.md` §§1–4, 17.
public struct RulesParser {
    /// Names of roles and filters are at most this long.
    static let nameLimit = 100

    private var faults: [RuleFault] = []

    private init() {}

    /// Parses a rules document.
    ///
    /// The path says where it stands in its file: `$` when it is the whole file. With an error among
    /// the faults the rules are ``CollectionRules/refused``.
    public static func parse(
        _ document: BSONDocument,
        path: String = "$"
    ) -> (rules: CollectionRules, faults: [RuleFault]) {
        var parser = RulesParser()
        let rules = parser.rules(document, path)
        let isSound = !parser.faults.contains { $0.severity == .error }
        return (isSound ? rules : .refused, parser.faults)
    }

    private mutating func rules(_ document: BSONDocument, _ path: String) -> CollectionRules {
        // `id` and `schema` are left by version 1 exports; the latter is read as a schema file.
        expectKeys(document, ["database", "collection", "roles", "filters", "id", "schema"], path)
        let roles = objects(document, "roles", path).map { role($0.document, $0.path) }
        let filters = objects(document, "filters", path).map { filter($0.document, $0.path) }
        checkNames(roles.map(\.name), path + ".roles")
        checkNames(filters.map(\.name), path + ".filters")
        return CollectionRules(roles: roles, filters: filters)
    }

    private mutating func filter(_ document: BSONDocument, _ path: String) -> RuleFilter {
        expectKeys(document, ["name", "apply_when", "query", "projection", "project"], path)
        let name = self.name(document, path)
        let applyWhen = required(document, "apply_when", path, scope: .noDocument)
        var query = RuleOperand.literal([:])
        if let value = document["query"] {
            if value.document == nil { error(path + ".query", "must be an object") }
            var parser = RuleExpressionParser(scope: .noDocument)
            query = parser.operand(value, path + ".query", 0, allowsOperators: true) ?? query
            faults += parser.faults
            if case .literal(.document(let fixed)) = query {
                check(path + ".query") { () throws(ServiceError) in _ = try FilterParser.parse(fixed) }
            }
        }
        if document["projection"] != nil, document["project"] != nil {
            error(path, "'projection' and 'project' are the same key")
        }
        let key = document["projection"] == nil ? "project" : "projection"
        var projection = BSONDocument()
        if let value = document[key] {
            projection = value.document ?? [:]
            if value.document == nil { error("\(path).\(key)", "must be an object") }
            let fixed = projection
            check("\(path).\(key)") { () throws(ServiceError) in
                _ = try ProjectionParser.parse(fixed, inPipeline: false)
            }
        }
        return RuleFilter(name: name, applyWhen: applyWhen, query: query, projection: projection)
    }

    /// Reports what MQL's parsers refuse.
    private mutating func check(_ path: String, _ parse: () throws(ServiceError) -> Void) {
        do throws(ServiceError) {
            try parse()
        } catch {
            self.error(path, error.message)
        }
    }

    private mutating func role(_ document: BSONDocument, _ path: String) -> Role {
        expectKeys(
            document,
            [
                "name", "apply_when", "document_filters", "read", "write", "insert", "delete", "search",
                "fields",
                "additional_fields",
            ],
            path
        )
        let role = Role(
            name: name(document, path),
            applyWhen: required(document, "apply_when", path, scope: .document),
            documentFilters: documentFilters(document["document_filters"], path + ".document_filters"),
            read: optional(document, "read", path),
            write: optional(document, "write", path),
            insert: optional(document, "insert", path),
            delete: optional(document, "delete", path),
            search: optional(document, "search", path),
            fields: FieldPermissions(
                entries: entries(document["fields"], path + ".fields", 0),
                additional: additional(document["additional_fields"], path + ".additional_fields")
            )
        )
        faults += RoleAdvice.warnings(role, path)
        return role
    }

    private mutating func documentFilters(_ value: BSONValue?, _ path: String) -> Role.DocumentFilters? {
        guard let value else { return nil }
        guard let document = value.document else {
            error(path, "must be an object")
            return Role.DocumentFilters(read: .refused, write: .refused)
        }
        expectKeys(document, ["read", "write"], path)
        return Role.DocumentFilters(
            read: optional(document, "read", path),
            write: optional(document, "write", path)
        )
    }

    private mutating func entries(_ value: BSONValue?, _ path: String, _ depth: Int) -> [FieldPermissions
        .Entry]
    {
        guard let value else { return [] }
        guard let document = value.document, depth < RuleExpressionParser.depthLimit else {
            error(path, value.document == nil ? "must be an object" : "nests too deep")
            return []
        }
        var result: [FieldPermissions.Entry] = []
        for field in document {
            let here = jsonPath(path, field.key)
            if field.key.isEmpty || field.key.contains(".") {
                warn(here, "names no field; write embedded fields below 'fields'")
            }
            result.append(entry(field.key, field.value, here, depth, allowsFields: true))
        }
        return result
    }

    private mutating func additional(_ value: BSONValue?, _ path: String) -> FieldPermissions.Entry? {
        value.map { entry("", $0, path, 0, allowsFields: false) }
    }

    private mutating func entry(
        _ name: String,
        _ value: BSONValue,
        _ path: String,
        _ depth: Int,
        allowsFields: Bool
    ) -> FieldPermissions.Entry {
        guard let document = value.document else {
            error(path, "must be an object")
            return FieldPermissions.Entry(name: name, read: .refused, write: .refused)
        }
        expectKeys(document, allowsFields ? ["read", "write", "fields"] : ["read", "write"], path)
        let read = optional(document, "read", path)
        let write = optional(document, "write", path)
        let fields = allowsFields ? entries(document["fields"], path + ".fields", depth + 1) : []
        if read != nil || write != nil, !fields.isEmpty {
            warn(path + ".fields", "has no effect because the field has a permission of its own")
        }
        return FieldPermissions.Entry(name: name, read: read, write: write, fields: fields)
    }

    // MARK: Parts

    private mutating func required(
        _ document: BSONDocument,
        _ key: String,
        _ path: String,
        scope: RuleExpressionParser.Scope
    ) -> RuleExpression {
        guard let value = document[key] else {
            error(path, "'\(key)' is missing")
            return .refused
        }
        return expression(value, jsonPath(path, key), scope)
    }

    private mutating func optional(_ document: BSONDocument, _ key: String, _ path: String) -> RuleExpression?
    {
        document[key].map { expression($0, jsonPath(path, key), .document) }
    }

    private mutating func expression(
        _ value: BSONValue,
        _ path: String,
        _ scope: RuleExpressionParser.Scope
    ) -> RuleExpression {
        var parser = RuleExpressionParser(scope: scope)
        let expression = parser.parse(value, at: path)
        faults += parser.faults
        return expression
    }

    private mutating func name(_ document: BSONDocument, _ path: String) -> String {
        guard let name = document["name"]?.string, !name.isEmpty else {
            error(path, document["name"] == nil ? "'name' is missing" : "'name' must be a non-empty string")
            return ""
        }
        if name.unicodeScalars.count > Self.nameLimit {
            error(path + ".name", "must have at most \(Self.nameLimit) characters")
        }
        return name
    }

    private mutating func checkNames(_ names: [String], _ path: String) {
        var seen: Set<String> = []
        for (index, name) in names.enumerated() where !name.isEmpty && !seen.insert(name).inserted {
            error("\(path)[\(index)].name", "the name '\(name)' is used twice")
        }
    }

    private mutating func objects(
        _ document: BSONDocument,
        _ key: String,
        _ path: String
    ) -> [(document: BSONDocument, path: String)] {
        guard let value = document[key] else { return [] }
        guard let elements = value.array else {
            error("\(path).\(key)", "must be an array")
            return []
        }
        var result: [(document: BSONDocument, path: String)] = []
        for (index, element) in elements.enumerated() {
            let here = "\(path).\(key)[\(index)]"
            if let document = element.document {
                result.append((document, here))
            } else {
                error(here, "must be an object")
            }
        }
        return result
    }

    private mutating func expectKeys(_ document: BSONDocument, _ known: Set<String>, _ path: String) {
        for key in document.keys where !known.contains(key) {
            let near = known.sorted().first { $0.hasPrefix(key) || key.hasPrefix($0) }
            error(jsonPath(path, key), "unknown key '\(key)'" + (near.map { "; is it '\($0)'?" } ?? ""))
        }
    }

    private mutating func error(_ path: String, _ message: String) {
        faults.append(RuleFault(.error, at: path, message))
    }

    private mutating func warn(_ path: String, _ message: String) {
        faults.append(RuleFault(.warning, at: path, message))
    }
}

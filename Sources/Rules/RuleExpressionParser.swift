public import BSON
public import Schemas

/// A fault of a rules file.
public typealias RuleFault = DefinitionFault

/// Turns the value of a permission into a ``RuleExpression`` and lists what is wrong with it.
///
/// A faulty part becomes ``RuleExpression/refused``, so that even an unchecked rule never lets
/// anybody in by mistake. Source: `rules.md` §8.1.
public struct RuleExpressionParser {
    /// What documents an expression may speak of.
    public enum Scope: Sendable {
        /// Roles and schemas.
        case document
        /// `apply_when` of filters: no document has been read yet.
        case noDocument
        /// The permissions of a partition: likewise, and `%%partition` is known.
        case partition
    }

    /// Expressions nest at most this deep.
    static let depthLimit = 100

    private let scope: Scope
    /// What was found wrong, in the order of the file.
    public private(set) var faults: [RuleFault] = []

    /// A parser without faults so far.
    public init(scope: Scope = .document) {
        self.scope = scope
    }

    /// Parses one expression.
    ///
    /// The path says where it stands in its file, for faults.
    public mutating func parse(_ value: BSONValue, at path: String) -> RuleExpression {
        expression(value, path, 0)
    }

    mutating func error(_ path: String, _ message: String) {
        faults.append(RuleFault(.error, at: path, message))
    }

    mutating func warn(_ path: String, _ message: String) {
        faults.append(RuleFault(.warning, at: path, message))
    }

    private mutating func expression(_ value: BSONValue, _ path: String, _ depth: Int) -> RuleExpression {
        guard depth < Self.depthLimit else {
            error(path, "expressions nest at most \(Self.depthLimit) levels")
            return .refused
        }
        switch value {
        case .bool(let constant): return .constant(constant)
        case .string("%%true"): return .constant(true)
        case .string("%%false"): return .constant(false)
        case .document(let document):
            let members = document.fields.map { member($0, path, depth) }
            return members.isEmpty ? .constant(true) : members.count == 1 ? members[0] : .all(members)
        default:
            error(path, "an expression is a boolean or an object")
            return .refused
        }
    }

    /// One entry of an expression object.
    private mutating func member(_ field: BSONDocument.Field, _ path: String, _ depth: Int) -> RuleExpression
    {
        let here = jsonPath(path, field.key)
        if RuleOperator.isOperator(field.key) {
            return logical(field, here, depth)
        }
        guard let left = leftSide(field.key, here) else {
            // Its right-hand side is parsed for its faults alone.
            _ = test(field.value, here, depth + 1)
            return .refused
        }
        if case .image(let reference) = left, reference.path.isEmpty, let document = field.value.document,
            let first = document.firstKey, !RuleOperator.isOperator(first)
        {
            warn(here, "compares \(left.text) as a whole; to test its fields write \(left.text).\(first)")
        }
        guard let test = test(field.value, here, depth + 1) else { return .refused }
        return .comparison(left, test)
    }

    private mutating func logical(_ field: BSONDocument.Field, _ path: String, _ depth: Int) -> RuleExpression
    {
        switch RuleOperator(key: field.key) {
        case .and?: return members(field.value, path, depth).map { .all($0) } ?? .refused
        case .or?: return members(field.value, path, depth).map { .any($0) } ?? .refused
        case .nor?: return members(field.value, path, depth).map { .not(.any($0)) } ?? .refused
        case .not?:
            let inner = expression(field.value, path, depth + 1)
            return inner == .refused ? .refused : .not(inner)
        case .function?:
            guard let operand = function(field.value, path, depth + 1) else { return .refused }
            return .comparison(.constant(true), .equal(operand))
        case nil:
            error(path, "unknown operator '\(field.key)'")
        case .eq?, .ne?, .gt?, .gte?, .lt?, .lte?, .in?, .nin?, .exists?, .all?, .stringToOid?, .oidToString?,
            .stringToUuid?, .uuidToString?:
            error(path, "operator '\(field.key)' must stand below a field or an expansion")
        }
        return .refused
    }

    private mutating func members(_ value: BSONValue, _ path: String, _ depth: Int) -> [RuleExpression]? {
        guard let elements = value.array, !elements.isEmpty else {
            error(path, "must be a non-empty array of expressions")
            return nil
        }
        return elements.enumerated().map { expression($1, "\(path)[\($0)]", depth + 1) }
    }

    private mutating func leftSide(_ key: String, _ path: String) -> Expansion? {
        if key.hasPrefix("%%") { return expansion(key, path) }
        let parts = key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard !parts.contains(""), !key.utf8.contains(0), !parts.contains(where: { $0.hasPrefix("$") }) else {
            error(path, "'\(key)' is not a field path")
            return nil
        }
        switch scope {
        case .document: break
        case .noDocument:
            error(path, "the apply_when of a filter cannot use the field '\(key)': no document has been read")
            return nil
        case .partition:
            error(path, "a permission of a partition cannot use the field '\(key)': it is about no document")
            return nil
        }
        return .image(ImageReference(.root, parts))
    }

    mutating func expansion(_ text: String, _ path: String) -> Expansion? {
        if scope == .partition, text == "%%partition" { return .partition }
        let expansion: Expansion
        do throws(Expansion.Refusal) {
            expansion = try Expansion(parsing: text)
        } catch {
            self.error(path, error.message)
            return nil
        }
        if scope != .document, case .image = expansion {
            let who = scope == .partition ? "a permission of a partition" : "a filter"
            error(path, "\(who) cannot use '\(text)': no document has been read")
            return nil
        }
        return expansion
    }
}

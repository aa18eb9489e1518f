import BSON
import MQL
import SQL

/// Turns one test on one path into a predicate of the path language, with SQL beside it where that
/// language cannot say it.
///
/// Lax mode is MQL's own traversal: arrays open one level at each step, comparisons hold when one candidate
/// satisfies them, types never mix (storage-study §3.1). What differs is written out here.
struct TestCompiler {
    /// A predicate of the path language, and how much it says.
    struct PathPredicate {
        var text: String
        var isExact: Bool
        /// Stored decimals, which the path language cannot compare: where they lie, and what they have to be.
        var decimals: [(op: ComparisonOperator, digits: String)] = []

        static let never = PathPredicate(text: "1 == 2", isExact: true)
    }

    let path: CandidatePath

    /// nil: only the evaluator knows.
    func compile(_ test: FieldTest) -> PathPredicate? {
        switch test {
        case .compare(let op, let value): compare(op, value)
        case .inside(let members): inside(members)
        case .exists(let isPresent): exists(isPresent)
        case .type(let types): type(types)
        case .matches(let pattern): matches(pattern)
        case .all(let members): all(members)
        case .allElements(let matches): conjunction(matches.map { elementMatch($0) })
        case .elementMatch(let match): elementMatch(match)
        case .size(let count):
            // Two values of one path may satisfy the halves separately; one value of a single step cannot.
            PathPredicate(
                text: path.any { "(\($0).type() == \"array\" && \($0).size() == \(count))" },
                isExact: path.isPlain && path.components.count == 1
            )
        case .modulo, .bits, .not: nil
        }
    }

    // MARK: Comparison

    func compare(_ op: ComparisonOperator, _ value: BSONValue) -> PathPredicate? {
        switch value {
        case .double, .int32, .int64, .decimal128:
            return NumberOperand(value).map { number(op, $0) }
        case .string(let text), .symbol(let text):
            guard !text.utf8.contains(0) else { return nil }
            let literal = JSONPathText.string(text)
            return predicate {
                "\($0) \(op.pathText) \(literal) || \($0).\"$symbol\" \(op.pathText) \(literal)"
            }
        case .objectID(let id):
            return predicate { "\($0).\"$oid\" \(op.pathText) \"\(id.hex)\"" }
        case .date(let milliseconds):
            return predicate { "\($0).\"$date\" \(op.pathText) \(milliseconds)" }
        case .bool(let flag):
            return predicate { "\($0) \(op.pathText) \(flag)" }
        case .null:
            return op.acceptsEqual ? null() : .never
        case .binary(let binary) where op == .equal && binary.subtype == 4 && binary.bytes.count == 16:
            guard let text = UUIDDigits.text(binary.bytes) else { return nil }
            return predicate { "\($0).\"$uuid\" == \"\(text)\"" }
        case .document, .array, .binary, .undefined, .regex, .dbPointer, .code, .codeWithScope, .timestamp,
            .minKey,
            .maxKey:
            return nil
        }
    }

    private func predicate(_ text: (String) -> String) -> PathPredicate {
        PathPredicate(text: path.any(text), isExact: path.isPlain)
    }

    private func number(_ op: ComparisonOperator, _ operand: NumberOperand) -> PathPredicate {
        var result = predicate { path in
            var arms: [String] = []
            if let literal = operand.literal {
                arms.append("\(path) \(op.pathText) \(literal)")
            } else if operand.acceptsAllFinite(op) {
                arms.append("\(path)[*].type() == \"number\"")
            }
            arms += operand.specials(op).map { "\(path).\"$numberDouble\" == \"\($0)\"" }
            if operand.isNaN, op.acceptsEqual { arms.append("\(path).\"$numberDecimal\" == \"NaN\"") }
            return arms.isEmpty ? "1 == 2" : arms.joined(separator: " || ")
        }
        if !operand.isNaN, let test = operand.decimalTest(op) { result.decimals = [test] }
        return result
    }

    /// Null or missing, but not undefined; `reference/mql.md` §2 has the table of cases.
    private func null() -> PathPredicate? {
        guard path.isPlain else { return nil }
        let steps = path.components.map(JSONPathText.member)
        let whole = path.alternatives[0]
        var arms = ["\(whole) == null"]
        guard let last = steps.last else {
            return PathPredicate(text: arms.joined(separator: " || "), isExact: true)
        }
        arms.append("!exists(\(path.root)\(steps[0]))")
        guard steps.count > 1 else {
            return PathPredicate(text: arms.joined(separator: " || "), isExact: true)
        }
        var prefix = path.root
        for (index, step) in steps.dropLast().enumerated() {
            prefix += step
            let next = index + 2 == steps.count ? last : steps[index + 1]
            arms.append("exists(\(prefix) ? (@.type() == \"object\" && !exists(@\(next))))")
            arms.append("exists(\(prefix).type() ? (@ != \"array\" && @ != \"object\"))")
        }
        // An ObjectId in an array looks like an object without the next field here, but is no candidate.
        return PathPredicate(text: arms.joined(separator: " || "), isExact: false)
    }

    // MARK: Membership

    private func inside(_ members: [FilterMember]) -> PathPredicate? {
        guard !members.isEmpty else { return .never }
        var result = PathPredicate(text: "", isExact: true)
        var arms: [String] = []
        for member in members {
            let arm: PathPredicate? =
                switch member {
                case .value(let value): compare(.equal, value)
                case .pattern(let pattern): matches(pattern)
                }
            guard let arm else { return nil }
            arms.append(arm.text)
            result.isExact = result.isExact && arm.isExact
            result.decimals += arm.decimals
        }
        result.text = JSONPathText.any(arms)
        return result
    }

    private func all(_ members: [FilterMember]) -> PathPredicate? {
        guard !members.isEmpty else { return .never }
        let arms = members.map { inside([$0]) }
        return conjunction(arms)
    }

    /// All of them; what only the evaluator knows is left out, and what compares decimals counts as true for them.
    private func conjunction(_ predicates: [PathPredicate?]) -> PathPredicate? {
        guard !predicates.isEmpty else { return .never }
        let known = predicates.compactMap { $0 }
        guard !known.isEmpty else { return nil }
        let isExact =
            known.count == predicates.count && known.allSatisfy { $0.isExact && $0.decimals.isEmpty }
        return PathPredicate(
            text: known.map { "(\(withDecimals($0)))" }.joined(separator: " && "),
            isExact: isExact
        )
    }

    /// The text, true wherever there is a decimal that would have to be compared.
    func withDecimals(_ predicate: PathPredicate) -> String {
        guard !predicate.decimals.isEmpty else { return predicate.text }
        return predicate.text + " || " + path.any { "exists(\($0).\"$numberDecimal\")" }
    }

    // MARK: Presence and type

    private func exists(_ isPresent: Bool) -> PathPredicate? {
        guard path.isPlain || isPresent, !path.components.isEmpty else { return nil }
        let text = path.any { "exists(\($0))" }
        return PathPredicate(text: isPresent ? text : "!(\(text))", isExact: path.isPlain)
    }

    private func type(_ types: Set<BSONType>) -> PathPredicate? {
        guard path.isPlain else { return nil }
        let whole = path.alternatives[0]
        var isExact = true
        var arms: [String] = []
        func holds(_ name: String) -> String { "\(whole)[*].type() == \"\(name)\"" }
        func wrapper(_ key: String) -> String { "exists(\(whole).\"\(key)\")" }
        let plainNumbers: Set<BSONType> = [.double, .int32, .int64]
        if !types.isDisjoint(with: plainNumbers) {
            arms.append(holds("number"))
            isExact = types.isSuperset(of: plainNumbers)
        }
        for type in types.sorted(by: { $0.rawValue < $1.rawValue }) {
            switch type {
            case .double: arms.append(wrapper("$numberDouble"))
            case .string: arms.append(holds("string"))
            case .document:
                arms.append(holds("object"))
                isExact = false
            case .array: arms.append("\(whole).type() == \"array\" || \(holds("array"))")
            case .binary: arms += [wrapper("$uuid"), wrapper("$binary")]
            case .undefined: arms.append(wrapper("$undefined"))
            case .objectID: arms.append(wrapper("$oid"))
            case .bool: arms.append(holds("boolean"))
            case .date: arms.append(wrapper("$date"))
            case .null: arms.append(holds("null"))
            case .regex: arms.append(wrapper("$regularExpression"))
            case .dbPointer: arms.append(wrapper("$dbPointer"))
            case .code, .codeWithScope:
                arms.append(wrapper("$code"))
                isExact = false
            case .symbol: arms.append(wrapper("$symbol"))
            case .int32, .int64: break
            case .timestamp: arms.append(wrapper("$timestamp"))
            case .decimal128: arms.append(wrapper("$numberDecimal"))
            case .minKey: arms.append(wrapper("$minKey"))
            case .maxKey: arms.append(wrapper("$maxKey"))
            }
        }
        return arms.isEmpty ? .never : PathPredicate(text: arms.joined(separator: " || "), isExact: isExact)
    }

    /// A pattern of plain letters, perhaps anchored at the beginning; other patterns are the evaluator's.
    private func matches(_ pattern: RegexPattern) -> PathPredicate? {
        guard pattern.options.isEmpty || pattern.options == "u" else { return nil }
        var literal = Substring(pattern.pattern)
        let isAnchored = literal.hasPrefix("^")
        if isAnchored { literal = literal.dropFirst() }
        let isPlain = literal.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: " "), UInt8(ascii: "_"),
                UInt8(ascii: "-"),
                UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "/"), UInt8(ascii: "@"):
                true
            default: false
            }
        }
        guard isPlain, !literal.isEmpty else { return nil }
        let text = JSONPathText.string(String(literal))
        // A stored regular expression may be the very same pattern; symbols are texts too.
        return PathPredicate(
            text: path.any { path in
                let test =
                    isAnchored
                    ? "\(path)[*] starts with \(text)" : "\(path)[*] like_regex \(text) flag \"q\""
                return "(\(test)) || exists(\(path).\"$regularExpression\") || exists(\(path).\"$symbol\")"
            },
            isExact: false
        )
    }

    /// Some element satisfies: every array at the path is looked into, the conditions are taken where the
    /// path language has them.
    private func elementMatch(_ match: ElementMatch) -> PathPredicate? {
        let element = TestCompiler(path: CandidatePath(root: "@"))
        let conditions: [String] =
            switch match {
            case .value(let tests):
                tests.compactMap { test in element.compile(test).map { element.withDecimals($0) } }
            case .document(let filter): [Self.nested(filter)].compactMap { $0 }
            }
        let condition = conditions.map { "(\($0))" }.joined(separator: " && ")
        return PathPredicate(
            text: path.any { path in
                let isArray = "\(path).type() == \"array\""
                return condition.isEmpty ? isArray : "(\(isArray) && exists(\(path) ? (\(condition))))"
            },
            isExact: false
        )
    }

    /// A filter on the elements of an array, as far as the path language has it; nil where it says nothing.
    private static func nested(_ filter: Filter) -> String? {
        switch filter {
        case .all, .nor, .expression, .schema, .text: return nil
        case .nothing: return PathPredicate.never.text
        case .and(let filters):
            let known = filters.compactMap(nested)
            return known.isEmpty ? nil : known.map { "(\($0))" }.joined(separator: " && ")
        case .or(let filters):
            let known = filters.compactMap(nested)
            return known.count < filters.count ? nil : known.map { "(\($0))" }.joined(separator: " || ")
        case .field(let path, let test):
            guard let path = CandidatePath(root: "@", path) else { return nil }
            let compiler = TestCompiler(path: path)
            return compiler.compile(test).map { compiler.withDecimals($0) }
        }
    }
}

import BSON
import MQL
import Rules
import Schemas
import Testing

/// Rules have two forms: the evaluation on documents, and predicates for a database.
///
/// Generated
/// rules, callers and documents go to both.
@Suite("Rules as predicates")
struct AgreementTests {
    @Test("agree with the evaluation on documents", arguments: 0..<8 as Range<UInt64>)
    func agree(seed: UInt64) throws {
        var source = RuleGenerator(seed: seed)
        var exact = 0
        var decided = 0
        var visible = 0
        var permitted = 0
        for _ in 0..<150 {
            let rules = source.rules()
            let (parsed, faults) = RulesParser.parse(rules)
            try #require(!faults.contains { $0.severity == .error }, "\(faults)")
            let context = source.context()
            let plan = try RoleResolver.resolve(rules: parsed, schema: nil, context: context)
            let insert = plan.writePredicate(.insert)
            let update = plan.writePredicate(.update)
            let delete = plan.writePredicate(.delete)
            exact += plan.readFilterIsExact ? 1 : 0
            decided += [insert, update, delete].count { $0 != nil }
            for _ in 0..<12 {
                let before = source.document()
                let after = source.isLikely() ? source.changed(before) : source.document()
                let shown = plan.visible(before)
                let filtered = try plan.readFilter.matches(before, EvaluationContext(now: 0))
                func note() -> Comment {
                    "\(ExtendedJSON.relaxed(.document(rules))) \(context) \(before) \(after)"
                }
                if shown != nil { #expect(filtered, note()) }
                if plan.readFilterIsExact { #expect(filtered == (shown != nil), note()) }
                if plan.readsWholeDocuments, let shown { #expect(shown == before, note()) }
                for (kind, predicate, old, new) in [
                    (WriteKind.insert, insert, nil, after), (.update, update, before, after),
                    (.delete, delete, before, nil),
                ] as [(WriteKind, WritePredicate?, BSONDocument?, BSONDocument?)] {
                    let isPermitted = plan.denial(of: kind, before: old, after: new) == nil
                    permitted += isPermitted ? 1 : 0
                    guard let predicate else { continue }
                    #expect(try predicate.holds(old, new) == isPermitted, note())
                }
                visible += shown == nil ? 0 : 1
            }
        }
        // A test that sees only denials, or only inexact forms, shows nothing.
        #expect(exact > 30 && decided > 60 && visible > 200 && permitted > 200)
    }
}

/// The same rules, callers and documents for the same seed.
struct RuleGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1
    }

    private mutating func below(_ bound: Int) -> Int {
        state = state &+ 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((bits ^ (bits >> 31)) >> 1) % bound
    }

    private mutating func pick<T>(_ choices: [T]) -> T { choices[below(choices.count)] }

    mutating func isLikely() -> Bool { below(4) != 0 }

    private static let fields = ["a", "b", "owner", "tags", "n", "n.x", "n.0"]
    private static let names = ["a", "b", "owner", "tags", "n"]

    // MARK: Documents

    private mutating func scalar() -> BSONValue {
        pick([0, 1, 1.0, 2, "u1", "u2", "red", true, .null, .int64(1)])
    }

    private mutating func value(_ depth: Int = 0) -> BSONValue {
        switch below(depth > 1 ? 5 : 9) {
        case 0...4: return scalar()
        case 5, 6: return .array((0..<below(3)).map { _ in value(depth + 1) })
        default: return pick([["x": scalar()], ["y": 1], ["x": value(depth + 1), "y": scalar()], [:]])
        }
    }

    mutating func document() -> BSONDocument {
        var document: BSONDocument = ["_id": 1]
        for name in Self.names where below(3) != 0 { document.append(name, value()) }
        return document
    }

    mutating func changed(_ document: BSONDocument) -> BSONDocument {
        var copy = document
        let name = pick(Self.names)
        if below(3) == 0 { copy[name] = Optional<BSONValue>.none } else { copy[name] = value() }
        return copy
    }

    // MARK: Rules

    private mutating func operand() -> BSONValue {
        switch below(10) {
        case 0...2: return scalar()
        case 3...5:
            return pick([
                "%%user.id", "%%user.custom_data.team", "%%user.custom_data.list", "%%user.custom_data.none",
                "%%values.limit",
            ])
        case 6: return pick(["%%root.a", "%%prevRoot.owner", "%%root.n.x", "%%this", "%%prev"])
        case 7: return .array([scalar(), "%%user.id"])
        default: return "%%user.id"
        }
    }

    private mutating func test() -> BSONValue {
        switch below(12) {
        case 0...4: return operand()
        case 5: return ["$ne": operand()]
        case 6: return .document(["$\(pick(["gt", "gte", "lt", "lte"]))": operand()])
        case 7:
            return .document([
                pick(["$in", "$nin"]): pick([
                    "%%user.custom_data.list", .array([scalar(), "%%user.id", "%%user.custom_data.team"]),
                ])
            ])
        case 8: return ["$exists": .bool(below(2) == 0)]
        case 9: return ["%not": ["$eq": operand()]]
        case 10: return ["$all": .array([scalar()])]
        default: return ["%or": [["$eq": operand()], ["$gt": operand()]]]
        }
    }

    private mutating func expression(_ depth: Int = 0) -> BSONValue {
        switch below(depth > 2 ? 6 : 11) {
        case 0: return .bool(below(3) != 0)
        case 1: return [:]
        case 2...4: return .document(BSONDocument([.init(key: pick(Self.fields), value: test())]))
        case 5:
            return .document(
                BSONDocument([
                    .init(
                        key: pick([
                            "%%user.id", "%%user.custom_data.team", "%%user.custom_data.list",
                            "%%prevRoot.owner", "%%root.a",
                            "%%this", "%%prev", "%%prevRoot", "%%this.x",
                        ]),
                        value: test()
                    )
                ])
            )
        case 6: return ["%and": [expression(depth + 1), expression(depth + 1)]]
        case 7, 8: return ["%or": [expression(depth + 1), expression(depth + 1)]]
        case 9: return ["%not": expression(depth + 1)]
        default: return ["%nor": [expression(depth + 1)]]
        }
    }

    private mutating func permission() -> BSONValue {
        below(2) == 0 ? .bool(below(4) != 0) : expression()
    }

    private mutating func entry(_ depth: Int = 0) -> BSONValue {
        var entry = BSONDocument()
        if below(4) == 0, depth < 2 {
            entry.append("fields", ["x": self.entry(depth + 1), "y": self.entry(depth + 1)])
            return .document(entry)
        }
        if below(3) != 0 { entry.append("read", permission()) }
        if below(2) == 0 { entry.append("write", permission()) }
        return .document(entry)
    }

    private mutating func role(_ index: Int) -> BSONValue {
        var role: BSONDocument = ["name": .string("r\(index)"), "apply_when": expression()]
        if below(2) == 0 {
            var filters = BSONDocument()
            if below(5) != 0 { filters.append("read", permission()) }
            if below(5) != 0 { filters.append("write", permission()) }
            role.append("document_filters", .document(filters))
        }
        for (key, odds) in [("read", 2), ("write", 2), ("insert", 4), ("delete", 4)] where below(odds) == 0 {
            role.append(key, permission())
        }
        if below(2) == 0 {
            var fields = BSONDocument()
            for name in ["_id"] + Self.names where below(3) == 0 { fields.append(name, entry()) }
            role.append("fields", .document(fields))
        }
        if below(2) == 0 {
            role.append("additional_fields", .document(["read": permission(), "write": permission()]))
        }
        return .document(role)
    }

    mutating func rules() -> BSONDocument {
        ["roles": .array((0...below(3)).map { role($0) })]
    }

    mutating func context() -> RuleContext {
        var custom = BSONDocument()
        if below(2) == 0 { custom.append("team", pick(["red", 1, ["red", "u1"]])) }
        if below(2) == 0 { custom.append("list", pick([["red", "u2", 1], [], [.null], [["red"]], "red"])) }
        if below(2) == 0 { custom.append("none", .null) }
        let user = RuleUser(id: pick(["u1", "u2"]), customData: below(4) == 0 ? BSONDocument?.none : custom)
        return RuleContext(user: below(8) == 0 ? RuleUser?.none : user, values: ["limit": 1])
    }
}

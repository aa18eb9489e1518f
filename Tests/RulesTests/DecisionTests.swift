import BSON
import Errors
import MQL
import Rules
import Schemas
import Testing

/// The decisions of `rules.md` §17, and picking roles (§3).
@Suite("Roles")
struct DecisionTests {
    static let document = #"{"_id": 1, "owner": "u1", "a": 1}"#

    @Test("deny the missing half of a gate, unless the app says otherwise (D1)")
    func missingHalf() throws {
        let roles =
            #"[{"name": "r", "apply_when": {}, "document_filters": {"write": false}, "read": true, "write": true}]"#
        #expect(try accessPlan(roles: roles).shown(Self.document) == nil)
        let lenient = try accessPlan(roles: roles, options: RuleOptions(lenientDocumentFilters: true))
        #expect(lenient.shown(Self.document) != nil)
        #expect(!lenient.permits(.delete, Self.document, nil))
        let (_, faults) = RulesParser.parse(json("{\"roles\": \(roles)}"))
        #expect(faults.map(\.message) == ["role r: document_filters.read is missing, so it denies"])
    }

    @Test("take an absent insert and delete for true (D2), and need write for a delete (D3)")
    func absentFlags() throws {
        let open = try accessPlan(roles: #"[{"name": "r", "apply_when": {}, "write": true}]"#)
        #expect(open.permits(.insert, nil, Self.document) && open.permits(.delete, Self.document, nil))
        let closed = try accessPlan(
            roles:
                #"[{"name": "r", "apply_when": {}, "read": true, "write": false, "delete": true, "insert": true}]"#
        )
        #expect(!closed.permits(.delete, Self.document, nil) && !closed.permits(.insert, nil, Self.document))
        let conditional = try accessPlan(
            roles:
                #"[{"name": "r", "apply_when": {}, "write": true, "insert": {"a": 1}, "delete": {"a": 2}}]"#
        )
        #expect(
            conditional.permits(.insert, nil, Self.document)
                && !conditional.permits(.delete, Self.document, nil)
        )
        #expect(conditional.writePredicate(.delete) == .before(.field("a", .compare(.equal, 2))))
    }

    @Test("let a write of false stand above the fields, with advice (D4)")
    func falseAboveFields() throws {
        let roles =
            #"[{"name": "r", "apply_when": {}, "read": true, "write": false, "fields": {"a": {"read": true, "write": true}}}]"#
        #expect(
            try !accessPlan(roles: roles).permits(
                .update,
                Self.document,
                #"{"_id": 1, "owner": "u1", "a": 2}"#
            )
        )
        let (_, faults) = RulesParser.parse(json("{\"roles\": \(roles)}"))
        #expect(
            faults.contains {
                $0.severity == .warning && $0.jsonPath == "$.roles[0].fields.a"
                    && $0.message.contains("remove it")
            }
        )
    }

    @Test("let a permission of the document stand above the fields, with a warning")
    func documentAboveFields() throws {
        let roles =
            #"[{"name": "r", "apply_when": {}, "read": true, "write": true, "fields": {"userId": {"read": true, "write": false}}}]"#
        #expect(
            try accessPlan(roles: roles).permits(
                .update,
                #"{"_id": 1, "userId": 1}"#,
                #"{"_id": 1, "userId": 2}"#
            )
        )
        let (_, faults) = RulesParser.parse(json("{\"roles\": \(roles)}"))
        #expect(
            faults.contains {
                $0.message.hasPrefix(
                    "field permission has no effect because the role has a document-level permission"
                )
            }
        )
    }

    @Test("give one text per operation, the reason aside (D7)")
    func texts() throws {
        let plan = try accessPlan(roles: #"[{"name": "r", "apply_when": {}, "read": true, "write": false}]"#)
        let denial = try #require(
            plan.denial(of: .update, before: json(Self.document), after: json(Self.document))
        )
        #expect(denial.error.message == "update not permitted")
        #expect(denial.error.code == .noMatchingRuleFound)
        #expect(denial.error.details.isEmpty)
        #expect("\(String(describing: denial.error.cause))".contains("denied by write permission"))
        #expect(denial.role == "r" && !denial.isSchema)
    }

    @Test(
        "deny every operation where no role applies (D8)",
        arguments: [
            "[]", #"[{"name": "r", "apply_when": {"owner": "u2"}, "read": true, "write": true}]"#,
            #"[{"name": "r", "apply_when": false, "read": true, "write": true}]"#,
            #"[{"name": "r", "apply_when": {"%%user.custom_data.x": {"$ne": 1}}, "read": true, "write": true}]"#,
        ]
    )
    func noRole(roles: String) throws {
        let plan = try accessPlan(roles: roles)
        #expect(plan.shown(Self.document) == nil)
        #expect(try !plan.readFilterMatches(Self.document))
        #expect(plan.readFilterIsExact)
        let document = json(Self.document)
        for (kind, before, after) in [
            (WriteKind.insert, nil, document), (.update, document, document), (.delete, document, nil),
        ] as [(WriteKind, BSONDocument?, BSONDocument?)] {
            let denial = try #require(plan.denial(of: kind, before: before, after: after))
            #expect(denial.role == nil && denial.reason == "no role applies")
            #expect(try plan.writePredicate(kind)?.holds(before, after) == false)
        }
    }

    @Test(
        "refuse unknown keys and shapes with their place (D9)",
        arguments: [
            (#"{"rolez": []}"#, "$.rolez"), (#"{"roles": {}}"#, "$.roles"),
            (#"{"roles": [5]}"#, "$.roles[0]"),
            (#"{"roles": [{"apply_when": {}}]}"#, "$.roles[0]"),
            (#"{"roles": [{"name": "a"}]}"#, "$.roles[0]"),
            (#"{"roles": [{"name": 5, "apply_when": {}}]}"#, "$.roles[0]"),
            (#"{"roles": [{"name": "a", "apply_when": {}, "reads": true}]}"#, "$.roles[0].reads"),
            (
                #"{"roles": [{"name": "a", "apply_when": {}, "document_filters": {"reed": true}}]}"#,
                "$.roles[0].document_filters.reed"
            ),
            (
                #"{"roles": [{"name": "a", "apply_when": {}, "document_filters": true}]}"#,
                "$.roles[0].document_filters"
            ),
            (#"{"roles": [{"name": "a", "apply_when": {}, "fields": {"f": true}}]}"#, "$.roles[0].fields.f"),
            (
                #"{"roles": [{"name": "a", "apply_when": {}, "fields": {"f": {"wread": true}}}]}"#,
                "$.roles[0].fields.f.wread"
            ),
            (
                #"{"roles": [{"name": "a", "apply_when": {}, "additional_fields": {"fields": {}}}]}"#,
                "$.roles[0].additional_fields.fields"
            ),
            (#"{"roles": [{"name": "a", "apply_when": {}, "read": "yes"}]}"#, "$.roles[0].read"),
            (
                #"{"roles": [{"name": "a", "apply_when": {}}, {"name": "a", "apply_when": {}}]}"#,
                "$.roles[1].name"
            ),
            (#"{"filters": [{"name": "f", "apply_when": {"a": 1}}]}"#, "$.filters[0].apply_when.a"),
            (
                #"{"filters": [{"name": "f", "apply_when": {"%%root.a": 1}}]}"#,
                "$.filters[0].apply_when[\"%%root.a\"]"
            ),
            (#"{"filters": [{"name": "f", "apply_when": true, "queri": {}}]}"#, "$.filters[0].queri"),
            (
                #"{"filters": [{"name": "f", "apply_when": true, "query": {"a": "%%root.b"}}]}"#,
                "$.filters[0].query.a"
            ),
            (
                #"{"filters": [{"name": "f", "apply_when": true, "query": {"$who": 1}}]}"#,
                "$.filters[0].query"
            ),
            (
                #"{"filters": [{"name": "f", "apply_when": true, "projection": {"a": 1, "b": 0}}]}"#,
                "$.filters[0].projection"
            ),
            (
                #"{"filters": [{"name": "f", "apply_when": true, "projection": {}, "project": {}}]}"#,
                "$.filters[0]"
            ),
        ]
    )
    func refusesUnknown(text: String, path: String) {
        let (rules, faults) = RulesParser.parse(json(text))
        #expect(faults.contains { $0.severity == .error && $0.jsonPath == path }, "\(faults)")
        // Used nevertheless, such rules let nobody in.
        let plan = try? RoleResolver.resolve(rules: rules, schema: nil, context: user())
        #expect(plan?.visible(json(Self.document)) == nil)
    }

    @Test("take the export forms that are incomplete")
    func tolerates() {
        for text in [
            #"{"roles": [], "filters": []}"#, "{}", #"{"database": "d", "collection": "c", "roles": []}"#,
            #"{"roles": [{"name": "a", "apply_when": {}, "additional_fields": {}}]}"#,
            #"{"roles": [{"name": "a", "apply_when": {}, "additional_fields": {"write": true}, "fields": {"x": {}}}]}"#,
        ] {
            let (rules, faults) = RulesParser.parse(json(text))
            #expect(faults.isEmpty, "\(text) \(faults)")
            #expect(rules.isPresent == text.contains("name"))
        }
    }

    @Test("are picked per document, first match first")
    func picks() throws {
        let roles = """
            [{"name": "Manager", "apply_when": {"email": "%%user.custom_data.manages"}, "read": true, "write": true},
             {"name": "Employee", "apply_when": {"email": "%%user.data.email"}, "read": true, "write": false}]
            """
        let plan = try accessPlan(
            roles: roles,
            user(data: #"{"email": "me@x"}"#, custom: #"{"manages": ["a@x", "b@x"]}"#)
        )
        #expect(plan.permits(.delete, #"{"_id": 1, "email": "a@x"}"#, nil))
        #expect(
            plan.shown(#"{"_id": 1, "email": "me@x"}"#) != nil
                && !plan.permits(.delete, #"{"_id": 1, "email": "me@x"}"#, nil)
        )
        #expect(plan.shown(#"{"_id": 1, "email": "z@x"}"#) == nil)
        #expect(plan.readFilterIsExact && plan.readsWholeDocuments)
        for email in ["a@x", "b@x", "me@x", "z@x"] {
            let document = "{\"_id\": 1, \"email\": \"\(email)\"}"
            #expect(try plan.readFilterMatches(document) == (plan.shown(document) != nil))
        }
    }

    @Test("are not passed over: an earlier role that denies keeps later ones out")
    func earlierDenies() throws {
        let plan = try accessPlan(
            roles:
                #"[{"name": "banned", "apply_when": {"locked": true}, "read": false}, {"name": "all", "apply_when": {}, "read": true}]"#
        )
        #expect(plan.shown(#"{"_id": 1, "locked": true}"#) == nil && plan.shown(#"{"_id": 1}"#) != nil)
        #expect(plan.readFilter == .field("locked", .not([.compare(.equal, true)])))
        #expect(plan.readFilterIsExact)
    }

    @Test("let the system user do everything")
    func system() {
        #expect(AccessPlan.system.shown(Self.document) != nil)
        #expect(AccessPlan.system.permits(.insert, nil, Self.document))
        #expect(AccessPlan.system.writePredicate(.delete) == .before(.all))
        #expect(AccessPlan.system.readFilter == .all && AccessPlan.system.readsWholeDocuments)
    }

    @Test("decide by the state of the document before and after, when they speak of it alone")
    func stateBothSides() throws {
        let plan = try accessPlan(
            roles: #"[{"name": "r", "apply_when": {}, "read": true, "write": {"owner": "%%user.id"}}]"#
        )
        let foreign = #"{"_id": 1, "owner": "u2"}"#
        let mine = #"{"_id": 1, "owner": "u1"}"#
        #expect(!plan.permits(.update, foreign, mine) && !plan.permits(.update, mine, foreign))
        #expect(plan.permits(.update, mine, #"{"_id": 1, "owner": "u1", "a": 1}"#))
        // One that names its images is asked once.
        let step = try Self.writing(#"{"%%prevRoot.status": "draft", "%%root.status": "sent"}"#)
        #expect(step.permits(.update, #"{"_id": 1, "status": "draft"}"#, #"{"_id": 1, "status": "sent"}"#))
        #expect(!step.permits(.update, #"{"_id": 1, "status": "sent"}"#, #"{"_id": 1, "status": "sent"}"#))
        #expect(
            step.writePredicate(.update)
                == .and([
                    .before(.field("status", .compare(.equal, "draft"))),
                    .after(.field("status", .compare(.equal, "sent"))),
                ])
        )
        let same = try Self.writing(#"{"%%prevRoot.owner": "%%root.owner"}"#)
        #expect(same.permits(.update, mine, mine) && !same.permits(.update, mine, foreign))
        #expect(!same.permits(.insert, nil, mine))
        #expect(same.writePredicate(.update) == nil && same.writePredicate(.insert) == .after(.nothing))
    }

    static func writing(_ write: String) throws -> AccessPlan {
        try accessPlan(roles: "[{\"name\": \"r\", \"apply_when\": {}, \"write\": \(write)}]")
    }

    @Test("refuse a change whose images do not fit its kind")
    func images() throws {
        let plan = try accessPlan(roles: #"[{"name": "r", "apply_when": {}, "write": true}]"#)
        #expect(!plan.permits(.insert, Self.document, Self.document))
        #expect(!plan.permits(.update, nil, Self.document) && !plan.permits(.delete, nil, nil))
        #expect(!plan.permits(.insert, nil, nil))
    }
}

import BSON
import MQL
import Rules
import Schemas
import Testing

/// The recipes of `rules.md` §11, as apps have them.
@Suite("Recipes")
struct RecipeTests {
    static let all = #""read": true, "write": true, "insert": true, "delete": true, "search": true"#
    static func owner(_ name: String = "owner") -> String {
        #"{"name": "\#(name)", "apply_when": {}, "document_filters": {"read": {"owner_id": "%%user.id"}, "write": {"owner_id": "%%user.id"}}, \#(all)}"#
    }
    static let own = #"{"_id": 1, "owner_id": "u1"}"#
    static let foreign = #"{"_id": 2, "owner_id": "u2"}"#

    @Test("1: the owner only")
    func ownerOnly() throws {
        let plan = try accessPlan(roles: "[\(Self.owner())]")
        let filter = Filter.field("owner_id", .compare(.equal, .string("u1")))
        #expect(plan.readFilter == filter)
        #expect(plan.readFilterIsExact && plan.readsWholeDocuments)
        #expect(plan.queryFilter == .all && plan.queryProjection == nil)
        #expect(plan.writePredicate(.insert) == .after(filter))
        #expect(plan.writePredicate(.update) == .and([.before(filter), .after(filter)]))
        #expect(plan.writePredicate(.delete) == .before(filter))
        #expect(plan.shown(Self.own) != nil && plan.shown(Self.foreign) == nil)
        #expect(plan.permits(.insert, nil, Self.own) && !plan.permits(.insert, nil, Self.foreign))
        #expect(plan.permits(.update, Self.own, #"{"_id": 1, "owner_id": "u1", "a": 1}"#))
        // Nobody takes over, gives away, or lets go of the field that says whose it is.
        #expect(!plan.permits(.update, Self.foreign, #"{"_id": 2, "owner_id": "u1"}"#))
        #expect(!plan.permits(.update, Self.own, #"{"_id": 1, "owner_id": "u2"}"#))
        #expect(!plan.permits(.update, Self.own, #"{"_id": 1}"#))
        #expect(plan.permits(.delete, Self.own, nil) && !plan.permits(.delete, Self.foreign, nil))
    }

    @Test("2: read all, write own")
    func readAllWriteOwn() throws {
        let plan = try accessPlan(
            roles:
                #"[{"name": "w", "apply_when": {}, "document_filters": {"read": true, "write": {"owner_id": "%%user.id"}}, \#(Self.all)}]"#
        )
        #expect(plan.readFilter == .all && plan.readFilterIsExact && plan.readsWholeDocuments)
        #expect(plan.shown(Self.foreign) != nil)
        #expect(!plan.permits(.update, Self.foreign, #"{"_id": 2, "owner_id": "u2", "a": 1}"#))
        #expect(plan.permits(.delete, Self.own, nil))
    }

    @Test("3: read all, also with insert and delete left true", arguments: ["false", "true"])
    func readAll(flag: String) throws {
        let plan = try accessPlan(
            roles:
                #"[{"name": "r", "apply_when": {}, "document_filters": {"read": true, "write": false}, "read": true, "write": false, "insert": \#(flag), "delete": \#(flag), "search": true}]"#
        )
        #expect(plan.readFilter == .all && plan.readFilterIsExact && plan.readsWholeDocuments)
        #expect(plan.writePredicate(.insert) == .after(.nothing))
        #expect(plan.writePredicate(.update) == .after(.nothing))
        #expect(plan.writePredicate(.delete) == .before(.nothing))
        #expect(!plan.permits(.insert, nil, Self.own) && !plan.permits(.delete, Self.own, nil))
        #expect(!plan.permits(.update, Self.own, Self.own))
    }

    @Test("4: everything")
    func everything() throws {
        let plan = try accessPlan(
            roles:
                #"[{"name": "all", "apply_when": {}, "document_filters": {"read": true, "write": true}, \#(Self.all)}]"#
        )
        #expect(plan.readFilter == .all && plan.readFilterIsExact && plan.readsWholeDocuments)
        #expect(plan.writePredicate(.update) == .after(.all) && plan.writePredicate(.delete) == .before(.all))
        #expect(plan.permits(.insert, nil, Self.foreign) && plan.permits(.delete, Self.foreign, nil))
    }

    @Test("5: deny")
    func deny() throws {
        let plan = try accessPlan(
            roles:
                #"[{"name": "denyAllAccess", "apply_when": {}, "document_filters": {"read": false, "write": false}, "read": false, "write": false, "insert": false, "delete": false, "search": false}]"#
        )
        #expect(plan.readFilter == .nothing && plan.readFilterIsExact)
        #expect(plan.shown(Self.own) == nil)
        #expect(plan.writePredicate(.insert) == .after(.nothing))
    }

    @Test("6: admin and user")
    func adminAndUser() throws {
        let roles =
            #"[{"name": "admin", "apply_when": {"%%user.custom_data.isGlobalAdmin": true}, "document_filters": {"read": true, "write": true}, \#(Self.all)}, \#(Self.owner("user"))]"#
        #expect(try accessPlan(roles: roles, user(custom: #"{"isGlobalAdmin": true}"#)).readFilter == .all)
        for custom in [nil, "{}", #"{"isGlobalAdmin": false}"#, #"{"isGlobalAdmin": "true"}"#] {
            let plan = try accessPlan(roles: roles, user(custom: custom))
            #expect(plan.readFilter == .field("owner_id", .compare(.equal, .string("u1"))))
            #expect(plan.readFilterIsExact)
        }
    }

    @Test("7: a restricted feed; own documents are read because write implies read")
    func restrictedFeed() throws {
        let roles =
            #"[{"name": "f", "apply_when": {}, "document_filters": {"read": {"owner_id": {"$in": "%%user.custom_data.subscribedTo"}}, "write": {"owner_id": "%%user.id"}}, \#(Self.all)}]"#
        let feed = try accessPlan(roles: roles, user(custom: #"{"subscribedTo": ["u2"]}"#))
        #expect(
            feed.readFilter
                == .or([
                    .field("owner_id", .inside([.value("u2")])), .field("owner_id", .compare(.equal, "u1")),
                ])
        )
        #expect(feed.readFilterIsExact && feed.readsWholeDocuments)
        #expect(feed.shown(Self.own) != nil && feed.shown(Self.foreign) != nil)
        #expect(feed.shown(#"{"_id": 3, "owner_id": "u3"}"#) == nil)
        #expect(try accessPlan(roles: roles).readFilter == .field("owner_id", .compare(.equal, "u1")))
    }

    @Test(
        "8: collaborators",
        arguments: [
            #"{"$or": [{"owner_id": "%%user.id"}, {"collaborators": {"$all": ["%%user.id"]}}]}"#,
            #"{"collaborators": "%%user.id"}"#,
        ]
    )
    func collaborators(filter: String) throws {
        let plan = try accessPlan(
            roles:
                #"[{"name": "c", "apply_when": {}, "document_filters": {"read": \#(filter), "write": \#(filter)}, \#(Self.all)}]"#
        )
        let mine = #"{"_id": 1, "owner_id": "u2", "collaborators": ["u3", "u1"]}"#
        #expect(
            plan.shown(mine) != nil
                && plan.shown(#"{"_id": 1, "owner_id": "u2", "collaborators": ["u3"]}"#) == nil
        )
        #expect(plan.readFilterIsExact && plan.readsWholeDocuments)
        // The documented weakness.
        #expect(plan.permits(.update, mine, #"{"_id": 1, "owner_id": "u9", "collaborators": ["u1", "u4"]}"#))
        #expect(!plan.permits(.update, mine, #"{"_id": 1, "owner_id": "u9", "collaborators": ["u4"]}"#))
    }

    @Test("9: insert only")
    func insertOnly() throws {
        let plan = try accessPlan(
            roles:
                #"[{"name": "i", "apply_when": {}, "insert": true, "delete": false, "write": {"%%prevRoot": {"%exists": false}}, "additional_fields": {}}]"#
        )
        #expect(plan.permits(.insert, nil, Self.own))
        #expect(plan.writePredicate(.insert) == .after(.all))
        #expect(plan.shown(Self.own) == nil && plan.readFilter == .nothing)
        #expect(
            !plan.permits(.update, Self.own, Self.own) && plan.writePredicate(.update) == .after(.nothing)
        )
        #expect(!plan.permits(.delete, Self.own, nil) && plan.writePredicate(.delete) == .before(.nothing))
    }

    @Test("10: tiered")
    func tiered() throws {
        let roles = #"""
            [{"name": "admin", "apply_when": {"%%user.custom_data.isTeamAdmin": true},
              "document_filters": {"read": {"team": "%%user.custom_data.team"}, "write": {"team": "%%user.custom_data.team"}}, \#(Self.all)},
             {"name": "user", "apply_when": {},
              "document_filters": {"read": {"team": "%%user.custom_data.team"}, "write": {"owner_id": "%%user.id"}}, \#(Self.all)}]
            """#
        let admin = try accessPlan(roles: roles, user(custom: #"{"isTeamAdmin": true, "team": "red"}"#))
        #expect(admin.readFilter == .field("team", .compare(.equal, "red")))
        let member = try accessPlan(roles: roles, user(custom: #"{"team": "red"}"#))
        #expect(
            member.permits(
                .update,
                #"{"_id": 1, "team": "red", "owner_id": "u1"}"#,
                #"{"_id": 1, "team": "blue", "owner_id": "u1"}"#
            )
        )
        #expect(
            !member.permits(
                .update,
                #"{"_id": 1, "team": "red", "owner_id": "u2"}"#,
                #"{"_id": 1, "team": "red", "owner_id": "u2", "a": 1}"#
            )
        )
        // The guide's misspelling is an error, not a role without a gate.
        let (rules, faults) = RulesParser.parse(
            json(
                #"{"roles": [{"name": "a", "apply_when": {}, "document_filter": {"read": true}, "read": true}]}"#
            )
        )
        #expect(
            faults.contains {
                $0.severity == .error && $0.jsonPath == "$.roles[0].document_filter"
                    && $0.message.contains("'document_filters'")
            }
        )
        #expect(try RoleResolver.resolve(rules: rules, schema: nil, context: user()).readFilter == .nothing)
    }

    @Test("11: fields of embedded documents")
    func embedded() throws {
        let plan = try accessPlan(
            roles:
                #"[{"name": "canReadEmbeddedField", "apply_when": {}, "fields": {"e": {"fields": {"f": {"read": true, "write": true}}}}, "additional_fields": {}}]"#
        )
        #expect(plan.shown(#"{"_id": 1, "e": {"f": 1, "g": 2}, "x": 1}"#) == #"{"e":{"f":1}}"#)
        #expect(plan.shown(#"{"_id": 1, "e": {"g": 2}}"#) == nil)
        #expect(plan.shown(#"{"_id": 1, "e": [{"f": 1, "g": 2}, 5, {"g": 1}]}"#) == #"{"e":[{"f":1}]}"#)
        #expect(plan.shown(#"{"_id": 1, "e": 5}"#) == nil)
        #expect(plan.readFilter == .field("e", .exists(true)))
        #expect(!plan.readFilterIsExact && !plan.readsWholeDocuments)
        #expect(
            plan.permits(
                .update,
                #"{"_id": 1, "e": {"f": 1, "g": 2}}"#,
                #"{"_id": 1, "e": {"f": 2, "g": 2}}"#
            )
        )
        #expect(
            !plan.permits(
                .update,
                #"{"_id": 1, "e": {"f": 1, "g": 2}}"#,
                #"{"_id": 1, "e": {"f": 1, "g": 3}}"#
            )
        )
        #expect(plan.writePredicate(.update) == nil)
        #expect(!plan.permits(.insert, nil, #"{"_id": 1, "e": {"f": 1}}"#))
    }

    @Test("12: all but some fields writable")
    func allButSome() throws {
        let plan = try accessPlan(
            roles:
                #"[{"name": "r", "apply_when": {}, "read": true, "fields": {"f": {"read": true, "write": false}}, "additional_fields": {"write": true}}]"#
        )
        #expect(plan.readFilter == .all && plan.readsWholeDocuments && plan.readFilterIsExact)
        #expect(plan.permits(.update, #"{"_id": 1, "f": 1, "a": 1}"#, #"{"a": 2, "_id": 1, "f": 1, "b": 1}"#))
        for after in [#"{"_id": 1, "f": 2}"#, #"{"_id": 1}"#, #"{"_id": 1, "f": {"$numberLong": "1"}}"#] {
            #expect(!plan.permits(.update, #"{"_id": 1, "f": 1}"#, after))
        }
        #expect(
            plan.permits(.insert, nil, #"{"_id": 1}"#) && !plan.permits(.insert, nil, #"{"_id": 1, "f": 1}"#)
        )
        #expect(
            plan.permits(.delete, #"{"_id": 1}"#, nil) && !plan.permits(.delete, #"{"_id": 1, "f": 1}"#, nil)
        )
    }

    @Test("13: a leftover of the partition era denies everything")
    func leftover() throws {
        let plan = try accessPlan(
            roles:
                #"[{"name": "default", "apply_when": {}, "insert": true, "delete": true, "additional_fields": {}}]"#
        )
        #expect(plan.readFilter == .nothing && plan.shown(Self.own) == nil)
        #expect(!plan.permits(.insert, nil, Self.own) && !plan.permits(.delete, Self.own, nil))
        #expect(plan.writePredicate(.insert) == .after(.nothing))
        #expect(!plan.permits(.update, Self.own, #"{"_id": 1, "owner_id": "u1", "a": 1}"#))
    }

    @Test("14: rules of third-party services are no data rules")
    func serviceRule() {
        let (rules, faults) = RulesParser.parse(
            json(#"{"roles": [{"name": "s3", "actions": ["s3:PutObject"], "when": {"%%args.bucket": "b"}}]}"#)
        )
        #expect(
            faults.filter { $0.severity == .error }.map(\.jsonPath) == [
                "$.roles[0].actions", "$.roles[0].when", "$.roles[0]",
            ]
        )
        #expect(rules.isPresent)
    }
}

import BSON
import Errors
import MQL
import Rules
import Testing

@Suite("Rule filters")
struct RuleFilterTests {
    static let roles = #"[{"name": "r", "apply_when": {}, "read": true}]"#

    @Test(
        "join the queries that apply",
        arguments: [
            (
                #"[{"name": "f", "apply_when": true, "query": {"owner": "%%user.id"}}]"#,
                Filter.field("owner", .compare(.equal, "u1"))
            ),
            (#"[{"name": "f", "apply_when": {"%%user.id": "u2"}, "query": {"owner": "%%user.id"}}]"#, .all),
            (
                #"[{"name": "f", "apply_when": {"%%user.custom_data.x": {"$ne": 1}}, "query": {"a": 1}}]"#,
                .all
            ),
            (#"[{"name": "f", "apply_when": {}, "query": {"owner": "%%user.custom_data.x"}}]"#, .nothing),
            (
                #"[{"name": "f", "apply_when": {}, "query": {"owner": {"$ne": "%%user.custom_data.x"}}}]"#,
                .nothing
            ),
            (
                #"[{"name": "f", "apply_when": {}, "query": {"$nor": [{"owner": "%%user.custom_data.x"}]}}]"#,
                .nothing
            ),
            (
                #"[{"name": "f", "apply_when": {}, "query": {"$or": [{"owner": "%%user.custom_data.x"}, {"a": 1}]}}]"#,
                .field("a", .compare(.equal, 1))
            ),
            (
                #"[{"name": "f", "apply_when": {}, "query": {"owner": {"%in": "%%values.admins"}}}]"#,
                .field("owner", .inside([.value("u1"), .value("u9")]))
            ),
            (
                #"[{"name": "f", "apply_when": true}, {"name": "g", "apply_when": true, "query": {"a": 1}}, {"name": "h", "apply_when": true, "query": {"b": 1}}]"#,
                .and([.field("a", .compare(.equal, 1)), .field("b", .compare(.equal, 1))])
            ),
        ]
    )
    func joinsQueries(filters: String, expected: Filter) throws {
        #expect(try accessPlan(roles: Self.roles, filters: filters).queryFilter == expected)
    }

    @Test("join projections of one kind, under either name")
    func joinsProjections() throws {
        let filters =
            #"[{"name": "f", "apply_when": true, "projection": {"a": 0}}, {"name": "g", "apply_when": true, "project": {"b": 0}}, {"name": "h", "apply_when": false, "project": {"c": 1}}]"#
        let projection = try #require(try accessPlan(roles: Self.roles, filters: filters).queryProjection)
        #expect(projection.mode == .exclusion && projection.items.count == 2)
        let hidden =
            #"[{"name": "f", "apply_when": true, "projection": {"_id": 0, "age": 1}}, {"name": "g", "apply_when": true, "projection": {"_id": 1, "vote": 1}}]"#
        let inclusion = try #require(try accessPlan(roles: Self.roles, filters: hidden).queryProjection)
        #expect(inclusion.mode == .inclusion && !inclusion.includesID && inclusion.items.count == 2)
        let identity =
            #"[{"name": "f", "apply_when": true, "projection": {"_id": 0}}, {"name": "g", "apply_when": true, "projection": {"vote": 1}}]"#
        #expect(try accessPlan(roles: Self.roles, filters: identity).queryProjection?.mode == .inclusion)
    }

    @Test("fail when projections contradict each other")
    func conflict() throws {
        let filters =
            #"[{"name": "f", "apply_when": true, "projection": {"a": 0}}, {"name": "g", "apply_when": true, "projection": {"b": 1}}]"#
        let error = #expect(throws: ServiceError.self) { try accessPlan(roles: Self.roles, filters: filters) }
        #expect(error?.code == .badRequest)
        #expect(error?.message == "filters have conflicting projections")
    }

    @Test("list the fields that rules speak of")
    func fieldsMentioned() {
        let (rules, _) = RulesParser.parse(
            json(
                """
                {"roles": [{"name": "r", "apply_when": {"team": "%%user.custom_data.t", "%%user.id": "%%root.lead"},
                  "document_filters": {"read": {"owner.id": {"$in": ["%%user.id", "%%prevRoot.old"]}}, "write": true},
                  "fields": {"s": {"write": {"%%this.kind": 1, "team": 1}}}, "additional_fields": {"read": {"%%this": 1, "open": true}}}],
                 "filters": [{"name": "f", "apply_when": true, "query": {"$or": [{"x.y": 1}, {"z": "%%user.id"}]}}]}
                """
            )
        )
        #expect(
            rules.fieldsMentioned.map(\.dotted) == [
                "team", "lead", "owner.id", "old", "s.kind", "open", "x.y", "z",
            ]
        )
    }

    @Test("report what stands against Sync")
    func syncCompatibility() {
        let (rules, _) = RulesParser.parse(
            json(
                """
                {"roles": [
                  {"name": "ok", "apply_when": {"owner": "%%user.id"}, "document_filters": {"read": {"owner": "%%user.id"}, "write": {"_id": 1}}, "read": true, "write": true},
                  {"name": "no", "apply_when": {}, "document_filters": {"read": {"team": 1, "%%request.action": "x"}}, "read": {"a": 1}, "insert": {"%%prevRoot": {"%exists": false}}, "fields": {"_id": {"read": true}}}]}
                """
            )
        )
        #expect(SyncCompatibility.obstacles(rules.roles[0], queryableFields: ["owner"]).isEmpty)
        #expect(SyncCompatibility.obstacles(rules.roles[1], queryableFields: ["owner"]).count == 6)
    }
}

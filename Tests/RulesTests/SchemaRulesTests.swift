import BSON
import Errors
import MQL
import Rules
import Schemas
import Testing

@Suite("Schemas under rules")
struct SchemaRulesTests {
    static let roles = #"[{"name": "r", "apply_when": {}, "read": true, "write": {"locked": {"$ne": true}}}]"#
    static let schema =
        #"{"title": "Item", "bsonType": "object", "required": ["_id", "owner_id"], "properties": {"_id": {"bsonType": "int"}, "owner_id": {"bsonType": "string", "validate": {"%or": [{"%%prev": {"%exists": false}}, {"%%prev": "%%this"}]}}}}"#

    @Test("are checked after permissions, on the document after")
    func order() throws {
        let plan = try accessPlan(roles: Self.roles, schema: Self.schema)
        let good = json(#"{"_id": 1, "owner_id": "a"}"#)
        #expect(plan.denial(of: .insert, before: nil, after: good) == nil)
        let denial = try #require(plan.denial(of: .insert, before: nil, after: json(#"{"_id": 1}"#)))
        #expect(denial.isSchema && denial.role == "r")
        #expect(denial.reason.contains("(root).owner_id: required"))
        #expect(
            denial.error.code == .schemaValidationFailedWrite
                && denial.error.message == "insert not permitted"
        )
        let both = try #require(
            plan.denial(of: .insert, before: nil, after: json(#"{"_id": 1, "locked": true}"#))
        )
        #expect(!both.isSchema)
        // A document that never fitted can be mended.
        #expect(
            plan.permits(.update, #"{"_id": 1, "owner_id": 5}"#, #"{"_id": 1, "owner_id": 5, "x": 1}"#)
                == false
        )
        #expect(plan.permits(.update, #"{"_id": 1}"#, #"{"_id": 1, "owner_id": "a"}"#))
        #expect(plan.writePredicate(.insert) == nil && plan.writePredicate(.update) == nil)
    }

    @Test("keep a field as it was once set: the sample of the documentation")
    func validate() throws {
        let plan = try accessPlan(roles: Self.roles, schema: Self.schema)
        #expect(
            plan.permits(.update, #"{"_id": 1, "owner_id": "a"}"#, #"{"_id": 1, "owner_id": "a", "x": 1}"#)
        )
        #expect(!plan.permits(.update, #"{"_id": 1, "owner_id": "a"}"#, #"{"_id": 1, "owner_id": "b"}"#))
        let optional =
            #"{"properties": {"o": {"validate": {"%or": [{"%%prevRoot.o": {"%exists": false}}, {"%%prevRoot.o": "%%root.o"}]}}}}"#
        let loose = try accessPlan(roles: Self.roles, schema: optional)
        #expect(!loose.permits(.update, #"{"_id": 1, "o": 1}"#, #"{"_id": 1}"#))
        #expect(loose.permits(.update, #"{"_id": 1}"#, #"{"_id": 1, "o": 1}"#))
        #expect(loose.permits(.insert, nil, #"{"_id": 1, "o": 1}"#))
    }

    @Test("ask expressions of the caller, in arrays too")
    func callers() throws {
        let schema = #"{"properties": {"list": {"items": {"validate": {"%%this.by": "%%user.id"}}}}}"#
        let plan = try accessPlan(roles: Self.roles, schema: schema)
        #expect(plan.permits(.insert, nil, #"{"_id": 1, "list": [{"by": "u1"}]}"#))
        #expect(!plan.permits(.insert, nil, #"{"_id": 1, "list": [{"by": "u1"}, {"by": "u2"}]}"#))
    }

    @Test("do not keep a misfit from being deleted, but ask validate")
    func deletes() throws {
        let plain = try accessPlan(roles: Self.roles, schema: #"{"required": ["x"]}"#)
        #expect(plain.permits(.delete, #"{"_id": 1}"#, nil))
        #expect(plain.writePredicate(.delete) == .before(.field("locked", .not([.compare(.equal, true)]))))
        let kept = try accessPlan(
            roles: Self.roles,
            schema: #"{"required": ["x"], "properties": {"keep": {"validate": {"%%this": false}}}}"#
        )
        #expect(
            kept.permits(.delete, #"{"_id": 1, "keep": false}"#, nil)
                && !kept.permits(.delete, #"{"_id": 1, "keep": true}"#, nil)
        )
        #expect(
            kept.denial(of: .delete, before: json(#"{"_id": 1, "keep": true}"#), after: nil)?.isSchema == true
        )
        #expect(kept.writePredicate(.delete) == nil)
    }

    @Test("leave predicates to an empty schema, and the system user alone")
    func empty() throws {
        #expect(try accessPlan(roles: Self.roles, schema: "{}").writePredicate(.insert) != nil)
        #expect(AccessPlan.system.permits(.insert, nil, "{}"))
    }

    @Test("list the faults of their expressions")
    func faults() throws {
        let schema = try SchemaParser.parse(
            json(#"{"properties": {"a": {"validate": {"%%true": {"%function": {"arguments": []}}}}}}"#)
        )
        let validation = SchemaValidation(schema)
        #expect(validation.faults.map(\.jsonPath) == ["$.properties.a.validate[\"%%true\"][\"%function\"]"])
        // Used nevertheless, it refuses.
        #expect(validation.violations(json(#"{"a": 1}"#), previous: nil, context: user()).count == 1)
    }
}

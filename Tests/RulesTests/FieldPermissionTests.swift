import BSON
import MQL
import Rules
import Testing

@Suite("Field permissions")
struct FieldPermissionTests {
    static func plan(_ body: String, _ context: RuleContext = user()) throws -> AccessPlan {
        try accessPlan(roles: "[{\"name\": \"r\", \"apply_when\": {}, \(body)}]", context)
    }

    @Test(
        "show what an entry or the rest grants",
        arguments: [
            (#""fields": {"a": {"read": true}}"#, #"{"a":1}"#),
            (#""fields": {"a": {"write": true}}"#, #"{"a":1}"#),
            (#""fields": {"a": {"read": false, "write": true}}"#, #"{"a":1}"#),
            (
                #""fields": {"a": {"read": false}}, "additional_fields": {"read": true}"#,
                #"{"_id":1,"b":{"x":1,"y":[{"z":1,"w":2}]}}"#
            ),
            (
                #""fields": {"a": {}}, "additional_fields": {"read": true}"#,
                #"{"_id":1,"b":{"x":1,"y":[{"z":1,"w":2}]}}"#
            ),
            (
                #""fields": {"b": {"fields": {"y": {"fields": {"z": {"read": true}}}}}}"#,
                #"{"b":{"y":[{"z":1}]}}"#
            ),
            (#""fields": {"b": {"read": false, "fields": {"x": {"read": true}}}}"#, nil),
            (
                #""fields": {"b": {"read": true, "fields": {"x": {"read": false}}}}"#,
                #"{"b":{"x":1,"y":[{"z":1,"w":2}]}}"#
            ),
            (#""additional_fields": {"read": {"%%this": 1}}"#, #"{"_id":1,"a":1}"#),
            (
                #""additional_fields": {"read": {"a": 1}}"#,
                #"{"_id":1,"a":1,"b":{"x":1,"y":[{"z":1,"w":2}]}}"#
            ),
            (#""fields": {"a": {"read": {"%%this": 2}}}"#, nil),
            (
                #""fields": {"b": {"read": {"%%this.x": 1, "%%prev.x": 1}}}"#,
                #"{"b":{"x":1,"y":[{"z":1,"w":2}]}}"#
            ),
            (#""additional_fields": {}"#, nil), (#""insert": true"#, nil),
            (#""write": {"a": 2}, "fields": {"a": {"read": true}}"#, #"{"a":1}"#),
            (
                #""write": {"a": 1}, "fields": {"a": {"read": true}}"#,
                #"{"_id":1,"a":1,"b":{"x":1,"y":[{"z":1,"w":2}]}}"#
            ),
            (#""read": {"a": 2}, "fields": {"a": {"read": true}}"#, nil),
        ] as [(String, String?)]
    )
    func shows(body: String, expected: String?) throws {
        let document = #"{"_id": 1, "a": 1, "b": {"x": 1, "y": [{"z": 1, "w": 2}]}}"#
        let plan = try Self.plan(body)
        #expect(plan.shown(document) == expected)
        let filtered = try plan.readFilterMatches(document)
        #expect(expected == nil || filtered)
        if plan.readFilterIsExact { #expect(filtered == (expected != nil)) }
        if plan.readsWholeDocuments, expected != nil { #expect(json(expected!) == json(document)) }
    }

    static let entry =
        #""fields": {"a": {"write": true}, "b": {"fields": {"x": {"write": true}}}, "s": {"write": {"%%this": {"$in": ["open", "closed"]}}}, "once": {"write": {"%%prev": {"%exists": false}}}, "mine": {"write": {"owner": "%%user.id"}}}"#

    @Test(
        "check each field that an update touches",
        arguments: [
            (#"{}"#, #"{}"#, true), (#"{"c": 1, "a": 1}"#, #"{"a": 2, "c": 1}"#, true),
            (#"{}"#, #"{"a": 1}"#, true), (#"{"a": 1}"#, #"{}"#, true),
            (#"{}"#, #"{"c": 1}"#, false), (#"{"c": 1}"#, #"{}"#, false), (#"{"c": 1}"#, #"{"c": 2}"#, false),
            (#"{"c": 1}"#, #"{"c": 1.0}"#, false),
            (#"{"c": {"p": 1, "q": 1}}"#, #"{"c": {"q": 1, "p": 1}}"#, false),
            (#"{"c": null}"#, #"{}"#, false), (#"{}"#, #"{"c": null}"#, false),
            (#"{"b": {"x": 1, "y": 1}}"#, #"{"b": {"y": 1, "x": 2}}"#, true),
            (#"{"b": {"x": 1, "y": 1}}"#, #"{"b": {"x": 1}}"#, false),
            (#"{"b": {"x": 1}}"#, #"{}"#, true), (#"{"b": {"x": 1, "y": 1}}"#, #"{}"#, false),
            (#"{}"#, #"{"b": {"x": 1}}"#, true), (#"{}"#, #"{"b": {}}"#, false),
            (#"{}"#, #"{"b": 1}"#, false),
            (#"{"b": {"x": 1}}"#, #"{"b": 1}"#, false), (#"{"b": 1}"#, #"{"b": {"x": 1}}"#, false),
            (#"{"b": [{"x": 1, "y": 1}, 7]}"#, #"{"b": [{"x": 2, "y": 1}, 7]}"#, true),
            (#"{"b": [{"x": 1, "y": 1}]}"#, #"{"b": [{"x": 1, "y": 2}]}"#, false),
            (#"{"b": [{"x": 1}]}"#, #"{"b": [{"x": 1}, {"x": 2}]}"#, true),
            (#"{"b": [{"x": 1}]}"#, #"{"b": []}"#, true),
            (#"{"b": [{"x": 1}]}"#, #"{"b": [{"x": 1}, 5]}"#, false), (#"{"b": [5]}"#, #"{"b": []}"#, false),
            (#"{"b": []}"#, #"{}"#, false),
            (#"{"s": "new"}"#, #"{"s": "open"}"#, true), (#"{"s": "open"}"#, #"{"s": "gone"}"#, false),
            (#"{"s": "open"}"#, #"{}"#, false),
            (#"{}"#, #"{"once": 1}"#, true), (#"{"once": 1}"#, #"{"once": 2}"#, false),
            (#"{"once": 1}"#, #"{}"#, false),
            (#"{"owner": "u1"}"#, #"{"owner": "u1", "mine": 1}"#, true),
            (#"{"owner": "u2"}"#, #"{"owner": "u2", "mine": 1}"#, false),
        ]
    )
    func checksUpdates(before: String, after: String, expected: Bool) throws {
        #expect(try Self.plan(Self.entry).permits(.update, before, after) == expected)
    }

    @Test("check all fields of a new document and of one that goes")
    func checksInserts() throws {
        let plan = try Self.plan(
            #""fields": {"_id": {"write": true}, "a": {"write": {"%%prev": {"%exists": false}}}, "z": {"write": {"%%prevRoot.k": {"$ne": 1}}}}"#
        )
        #expect(
            plan.permits(.insert, nil, #"{"_id": 1, "a": 1}"#)
                && !plan.permits(.insert, nil, #"{"_id": 1, "c": 1}"#)
        )
        // There is no document before an insert, so nothing is true of it.
        #expect(!plan.permits(.insert, nil, #"{"_id": 1, "z": 1}"#))
        #expect(
            plan.permits(.delete, #"{"_id": 1}"#, nil) && !plan.permits(.delete, #"{"_id": 1, "a": 1}"#, nil)
        )
        let nobody = try Self.plan(#""additional_fields": {}"#)
        #expect(!nobody.permits(.insert, nil, "{}") && !nobody.permits(.delete, "{}", nil))
    }

    @Test("tell names apart that only look alike")
    func namesByBytes() throws {
        let plan = try Self.plan("\"fields\": {\"caf\\u00e9\": {\"read\": true}}")
        #expect(plan.visible(["café": 1, "cafe\u{301}": 2]) == ["caf\u{e9}": 1])
    }

    @Test("give filters that say the same where they can")
    func filters() throws {
        let known = try Self.plan(
            #""fields": {"a": {"read": {"%%this": {"$gt": 5}}}, "b": {"read": {"owner": "%%user.id"}}}"#
        )
        #expect(known.readFilterIsExact && !known.readsWholeDocuments)
        #expect(
            known.readFilter
                == .or([
                    .and([.field("a", .exists(true)), .field("a", .compare(.greater, 5))]),
                    .and([.field("b", .exists(true)), .field("owner", .compare(.equal, "u1"))]),
                ])
        )
        let all = try Self.plan(#""additional_fields": {"read": true, "write": true}"#)
        #expect(all.readFilter == .all && all.readFilterIsExact && all.readsWholeDocuments)
        #expect(all.writePredicate(.update) == .after(.all))
        let some = try Self.plan(#""fields": {"a": {"read": false}}, "additional_fields": {"read": true}"#)
        #expect(some.readFilter == .all && some.readFilterIsExact && !some.readsWholeDocuments)
    }

    @Test("stay quick on wide documents", .timeLimit(.minutes(30)))
    func isLinear() throws {
        var before = BSONDocument()
        for index in 0..<40_000 { before.append("f\(index)", .int32(Int32(index))) }
        let after = BSONDocument(before.fields.reversed())
        let plan = try Self.plan(#""fields": {"f1": {"read": true}}, "additional_fields": {"read": true}"#)
        #expect(plan.denial(of: .update, before: before, after: after) == nil)
        #expect(plan.visible(before)?.count == 40_000)
    }
}

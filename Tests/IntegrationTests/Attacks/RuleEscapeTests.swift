import Foundation
import TestSupport
import Testing

/// Filters that talk themselves out of a rule, and writes that carry a document out of it; `peers.md` §6.2,
/// "predicate break-out" and "write moves a document out of the filter".
@Suite("Attack: out of the rules")
struct RuleEscapeTests {
    private static let breakOuts = [
        #"{"$or":[{},{"owner":{"$exists":true}}]}"#, #"{"$or":[{"$or":[{"$nor":[{"x":1}]}]}]}"#,
        #"{"$nor":[{"owner":"none"}]}"#,
        #"{"owner":{"$ne":"none"}}"#, #"{"owner":{"$not":{"$eq":"none"}}}"#, #"{"owner":{"$nin":[]}}"#,
        #"{"owner":{"$regex":".*"}}"#,
        #"{"$expr":true}"#, #"{"$expr":{"$or":[true,{"$eq":["$owner","$owner"]}]}}"#,
        #"{"$comment":"*/ or true --"}"#,
        #"{"text":"1=1) OR (1=1"}"#, #"{"text":{"$ne":"') or true or ('"}}"#, #"{"$and":[{"$or":[{},{}]}]}"#,
        #"{"owner":"%%user.id"}"#,
        #"{"owner":{"%or":[true]}}"#, #"{"%%true":true}"#,
        #"{"owner":{"$in":["%%user.id",{"$exists":true}]}}"#,
        #"{"_id":{"$gt":""}}"#, #"{"_id":{"$exists":true}}"#, #"{"owner":null}"#,
        #"{"owner":{"$type":"string"}}"#, #"{}"#,
    ]

    @Test("no filter reaches another's document", arguments: breakOuts)
    func predicates(filter: String) async throws {
        let (api, mallory) = try await AttackApp.user()
        let victim = UUID().uuidString
        try await AttackApp.put(
            "Notes",
            #"{"_id":"\#(victim)","owner":"victim","text":"\#(AttackApp.marker)"}"#
        )
        let before = try await AttackApp.sql(
            "select doc from vault.\"Notes\" where doc->>'_id' = '\(victim)'"
        )
        for (action, members) in [
            ("find", #""filter":\#(filter)"#), ("findOne", #""filter":\#(filter)"#),
            ("find", #""filter":{"$or":[\#(filter),{}]},"sort":{"text":1},"projection":{"x":"$text"}"#),
            ("aggregate", #""pipeline":[{"$match":\#(filter)},{"$group":{"_id":"$text","n":{"$sum":1}}}]"#),
            ("aggregate", #""pipeline":[{"$sort":{"text":1}},{"$limit":1},{"$match":\#(filter)}]"#),
            ("aggregate", #""pipeline":[{"$match":\#(filter)},{"$count":"n"}]"#),
            ("updateOne", #""filter":\#(filter),"update":{"$set":{"text":"mine"}}"#),
            ("updateMany", #""filter":\#(filter),"update":{"$set":{"owner":"\#(mallory.id)"}}"#),
            ("replaceOne", #""filter":\#(filter),"replacement":{"owner":"\#(mallory.id)"}"#),
            ("deleteOne", #""filter":\#(filter)"#), ("deleteMany", #""filter":\#(filter)"#),
        ] {
            let answer = try await api.attack(action, "Notes", members, as: mallory.bearer)
            #expect([200, 400].contains(answer.status), "\(action) \(members): \(answer.text)")
            #expect(!answer.text.contains(AttackApp.marker), "\(action) \(members): \(answer.text)")
            guard answer.status == 200 else { continue }
            let nothing = [
                #"{"documents":[]}"#, #"{"document":null}"#, #"{"matchedCount":0,"modifiedCount":0}"#,
                #"{"deletedCount":0}"#,
            ]
            #expect(nothing.contains(answer.text), "\(action) \(members): \(answer.text)")
        }
        #expect(
            try await AttackApp.sql("select doc from vault.\"Notes\" where doc->>'_id' = '\(victim)'")
                == before
        )
    }

    /// Every operator that could take `owner` away from its caller, by the name of the operator.
    static let carriers: [String: [String]] = [
        "$set": [
            #"{"$set":{"owner":"x"}}"#, #"{"$set":{"owner":null}}"#, #"{"$set":{"owner":["x"]}}"#,
            #"{"$set":{"owner.a":1}}"#,
        ],
        "$unset": [#"{"$unset":{"owner":""}}"#],
        "$rename": [#"{"$rename":{"owner":"o"}}"#, #"{"$rename":{"text":"owner"}}"#],
        "$min": [#"{"$min":{"owner":"0"}}"#], "$max": [#"{"$max":{"owner":"zz"}}"#],
        "$inc": [#"{"$inc":{"owner":1}}"#],
        "$mul": [#"{"$mul":{"owner":2}}"#], "$currentDate": [#"{"$currentDate":{"owner":true}}"#],
        "$push": [#"{"$push":{"owner":"x"}}"#], "$addToSet": [#"{"$addToSet":{"owner":"x"}}"#],
        "$pull": [#"{"$pull":{"owner":"x"}}"#], "$pullAll": [#"{"$pullAll":{"owner":["x"]}}"#],
        "$pop": [#"{"$pop":{"owner":1}}"#],
        "$bit": [#"{"$bit":{"owner":{"or":1}}}"#],
        // Counts in an insertion alone, where it makes a document that is another's.
        "$setOnInsert": [#"{"$setOnInsert":{"owner":"x"}}"#],
        "pipeline": [
            #"[{"$set":{"owner":"x"}}]"#, #"[{"$addFields":{"owner":{"$concat":["$owner","x"]}}}]"#,
            #"[{"$unset":"owner"}]"#,
            #"[{"$project":{"text":1}}]"#, #"[{"$replaceRoot":{"newRoot":{"text":"x"}}}]"#,
            #"[{"$replaceWith":{"owner":"x"}}]"#,
            #"[{"$set":{"owner":"$text"}}]"#, #"[{"$set":{"owner":"x"}},{"$set":{"text":"$owner"}}]"#,
        ],
        "replacement": [#"{"owner":"x"}"#, #"{"text":"x"}"#, "{}"],
    ]

    @Test(
        "no operator leaves a document that is another's, nor inserts one",
        arguments: carriers.keys.sorted()
    )
    func postImages(operation: String) async throws {
        let (api, ann) = try await AttackApp.user()
        for change in try #require(Self.carriers[operation]) {
            let id = UUID().uuidString
            _ = try await api.attack(
                "insertOne",
                "Notes",
                #""document":{"_id":"\#(id)","owner":"\#(ann.id)","text":"t"}"#,
                as: ann.bearer
            )
            let action = operation == "replacement" ? "replaceOne" : "updateOne"
            let member = operation == "replacement" ? "replacement" : "update"
            for (action, filter, upsert) in [
                (action, #"{"_id":"\#(id)"}"#, false),
                (operation == "replacement" ? action : "updateMany", #"{"_id":"\#(id)"}"#, true),
                (action, #"{"_id":"new-\#(id)","text":"none"}"#, true),
                (action, #"{"_id":"new-\#(id)","owner":"x"}"#, true),
            ] {
                let answer = try await api.attack(
                    action,
                    "Notes",
                    #""filter":\#(filter),"\#(member)":\#(change),"upsert":\#(upsert)"#,
                    as: ann.bearer
                )
                #expect([200, 201, 400].contains(answer.status), "\(change): \(answer.text)")
            }
            let state = try await AttackApp.sql(
                "select string_agg(doc->>'owner', ',') from vault.\"Notes\" where doc->>'_id' in ('\(id)', 'new-\(id)')"
            )
            #expect(state == ann.id, "\(change)")
        }
    }
}

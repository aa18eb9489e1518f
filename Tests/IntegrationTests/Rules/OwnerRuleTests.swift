import Foundation
import TestSupport
import Testing

/// The Item example: `owner-read-write`.
@Suite("The owner rule")
struct OwnerRuleTests {
    private func item(_ owner: String, _ name: String = "Learn Realm CRUD stuff") -> String {
        #""document":{"ownerId":"\#(owner)","itemName":"\#(name)","complexity":3}"#
    }

    @Test("lets the owner read and write her own")
    func owner() async throws {
        let (api, ann) = try await SharedServer.user()
        let inserted = try await api.act("insertOne", "Item", item(ann.id), as: ann.bearer)
        #expect(inserted.status == 201)
        let updated = try await api.act(
            "updateOne",
            "Item",
            #""filter":{"complexity":3},"update":{"$inc":{"complexity":1}}"#,
            as: ann.bearer
        )
        #expect(updated.text == #"{"matchedCount":1,"modifiedCount":1}"#)
        let deleted = try await api.act("deleteMany", "Item", #""filter":{}"#, as: ann.bearer)
        #expect(deleted.text == #"{"deletedCount":1}"#)
    }

    @Test("hides documents from others, who can neither change nor delete them")
    func others() async throws {
        let (api, ann) = try await SharedServer.user()
        let bob = try await api.newUser()
        let inserted = try await api.act("insertOne", "Item", item(ann.id, "secret"), as: ann.bearer)
        let id = try #require(inserted.object["insertedId"] as? String)
        let byID = #""filter":{"_id":{"$oid":"\#(id)"}}"#
        #expect(try await api.act("findOne", "Item", byID, as: bob.bearer).text == #"{"document":null}"#)
        #expect(try await api.act("find", "Item", as: bob.bearer).text == #"{"documents":[]}"#)
        let aggregate = try await api.act(
            "aggregate",
            "Item",
            #""pipeline":[{"$group":{"_id":null,"n":{"$sum":1}}}]"#,
            as: bob.bearer
        )
        #expect(aggregate.text == #"{"documents":[]}"#)
        let update = try await api.act(
            "updateOne",
            "Item",
            byID + #","update":{"$set":{"ownerId":"\#(bob.id)"}}"#,
            as: bob.bearer
        )
        #expect(update.text == #"{"matchedCount":0,"modifiedCount":0}"#)
        #expect(
            try await api.act("deleteMany", "Item", #""filter":{}"#, as: bob.bearer).text
                == #"{"deletedCount":0}"#
        )
        #expect(
            try await api.act("findOne", "Item", byID, as: ann.bearer).text.contains(#""itemName":"secret""#)
        )
    }

    /// Every way to write a document that is somebody else's afterwards.
    static let escapes: [(String, String)] = [
        ("updateOne", #""update":{"$set":{"ownerId":"someone"}}"#),
        ("updateOne", #""update":{"$unset":{"ownerId":""}}"#),
        ("updateOne", #""update":{"$rename":{"ownerId":"formerOwner"}}"#),
        ("updateOne", #""update":{"$rename":{"itemName":"ownerId"}}"#),
        ("updateOne", #""update":{"$set":{"ownerId":["a","b"]}}"#),
        ("updateOne", #""update":{"$min":{"ownerId":"0"}}"#),
        ("updateOne", #""update":{"$max":{"ownerId":"zzz"}}"#),
        ("updateOne", #""update":{"$currentDate":{"ownerId":true}}"#),
        ("updateOne", #""update":[{"$set":{"ownerId":"someone"}}]"#),
        ("updateOne", #""update":[{"$unset":"ownerId"}]"#),
        ("updateOne", #""update":[{"$replaceWith":{"itemName":"x"}}]"#),
        ("updateMany", #""update":{"$set":{"ownerId":"someone"}}"#),
        ("updateOne", #""update":{"ownerId":"someone"}"#),
        ("replaceOne", #""replacement":{"ownerId":"someone","itemName":"x"}"#),
        ("replaceOne", #""replacement":{"itemName":"x"}"#),
    ]

    @Test("does not let the owner move a document out of the filter", arguments: escapes)
    func escape(action: String, change: String) async throws {
        let (api, ann) = try await SharedServer.user()
        _ = try await api.act("insertOne", "Item", item(ann.id), as: ann.bearer)
        let before = try await api.act("find", "Item", as: ann.bearer).text
        let answer = try await api.act(action, "Item", #""filter":{},"# + change, as: ann.bearer)
        #expect(answer.status == 400, "\(change): \(answer.text)")
        #expect(answer.error == "update not permitted")
        #expect(try await api.act("find", "Item", as: ann.bearer).text == before)
    }

    @Test("does not let anyone insert for another, by insert or upsert")
    func foreignInsert() async throws {
        let (api, ann) = try await SharedServer.user()
        let tag = UUID().uuidString
        let one = try await api.act("insertOne", "Item", item("someone", tag), as: ann.bearer)
        #expect(one.status == 400)
        #expect(one.error == "insert not permitted")
        let many = try await api.act(
            "insertMany",
            "Item",
            #""documents":[{"ownerId":"\#(ann.id)","itemName":"\#(tag)"},{"ownerId":"someone","itemName":"\#(tag)"}]"#,
            as: ann.bearer
        )
        #expect(many.error == "insert not permitted")
        for change in [
            #""update":{"$set":{"itemName":"\#(tag)"}}"#,
            #""update":{"$setOnInsert":{"ownerId":"someone","itemName":"\#(tag)"}}"#,
        ] {
            let upsert = try await api.act(
                "updateOne",
                "Item",
                #""filter":{"itemName":"none"},"upsert":true,"# + change,
                as: ann.bearer
            )
            #expect(upsert.status == 400)
            #expect(upsert.error == "insert not permitted")
        }
        #expect(
            try Shell.psql(
                api.server.database,
                #"select count(*) from todo."Item" where doc->>'itemName' = '\#(tag)'"#
            ) == "0"
        )
    }

    @Test("holds for a namespace without a rule: 403")
    func noRule() async throws {
        let (api, ann) = try await SharedServer.user()
        for (action, members) in [
            ("find", ""), ("insertOne", #""document":{}"#), ("deleteMany", #""filter":{}"#),
            ("aggregate", #""pipeline":[]"#), ("updateOne", #""filter":{},"update":{"$set":{"a":1}}"#),
        ] {
            let answer = try await api.act(action, "Nowhere", members, as: ann.bearer)
            #expect(answer.status == 403)
            #expect(answer.errorCode == "NoMatchingRuleFound")
            #expect(answer.error == "no rule exists for namespace 'todo.Nowhere'")
        }
        #expect(try Shell.psql(api.server.database, #"select to_regclass('todo."Nowhere"') is null"#) == "t")
    }
}

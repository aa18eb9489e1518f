import Foundation
import TestSupport
import Testing

@Suite("Roles, field permissions, filters and schemas")
struct RoleTests {
    @Test("field permissions leave hidden fields out and refuse writes to fixed ones")
    func fields() async throws {
        let (api, ann) = try await SharedServer.user()
        let id = UUID().uuidString
        try Shell.psql(
            api.server.database,
            """
            select tidegate.ensure_collection('todo', 'Fields');
            insert into todo."Fields" (doc) values
              ('{"_id":"\(id)","shown":1,"fixed":2,"hidden":3,"nested":{"open":4,"closed":5}}')
            """
        )
        let byID = #""filter":{"_id":"\#(id)"}"#
        let found = try await api.act("findOne", "Fields", byID, as: ann.bearer)
        let document = try #require(found.object["document"] as? [String: Any])
        #expect(Set(document.keys) == ["_id", "shown", "fixed", "nested"])
        #expect((document["nested"] as? [String: Any])?.keys.sorted() == ["open"])
        for change in [
            #"{"$set":{"fixed":9}}"#, #"{"$set":{"hidden":9}}"#, #"{"$unset":{"hidden":""}}"#,
            #"{"$set":{"nested.closed":9}}"#, #"{"$set":{"brandNew":1}}"#, #"{"$rename":{"hidden":"shown"}}"#,
            #"[{"$set":{"shown":"$hidden"}}, {"$set":{"fixed":1}}]"#,
        ] {
            let refused = try await api.act(
                "updateOne",
                "Fields",
                byID + #","update":\#(change)"#,
                as: ann.bearer
            )
            #expect(refused.status == 400, "\(change): \(refused.text)")
            #expect(refused.error == "update not permitted")
        }
        let allowed = try await api.act(
            "updateOne",
            "Fields",
            byID + #","update":{"$set":{"shown":7,"nested.open":8}}"#,
            as: ann.bearer
        )
        #expect(allowed.text == #"{"matchedCount":1,"modifiedCount":1}"#)
        let grouped = try await api.act(
            "aggregate",
            "Fields",
            #""pipeline":[{"$match":{"_id":"\#(id)"}},{"$project":{"_id":0,"h":"$hidden","s":"$shown"}}]"#,
            as: ann.bearer
        )
        #expect(grouped.text == #"{"documents":[{"s":7}]}"#)
    }

    @Test("the first role that applies decides, document by document")
    func tiers() async throws {
        let (api, ann) = try await SharedServer.user()
        let tag = UUID().uuidString
        try Shell.psql(
            api.server.database,
            """
            select tidegate.ensure_collection('todo', 'Tiered');
            insert into todo."Tiered" (doc) values ('{"_id":"\(tag)r","t":"\(tag)","team":"red"}'),
                                                   ('{"_id":"\(tag)b","t":"\(tag)","team":"blue"}')
            """
        )
        let filter = #""filter":{"t":"\#(tag)"}"#
        let found = try await api.act("find", "Tiered", filter, as: ann.bearer)
        #expect((found.object["documents"] as? [[String: Any]])?.map { $0["_id"] as? String } == ["\(tag)r"])
        let refused = try await api.act(
            "updateMany",
            "Tiered",
            filter + #","update":{"$set":{"a":1}}"#,
            as: ann.bearer
        )
        #expect(refused.error == "update not permitted")
        #expect(
            try await api.act("deleteMany", "Tiered", filter, as: ann.bearer).error == "delete not permitted"
        )
        _ = try? Shell.psql(
            api.server.database,
            "select tidegate.create_user('\(api.app)', 'root@example.com', 'root-secret')"
        )
        let root = ["email": "root@example.com", "password": "root-secret"]
        let all = try await api.act("updateMany", "Tiered", filter + #","update":{"$set":{"a":1}}"#, as: root)
        #expect(all.text == #"{"matchedCount":2,"modifiedCount":2}"#)
    }

    @Test("filters narrow reads and writes, and hide what they project away")
    func filters() async throws {
        let (api, ann) = try await SharedServer.user()
        let tag = UUID().uuidString
        let inserted = try await api.act(
            "insertMany",
            "Filtered",
            #""documents":[{"_id":"\#(tag)1","t":"\#(tag)","secret":1},{"_id":"\#(tag)2","t":"\#(tag)","deleted":true}]"#,
            as: ann.bearer
        )
        #expect(inserted.status == 201, "\(inserted.text)")
        let filter = #""filter":{"t":"\#(tag)"}"#
        let found = try await api.act("find", "Filtered", filter, as: ann.bearer)
        #expect(found.text == #"{"documents":[{"_id":"\#(tag)1","t":"\#(tag)"}]}"#)
        let updated = try await api.act(
            "updateMany",
            "Filtered",
            filter + #","update":{"$set":{"a":1}}"#,
            as: ann.bearer
        )
        #expect(updated.text == #"{"matchedCount":1,"modifiedCount":1}"#)
        let deleted = try await api.act("deleteMany", "Filtered", filter, as: ann.bearer)
        #expect(deleted.text == #"{"deletedCount":1}"#)
        #expect(
            try Shell.psql(
                api.server.database,
                #"select doc->>'_id' from todo."Filtered" where doc->>'t' = '\#(tag)'"#
            )
                == "\(tag)2"
        )
    }

    @Test("a write that the schema refuses changes nothing")
    func schema() async throws {
        let (api, ann) = try await SharedServer.user()
        let good = try await api.act(
            "insertOne",
            "Checked",
            #""document":{"name":"good","count":1}"#,
            as: ann.bearer
        )
        let id = try #require(good.object["insertedId"] as? String)
        for document in [
            #"{}"#, #"{"name":1}"#, #"{"name":"x"}"#, #"{"name":"good","count":-1}"#,
            #"{"name":"good","count":1.5}"#,
        ] {
            let refused = try await api.act(
                "insertOne",
                "Checked",
                #""document":\#(document)"#,
                as: ann.bearer
            )
            #expect(refused.status == 400, "\(document)")
            #expect(refused.error == "insert not permitted")
            #expect(refused.errorCode == "SchemaValidationFailedWrite")
        }
        let byID = #""filter":{"_id":{"$oid":"\#(id)"}}"#
        for change in [#"{"$unset":{"name":""}}"#, #"{"$set":{"count":"many"}}"#, #"{"$inc":{"count":-5}}"#] {
            let refused = try await api.act(
                "updateOne",
                "Checked",
                byID + #","update":\#(change)"#,
                as: ann.bearer
            )
            #expect(refused.error == "update not permitted", "\(change): \(refused.text)")
        }
        let found = try await api.act("findOne", "Checked", byID, as: ann.bearer)
        #expect(found.text == #"{"document":{"_id":"\#(id)","name":"good","count":1}}"#)
    }

    @Test("one denied document cancels the whole request")
    func partialFailure() async throws {
        let (api, ann) = try await SharedServer.user()
        let bob = try await api.newUser()
        let tag = UUID().uuidString
        _ = try await api.act(
            "insertOne",
            "Feed",
            #""document":{"t":"\#(tag)","ownerId":"\#(ann.id)"}"#,
            as: ann.bearer
        )
        _ = try await api.act(
            "insertOne",
            "Feed",
            #""document":{"t":"\#(tag)","ownerId":"\#(bob.id)"}"#,
            as: bob.bearer
        )
        let filter = #""filter":{"t":"\#(tag)"}"#
        #expect(
            (try await api.act("find", "Feed", filter, as: ann.bearer).object["documents"] as? [Any])?.count
                == 2
        )
        let update = try await api.act(
            "updateMany",
            "Feed",
            filter + #","update":{"$set":{"x":1}}"#,
            as: ann.bearer
        )
        #expect(update.error == "update not permitted")
        let delete = try await api.act("deleteMany", "Feed", filter, as: ann.bearer)
        #expect(delete.error == "delete not permitted")
        #expect(
            try Shell.psql(
                api.server.database,
                #"select count(*), count(doc->'x') from todo."Feed" where doc->>'t' = '\#(tag)'"#
            ) == "2|0"
        )
    }

    @Test("a role without write refuses every write")
    func readOnly() async throws {
        let (api, ann) = try await SharedServer.user()
        #expect(
            try await api.act("insertOne", "ReadOnly", #""document":{"a":1}"#, as: ann.bearer).error
                == "insert not permitted"
        )
        #expect(try await api.act("find", "ReadOnly", as: ann.bearer).text == #"{"documents":[]}"#)
    }
}

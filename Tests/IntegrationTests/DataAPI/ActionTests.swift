import Foundation
import TestSupport
import Testing

@Suite("The actions of the Data API")
struct ActionTests {
    @Test("answer byte for byte as the hosted service did")
    func bytes() async throws {
        let api = try await SharedServer.caller()
        let key = try SharedServer.apiKey(api)
        let first = "64224f3cd79f54ad342dd9b2"
        func act(_ action: String, _ members: String, accept: String = "application/json") async throws
            -> String
        {
            let answer = try await api.act(
                action,
                "Bytes",
                members,
                as: key,
                accept: accept
            )
            #expect(answer.status == (action.hasPrefix("insert") ? 201 : 200), "\(action): \(answer.text)")
            return answer.text
        }
        #expect(
            try await act(
                "insertOne",
                #""document":{"_id":{"$oid":"\#(first)"},"status":"open","text":"Do the dishes"}"#
            )
                == #"{"insertedId":"\#(first)"}"#
        )
        #expect(
            try await act(
                "insertMany",
                #""documents":[{"_id":{"$oid":"64224f4d089104f1766116a5"},"status":"open","text":"Mop the floor"},{"_id":{"$oid":"64224f57f56e634f459586f0"},"status":"open","text":"Clean the windows"}]"#
            ) == #"{"insertedIds":["64224f4d089104f1766116a5","64224f57f56e634f459586f0"]}"#
        )
        #expect(
            try await act(
                "updateOne",
                #""filter":{"_id":{"$oid":"64224f4d089104f1766116a5"}},"update":{"$set":{"status":"complete","completedAt":{"$date":{"$numberLong":"1680105272788"}}}}"#
            ) == #"{"matchedCount":1,"modifiedCount":1}"#
        )
        #expect(
            try await act(
                "updateMany",
                #""filter":{"status":"open"},"update":{"$set":{"status":"complete","completedAt":{"$date":{"$numberLong":"1680105287069"}}}}"#,
                accept: "application/ejson"
            )
                == #"{"matchedCount":{"$numberInt":"2"},"modifiedCount":{"$numberInt":"2"}}"#
        )
        #expect(
            try await act("findOne", #""filter":{"text":"Do the dishes"}"#)
                == #"{"document":{"_id":"\#(first)","status":"complete","text":"Do the dishes","completedAt":"2023-03-29T15:54:47.069Z"}}"#
        )
        #expect(
            try await act(
                "aggregate",
                #""pipeline":[{"$match":{"status":"complete"}},{"$group":{"_id":"$status","count":{"$sum":1},"tasks":{"$push":"$text"}}},{"$sort":{"count":-1}}]"#
            )
                == #"{"documents":[{"_id":"complete","count":3,"tasks":["Do the dishes","Mop the floor","Clean the windows"]}]}"#
        )
        #expect(
            try await act(
                "replaceOne",
                #""filter":{"text":"Clean the windows"},"replacement":{"status":"open","text":"Re-clean the windows"}"#
            ) == #"{"matchedCount":1,"modifiedCount":1}"#
        )
        #expect(
            try await act("find", #""filter":{"status":"open"}"#, accept: "application/ejson")
                == #"{"documents":[{"_id":{"$oid":"64224f57f56e634f459586f0"},"status":"open","text":"Re-clean the windows"}]}"#
        )
        #expect(
            try await act("deleteOne", #""filter":{"_id":{"$oid":"\#(first)"}}"#, accept: "application/ejson")
                == #"{"deletedCount":{"$numberInt":"1"}}"#
        )
        #expect(try await act("deleteMany", #""filter":{"status":"complete"}"#) == #"{"deletedCount":1}"#)
        #expect(try await act("findOne", #""filter":{"status":"complete"}"#) == #"{"document":null}"#)
    }

    @Test("return fields in the order in which they were written, also after updates")
    func fieldOrder() async throws {
        let (api, user) = try await SharedServer.user()
        let id = UUID().uuidString
        _ = try await api.act(
            "insertOne",
            "Open",
            #""document":{"zebra":1,"apple":{"y":1,"x":[{"b":1,"a":2}]},"_id":"\#(id)","middle":{"$numberLong":"5"}}"#,
            as: user.bearer
        )
        _ = try await api.act(
            "updateOne",
            "Open",
            #""filter":{"_id":"\#(id)"},"update":{"$set":{"added":1,"apple.c":2},"$unset":{"zebra":""}}"#,
            as: user.bearer
        )
        let found = try await api.act("findOne", "Open", #""filter":{"_id":"\#(id)"}"#, as: user.bearer)
        #expect(
            found.text
                == #"{"document":{"_id":"\#(id)","apple":{"y":1,"x":[{"b":1,"a":2}],"c":2},"middle":5,"added":1}}"#
        )
    }

    @Test("upsert as MongoDB does")
    func upsert() async throws {
        let (api, user) = try await SharedServer.user()
        let id = UUID().uuidString
        let answer = try await api.act(
            "updateOne",
            "Open",
            #""filter":{"_id":"\#(id)","kind":"new"},"update":{"$set":{"a":1},"$setOnInsert":{"b":2}},"upsert":true"#,
            as: user.bearer
        )
        #expect(answer.text == #"{"matchedCount":0,"modifiedCount":0,"upsertedId":"\#(id)"}"#)
        let found = try await api.act("findOne", "Open", #""filter":{"_id":"\#(id)"}"#, as: user.bearer)
        #expect(found.text == #"{"document":{"_id":"\#(id)","kind":"new","a":1,"b":2}}"#)
    }

    @Test("store every type and give it back")
    func types() async throws {
        let (api, user) = try await SharedServer.user()
        let id = UUID().uuidString
        let values =
            #""d":{"$numberDouble":"10.0"},"i":{"$numberInt":"10"},"l":{"$numberLong":"10"},"m":{"$numberDecimal":"9823.1297"},"s":"x","b":{"$binary":{"base64":"46d989eaf0bde5258029534bc2dc2089","subType":"05"}},"t":{"$date":{"$numberLong":"1641954803067"}},"n":null,"o":{"$oid":"5d505646cf6d4fe581014ab2"},"r":{"$regularExpression":{"pattern":"^H","options":"i"}},"ts":{"$timestamp":{"t":1565545664,"i":1}},"min":{"$minKey":1},"max":{"$maxKey":1},"inf":{"$numberDouble":"-Infinity"},"nan":{"$numberDouble":"NaN"},"z":{"$numberDouble":"-0.0"}"#
        let inserted = try await api.act(
            "insertOne",
            "Open",
            #""document":{"_id":"\#(id)",\#(values)}"#,
            as: user.bearer
        )
        #expect(inserted.status == 201, "\(inserted.text)")
        let canonical = try await api.act(
            "findOne",
            "Open",
            #""filter":{"_id":"\#(id)"}"#,
            as: user.bearer,
            accept: "application/ejson"
        )
        #expect(canonical.text == #"{"document":{"_id":"\#(id)",\#(values)}}"#)
        #expect(canonical.header("content-type") == "application/ejson")
        let plain = try await api.act("findOne", "Open", #""filter":{"_id":"\#(id)"}"#, as: user.bearer)
        #expect(
            plain.text
                == #"{"document":{"_id":"\#(id)","d":10,"i":10,"l":10,"m":"9823.1297","s":"x","b":{"Subtype":5,"Data":"46d989eaf0bde5258029534bc2dc2089"},"t":"2022-01-12T02:33:23.067Z","n":null,"o":"5d505646cf6d4fe581014ab2","r":{"Pattern":"^H","Options":"i"},"ts":{"T":1565545664,"I":1},"min":{},"max":{},"inf":null,"nan":null,"z":0}}"#
        )
    }

    @Test("find what psql has changed, and fill typed columns")
    func sql() async throws {
        let (api, user) = try await SharedServer.user()
        let inserted = try await api.act(
            "insertOne",
            "Item",
            #""document":{"ownerId":"\#(user.id)","itemName":"a","complexity":3}"#,
            as: user.bearer
        )
        let id = try #require(inserted.object["insertedId"] as? String)
        #expect(
            try Shell.psql(
                api.server.database,
                #"select "ownerId" from todo."Item" where doc->'_id'->>'$oid' = '\#(id)'"#
            )
                == user.id
        )
        try Shell.psql(
            api.server.database,
            #"update todo."Item" set doc = jsonb_set(doc, '{itemName}', '"from psql"') where doc->'_id'->>'$oid' = '\#(id)'"#
        )
        let found = try await api.act(
            "findOne",
            "Item",
            #""filter":{"_id":{"$oid":"\#(id)"}}"#,
            as: user.bearer
        )
        #expect(
            found.text
                == #"{"document":{"_id":"\#(id)","ownerId":"\#(user.id)","itemName":"from psql","complexity":3}}"#
        )
    }

    @Test("keep the documents before a duplicate key, and name it")
    func duplicateKey() async throws {
        let (api, user) = try await SharedServer.user()
        let tag = UUID().uuidString
        let answer = try await api.act(
            "insertMany",
            "Open",
            #""documents":[{"_id":"\#(tag)1","t":"\#(tag)"},{"_id":"\#(tag)1","t":"\#(tag)"},{"_id":"\#(tag)2","t":"\#(tag)"}]"#,
            as: user.bearer
        )
        #expect(answer.status == 400)
        #expect(answer.errorCode == "MongoDBError")
        #expect(answer.object["code"] as? Int == 11000)
        #expect(answer.error.contains("E11000 duplicate key error"))
        let found = try await api.act("find", "Open", #""filter":{"t":"\#(tag)"}"#, as: user.bearer)
        #expect(found.text == #"{"documents":[{"_id":"\#(tag)1","t":"\#(tag)"}]}"#)
    }
}

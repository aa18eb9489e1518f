import Foundation
import TestSupport
import Testing

// Each test looks at documents with a `tag` of its own: the collections are shared.
@Suite("A watch")
struct WatchTests {
    private let tag = UUID().uuidString
    private var mine: String { #""filter":{"fullDocument.tag":"\#(tag)"}"# }
    private var query: String { #""query":{"tag":"\#(tag)"}"# }

    private func insert(_ call: ServiceCall, _ number: Int, _ more: String = "") async throws {
        let answer = try await call(
            "insertOne",
            #""document":{"_id":"\#(tag)-\#(number)","tag":"\#(tag)","n":\#(number)\#(more)}"#
        )
        #expect(answer.status == 200, "\(answer.text)")
    }

    @Test("tells inserts in order, asked as each SDK asks", arguments: WatchClient.Dialect.allCases)
    func inserts(dialect: WatchClient.Dialect) async throws {
        let call = try await ServiceCall.start()
        let watch = try await call.watch(mine, dialect: dialect)
        #expect(watch.head.contains { $0.lowercased() == "content-type: text/event-stream" })
        for number in 0..<5 { try await insert(call, number) }
        try await watch.has(5)
        #expect(watch.types == Array(repeating: "insert", count: 5))
        #expect(watch.numbers == Array(0..<5))
        let event = watch.objects[0]
        #expect(
            Array(event.keys).sorted() == [
                "_id", "clusterTime", "documentKey", "fullDocument", "ns", "operationType",
            ]
        )
        #expect(event["ns"] as? [String: String] == ["db": "todo", "coll": "Open"])
        #expect(event["documentKey"] as? [String: String] == ["_id": "\(tag)-0"])
        #expect(((event["clusterTime"] as? [String: Any])?["$timestamp"] as? [String: Any])?.count == 2)
    }

    @Test("tells each kind of change, and one event for each document")
    func kinds() async throws {
        let call = try await ServiceCall.start()
        let ids = (0..<2).map { #""\#(tag)-\#($0)""# }.joined(separator: ",")
        let watch = try await call.watch(#""ids":[\#(ids)]"#)
        try await insert(call, 0, #","old":{"a":1,"b":[1,2]}"#)
        try await insert(call, 1)
        _ = try await call(
            "updateOne",
            #""query":{"_id":"\#(tag)-0"},"update":{"$set":{"old.a":2,"old.b.1":3},"$unset":{"tag":1}}"#
        )
        _ = try await call("updateMany", #""query":{"_id":{"$in":[\#(ids)]}},"update":{"$inc":{"n":10}}"#)
        _ = try await call("findOneAndReplace", #""filter":{"_id":"\#(tag)-0"},"update":{"n":3}"#)
        _ = try await call("updateMany", #""query":{"_id":{"$in":[\#(ids)]}},"update":{"n":4}"#)
        _ = try await call("updateOne", #""query":{"_id":"\#(tag)-0"},"update":{"$set":{"n":5}}"#)
        _ = try await call("deleteOne", #""query":{"_id":"\#(tag)-0"}"#)
        try await watch.has(10)
        #expect(
            watch.types == [
                "insert", "insert", "update", "update", "update", "replace", "replace", "replace", "update",
                "delete",
            ]
        )
        #expect(
            watch.events[2].hasSuffix(
                #""updateDescription":{"updatedFields":{"old.a":{"$numberInt":"2"},"old.b.1":{"$numberInt":"3"}},"removedFields":["tag"]}}"#
            ),
            "\(watch.events[2])"
        )
        #expect(watch.objects[9]["fullDocument"] == nil)
        #expect(watch.objects[9]["documentKey"] as? [String: String] == ["_id": "\(tag)-0"])
    }

    @Test("filters by event, by ids, and by both")
    func filters() async throws {
        let call = try await ServiceCall.start()
        let young = try await call.watch(
            #""filter":{"fullDocument.tag":"\#(tag)","fullDocument.n":{"$lt":40}}"#
        )
        let one = try await call.watch(#""ids":["\#(tag)-50"]"#)
        let both = try await call.watch(#""ids":["\#(tag)-50","\#(tag)-20"],"filter":{"fullDocument.n":20}"#)
        for number in [20, 50, 30] { try await insert(call, number) }
        _ = try await call("updateOne", #""query":{"_id":"\#(tag)-20"},"update":{"$set":{"n":60}}"#)
        _ = try await call("updateOne", #""query":{"_id":"\#(tag)-50"},"update":{"$set":{"n":35}}"#)
        _ = try await call("deleteMany", query)
        try await one.has(3)
        try await young.has(3)
        try await both.has(1)
        #expect(young.numbers == [20, 30, 35])
        #expect(one.types == ["insert", "update", "delete"])
    }

    @Test("runs a pipeline over each event")
    func pipelines() async throws {
        let call = try await ServiceCall.start()
        let watch = try await call.watch(
            #""pipeline":[{"$match":{"operationType":"insert","fullDocument.tag":"\#(tag)"}},{"$project":{"double":{"$multiply":["$fullDocument.n",2]}}}]"#
        )
        try await insert(call, 21)
        try await watch.has(1)
        #expect(watch.events[0].hasSuffix(#""double":{"$numberInt":"42"}}"#))
        let lost = try await call.watch(
            #""pipeline":[{"$match":{"fullDocument.tag":"\#(tag)"}},{"$project":{"_id":0,"fullDocument":1}}]"#
        )
        try await insert(call, 22)
        try await eventually { lost.isOver }
        #expect(lost.failure?.contains("MongoDBError") == true, "\(lost.text)")
    }

    @Test("carries the texts that realm-web's own test sends, in documents and in the filter")
    func oddCharacters() async throws {
        let call = try await ServiceCall.start()
        let odd = #"use some odd chars to force weird encoding %\n\r\n\\????>>>> %25 %0A äöü"#
        let watch = try await call.watch(
            #""filter":{"fullDocument.tag":"\#(tag)","fullDocument.text":"\#(odd)"}"#
        )
        try await insert(call, 1, #","text":"\#(odd)""#)
        try await watch.has(1)
        let expected =
            try JSONSerialization.jsonObject(
                with: Data(#"{"text":"\#(odd)"}"#.utf8)
            ) as? [String: String]
        let document = watch.objects[0]["fullDocument"] as? [String: Any]
        #expect(document?["text"] as? String == expected?["text"])
        #expect(!watch.text.contains("% "))
    }

    @Test("sees changes made with psql, and none from before it began")
    func otherWriters() async throws {
        let call = try await ServiceCall.start()
        try await insert(call, 1)
        let watch = try await call.watch(mine)
        try Shell.psql(
            call.api.server.database,
            """
            update todo."Open" set doc = jsonb_set(doc, '{n}', '2') where _id = 's\(tag)-1';
            insert into todo."Open" (doc) values ('{"_id": "\(tag)-3", "tag": "\(tag)", "n": 3}')
            """
        )
        try await watch.has(2)
        #expect(watch.types == ["update", "insert"])
        #expect(watch.numbers == [2, 3])
    }

    @Test("waits for a collection that does not exist yet, and ends with it")
    func comingAndGoing() async throws {
        let call = try await ServiceCall.start("Late")
        // The import made it.
        try Shell.psql(call.api.server.database, "select tidegate.drop_collection('todo', 'Late')")
        let watch = try await call.watch()
        try await insert(call, 1)
        try await insert(call, 2)
        try await watch.has(2)
        #expect(watch.numbers == [1, 2])
        try Shell.psql(call.api.server.database, "select tidegate.drop_collection('todo', 'Late', true)")
        try await eventually { watch.isOver }
        #expect(watch.types == ["insert", "insert", "drop", "invalidate"])
        #expect(watch.failure == nil)
    }

    @Test("loses nothing to transactions that commit in another order than they began")
    func commitOrder() async throws {
        let call = try await ServiceCall.start()
        try await insert(call, 0)
        let watch = try await call.watch(mine)
        // Its change has the smaller number, and is committed last.
        try Shell.psql(
            call.api.server.database,
            script: """
                begin;
                insert into todo."Open" (doc) values ('{"_id": "\(tag)-1", "tag": "\(tag)", "n": 1}');
                \\setenv PGAPPNAME other
                \\! psql -X -q -d '\(call.api.server.database)' -c 'insert into todo."Open" (doc) values (jsonb_build_object($$_id$$, $$\(tag)-2$$, $$tag$$, $$\(tag)$$, $$n$$, 2))'
                update todo."Open" set doc = jsonb_set(doc, '{n}', '3') where _id = 's\(tag)-2';
                commit;
                """
        )
        try await insert(call, 4)
        try await watch.has(4)
        #expect(watch.numbers == [1, 2, 3, 4])
    }
}

import Foundation
import TestSupport
import Testing

/// `client-api.md` §10: each test's name begins with the row.
@Suite("Client API §10: watch", .serialized)
struct Section10WatchTests {
    private let tag = UUID().uuidString
    private let call: ServiceCall

    init() async throws {
        let api = try await WholeApp.caller()
        call = ServiceCall(api: api, user: try await api.anonymous(), collection: "Open")
    }

    private var mine: String { #""filter":{"fullDocument.tag":"\#(tag)"}"# }

    private func insert(_ number: Int, _ more: String = "") async throws {
        let answer = try await call(
            "insertOne",
            #""document":{"_id":"\#(tag)-\#(number)","tag":"\#(tag)","n":\#(number)\#(more)}"#
        )
        #expect(answer.status == 200, "\(answer.text)")
    }

    @Test("§10.1 baas_request; token: as each SDK sends them", arguments: WatchClient.Dialect.allCases)
    func request(dialect: WatchClient.Dialect) async throws {
        // Text that makes the Base64 of the request need its last two letters, + and /.
        let odd = #"??>>ÿÿ~~"#
        let filter = #""filter":{"fullDocument.tag":"\#(tag)","fullDocument.odd":"\#(odd)"}"#
        let watch = try await call.watch(filter, dialect: dialect)
        try await insert(1)
        try await insert(2, #","odd":"\#(odd)""#)
        try await watch.has(1)
        #expect(watch.numbers == [2])
    }

    @Test("§10.1 ids; filter; neither; both")
    func choices() async throws {
        let ids = try await call.watch(#""ids":["\#(tag)-2"]"#)
        let filter = try await call.watch(
            #""filter":{"fullDocument.tag":"\#(tag)","fullDocument.n":{"$lt":3}}"#
        )
        let both = try await call.watch(#""ids":["\#(tag)-2","\#(tag)-3"],"filter":{"fullDocument.n":3}"#)
        let neither = try await call.watch()
        for number in 1...3 { try await insert(number) }
        // A document that stops matching gives no event, a deletion has no document to match.
        _ = try await call("updateOne", #""query":{"_id":"\#(tag)-1"},"update":{"$set":{"n":9}}"#)
        _ = try await call("updateOne", #""query":{"_id":"\#(tag)-2"},"update":{"$set":{"n":0}}"#)
        _ = try await call("deleteOne", #""query":{"_id":"\#(tag)-2"}"#)
        try await ids.has(3)
        #expect(ids.types == ["insert", "update", "delete"])
        try await filter.has(3)
        #expect(filter.numbers == [1, 2, 0])
        try await both.has(1)
        #expect(both.numbers == [3])
        try await eventually {
            neither.events.filter { $0.contains(tag) }.count == 6
        }
    }

    @Test("§10.1 useCompactEvents: true is refused, false is no matter")
    func compact() async throws {
        let refused = try call.watchUnasked(#""useCompactEvents":true"#)
        try await eventually { refused.isOver }
        #expect(refused.status == 400)
        #expect(refused.text.contains("useCompactEvents"))
        let watch = try await call.watch(#"\#(mine),"useCompactEvents":false"#)
        try await insert(1)
        try await watch.has(1)
    }

    @Test("§10.2 status and headers at once; one event = data: one line; % escaped; comments")
    func framing() async throws {
        let watch = try await call.watch(mine)
        #expect(watch.status == 200)
        let head = watch.head.map { $0.lowercased() }
        for line in ["content-type: text/event-stream", "cache-control: no-cache", "x-accel-buffering: no"] {
            #expect(head.contains(line))
        }
        let odd = #"use some odd chars to force weird encoding %\n\r\n\\????>>>> %25 %0A äöü 𝄞"#
        try await insert(1, #","text":"\#(odd)""#)
        try await watch.has(1)
        let blocks = watch.text.components(separatedBy: "\n\n").filter { !$0.isEmpty }
        #expect(
            blocks.allSatisfy { block in
                block.hasPrefix(":") || block.hasPrefix("data: ") && !block.contains("\n")
            }
        )
        #expect(!watch.text.contains("\r"))
        #expect(watch.text.contains("encoding %25"))
        #expect(watch.text.contains("%2525 %250A"))
        let expected =
            try JSONSerialization.jsonObject(with: Data(#"{"text":"\#(odd)"}"#.utf8)) as? [String: String]
        let document = watch.objects[0]["fullDocument"] as? [String: Any]
        #expect(document?["text"] as? String == expected?["text"])
    }

    @Test("§10.2 lines that start with : are comments, and one comes while nothing happens")
    func heartbeats() async throws {
        let watch = try await call.watch(mine)
        try await eventually { watch.text.contains(":\n\n") || watch.isOver }
        #expect(!watch.isOver)
        #expect(watch.text.components(separatedBy: "\n\n").allSatisfy { $0.isEmpty || $0 == ":" })
        // The stream goes on behind it.
        try await insert(1)
        try await watch.has(1)
        #expect(watch.numbers == [1])
    }

    @Test("§10.2 before the stream starts: ordinary status and JSON body")
    func before() async throws {
        func refusal(_ request: String, token: String? = nil) async throws -> (Int?, String) {
            let client = try WatchClient(call.api, token: token ?? call.user.accessToken, call: request)
            try await eventually { client.isOver }
            #expect(client.head.contains { $0.lowercased() == "content-type: application/json" })
            return (client.status, client.text)
        }
        func watch(_ collection: String, _ members: String = "", service: String = "mongodb-atlas")
            -> String
        {
            #"{"name":"watch","service":"\#(service)","arguments":[{"database":"todo","collection":"\#(collection)"\#(members)}]}"#
        }
        for (request, token, status, text) in [
            (watch("Open"), "x.y.z", 401, "unauthorized"),
            (watch("Open"), "", 401, "must authenticate first"),
            (watch("Open"), call.user.refreshToken, 401, "token type mismatch"),
            (watch("Nowhere"), nil, 403, "no rule exists for namespace 'todo.Nowhere'"),
            (watch("Open", service: "smurf"), nil, 404, "service not found: 'smurf'"),
            (watch("Open", #","filter":{"$who":1}"#), nil, 400, "unknown top level operator: $who"),
            (watch("Open", #","pipeline":[{"$who":1}]"#), nil, 400, "Unrecognized pipeline stage name"),
            (watch("Open", #","pipeline":{}"#), nil, 400, "'pipeline' must be an array"),
        ] as [(String, String?, Int, String)] {
            let (answered, body) = try await refusal(request, token: token)
            #expect(answered == status, "\(request)")
            #expect(body.contains(text), "\(body)")
        }
    }

    @Test("§10.2 afterwards: event: error, with both members as strings, then close")
    func afterwards() async throws {
        let watch = try await call.watch(
            #""pipeline":[{"$match":{"fullDocument.tag":"\#(tag)"}},{"$project":{"_id":0,"fullDocument":1}}]"#
        )
        try await insert(1)
        try await eventually { watch.isOver }
        let data = try #require(watch.failure, "\(watch.text)")
        let error = try JSONSerialization.jsonObject(with: Data(data.utf8)) as? [String: Any]
        #expect(error?["error"] is String)
        #expect(error?["error_code"] as? String == "MongoDBError")
    }

    @Test("§10.2 server closes: a stream ends with its session")
    func closes() async throws {
        let watch = try await call.watch(mine)
        let out = try await call.api.curl(
            "DELETE",
            "/api/client/v2.0/auth/session",
            token: call.user.refreshToken
        )
        expectNothing(out, 204)
        try await eventually { watch.isOver }
    }

    @Test("§10.3 _id; operationType; clusterTime; ns; documentKey; fullDocument; updateDescription")
    func events() async throws {
        let watch = try await call.watch(#""ids":["\#(tag)-1"]"#)
        try await insert(1)
        _ = try await call(
            "updateOne",
            #""query":{"_id":"\#(tag)-1"},"update":{"$set":{"n":2},"$unset":{"tag":1}}"#
        )
        _ = try await call("updateOne", #""query":{"_id":"\#(tag)-1"},"update":{"n":3}"#)
        _ = try await call("deleteOne", #""query":{"_id":"\#(tag)-1"}"#)
        try await watch.has(4)
        #expect(watch.types == ["insert", "update", "replace", "delete"])
        var seen: Set<String> = []
        for event in watch.objects {
            let token = try #require((event["_id"] as? [String: String])?["_data"])
            #expect(seen.insert(token).inserted)
            let time = (event["clusterTime"] as? [String: [String: Any]])?["$timestamp"]
            #expect(Set((time ?? [:]).keys) == ["t", "i"])
            #expect(event["ns"] as? [String: String] == ["db": "todo", "coll": "Open"])
            #expect(event["documentKey"] as? [String: String] == ["_id": "\(tag)-1"])
            let hasDocument = event["operationType"] as? String != "delete"
            #expect((event["fullDocument"] != nil) == hasDocument)
            #expect((event["updateDescription"] != nil) == (event["operationType"] as? String == "update"))
        }
        let update = watch.objects[1]["updateDescription"] as? [String: Any]
        #expect(update?["updatedFields"] as? [String: [String: String]] == ["n": ["$numberInt": "2"]])
        #expect(update?["removedFields"] as? [String] == ["tag"])
        #expect(watch.numbers == [1, 2, 3])
    }

    @Test("§10.3 operationType drop, invalidate")
    func drop() async throws {
        let brief = ServiceCall(api: call.api, user: call.user, collection: "Brief")
        let watch = try await brief.watch()
        _ = try await brief("insertOne", #""document":{"n":1}"#)
        _ = try await WholeApp.psql("select tidegate.drop_collection('todo', 'Brief', true)")
        try await eventually { watch.isOver }
        #expect(watch.types == ["insert", "drop", "invalidate"])
    }

    @Test("§10.3 operationType rename: where to, and invalidate")
    func rename() async throws {
        let moved = ServiceCall(api: call.api, user: call.user, collection: "Moved")
        _ = try await moved("insertOne", #""document":{"n":1}"#)
        let watch = try await moved.watch()
        _ = try await moved("insertOne", #""document":{"n":2}"#)
        _ = try await WholeApp.psql("select tidegate.rename_collection('todo', 'Moved', 'MovedAway')")
        try await eventually { watch.isOver }
        #expect(watch.types == ["insert", "rename", "invalidate"])
        #expect(watch.objects[1]["ns"] as? [String: String] == ["db": "todo", "coll": "Moved"])
        #expect(watch.objects[1]["to"] as? [String: String] == ["db": "todo", "coll": "MovedAway"])
        #expect(watch.objects[2]["to"] == nil)
        // The documents went along, and the old name is free.
        #expect(try await WholeApp.psql(#"select count(*) from todo."MovedAway""#) == "2")
        for _ in 1...2 {
            let again = try await moved("insertOne", #""document":{"_id":"one"}"#)
            #expect(again.status == 200 || again.error.contains("index: _id_"), "\(again.text)")
        }
        #expect(try await moved("count").text == #"{"$numberLong":"1"}"#)
    }

    @Test(
        "§10.3 operationType dropDatabase: a collection's stream sees its drop, as in MongoDB, and invalidate"
    )
    func dropDatabase() async throws {
        _ = try await WholeApp.psql(
            """
            select tidegate.set_rules('whole', 'mongodb-atlas', 'short', 'Lived', '{"roles": [{"name": "all",
                "apply_when": {}, "document_filters": {"read": true, "write": true}, "read": true, "write": true}]}');
            """
        )
        let request =
            #"{"name":"watch","service":"mongodb-atlas","arguments":[{"database":"short","collection":"Lived"}]}"#
        var watch: WatchClient?
        try await eventually {
            let client = try WatchClient(call.api, token: call.user.accessToken, call: request)
            try await eventually { client.status != nil || client.isOver }
            watch = client
            return client.status == 200
        }
        _ = try await WholeApp.psql(
            """
            select tidegate.drop_collection(c.database, c.collection, true)
                from tidegate.list_collections() c where c.database = 'short';
            drop schema short cascade
            """
        )
        try await eventually { watch?.isOver == true }
        #expect(watch?.types == ["drop", "invalidate"])
    }

    @Test("realm-web's own test: three streams, eleven documents with odd characters")
    func realmWeb() async throws {
        let odd = ServiceCall(api: call.api, user: call.user, collection: "Odd")
        let text = #"use some odd chars to force weird encoding %\n\r\n\\????>>>>"#
        let all = try await odd.watch()
        let filter = try await odd.watch(#""filter":{"fullDocument.text":"\#(text)","fullDocument.n":5}"#)
        let ids = try await odd.watch(#""ids":["\#(tag)-5"]"#)
        for number in 0..<11 {
            let answer = try await odd(
                "insertOne",
                #""document":{"_id":"\#(tag)-\#(number)","n":\#(number),"text":"\#(text)"}"#
            )
            #expect(answer.status == 200)
        }
        try await all.has(11)
        #expect(all.numbers == Array(0..<11))
        for watch in [filter, ids] {
            try await watch.has(1)
            #expect(watch.numbers == [5])
        }
    }
}

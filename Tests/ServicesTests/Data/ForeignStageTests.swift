import Accounts
import BSON
import Errors
import MQL
import Observability
import Postgres
import Synchronization
import TestSupport
import Testing

@testable import Services

@Suite("$lookup, $unionWith, $graphLookup, $merge, $out")
struct ForeignStageTests {
    private static let reading: [(pipeline: String, expected: String)] = [
        (
            #"[{"$lookup":{"from":"Items","localField":"k","foreignField":"k","as":"i"}},{"$project":{"i._id":1}}]"#,
            #"{"_id":1,"i":[{"_id":"a"},{"_id":"c"}]},{"_id":2,"i":[{"_id":"b"}]},{"_id":3,"i":[{"_id":"d"},{"_id":"e"}]},{"_id":4,"i":[]}"#
        ),
        // An array on either side matches by its elements; null and missing are one.
        (
            #"[{"$match":{"_id":1}},{"$set":{"k":[2,1]}},{"$lookup":{"from":"Items","localField":"k","foreignField":"k","as":"i.x"}},{"$project":{"i.x._id":1}}]"#,
            #"{"_id":1,"i":{"x":[{"_id":"a"},{"_id":"b"},{"_id":"c"}]}}"#
        ),
        (
            #"[{"$match":{"_id":1}},{"$lookup":{"from":"Items","localField":"k","foreignField":"tags","as":"i"}},{"$project":{"i._id":1}}]"#,
            #"{"_id":1,"i":[{"_id":"b"}]}"#
        ),
        // An equality that is a condition of the pipeline, with more stages behind it.
        (
            #"[{"$match":{"_id":{"$lt":3}}},{"$lookup":{"from":"Items","let":{"key":"$k"},"pipeline":[{"$match":{"$expr":{"$eq":["$k","$$key"]}}},{"$sort":{"_id":-1}},{"$limit":1},{"$project":{"_id":1,"sum":{"$add":["$$key",10]}}}],"as":"i"}},{"$project":{"i":1}}]"#,
            #"{"_id":1,"i":[{"_id":"c","sum":11}]},{"_id":2,"i":[{"_id":"b","sum":12}]}"#
        ),
        // Neither equality nor constant: every document is compared.
        (
            #"[{"$match":{"_id":{"$lt":3}}},{"$lookup":{"from":"Items","let":{"key":"$k"},"pipeline":[{"$match":{"$expr":{"$gt":["$k","$$key"]}}},{"$count":"n"}],"as":"i"}},{"$project":{"i":1}}]"#,
            #"{"_id":1,"i":[{"n":1}]},{"_id":2,"i":[]}"#
        ),
        // Both forms together, a stage behind, and a pipeline inside a pipeline.
        (
            #"[{"$match":{"_id":2}},{"$lookup":{"from":"Items","localField":"k","foreignField":"k","pipeline":[{"$lookup":{"from":"Orders","localField":"k","foreignField":"k","as":"o"}},{"$project":{"n":{"$size":"$o"}}}],"as":"i"}},{"$unwind":"$i"},{"$replaceWith":"$i"}]"#,
            #"{"_id":"b","n":1}"#
        ),
        (
            #"[{"$limit":1},{"$lookup":{"pipeline":[{"$documents":[{"x":1},{"x":2}]},{"$match":{"x":2}}],"as":"d"}},{"$project":{"d":1}}]"#,
            #"{"_id":1,"d":[{"x":2}]}"#
        ),
        (
            #"[{"$lookup":{"from":"Nowhere","localField":"k","foreignField":"k","as":"k"}},{"$limit":1}]"#,
            #"{"_id":1,"k":[]}"#
        ),
        (
            #"[{"$match":{"_id":1}},{"$unionWith":{"coll":"Items","pipeline":[{"$match":{"k":2}},{"$unset":"tags"}]}},{"$unionWith":"Nowhere"}]"#,
            #"{"_id":1,"k":1},{"_id":"b","k":2}"#
        ),
        (
            #"[{"$facet":{"a":[{"$unionWith":"Items"},{"$count":"n"}],"b":[{"$limit":1}]}}]"#,
            #"{"a":[{"n":9}],"b":[{"_id":1,"k":1}]}"#
        ),
        (
            #"[{"$match":{"_id":1}},{"$graphLookup":{"from":"Staff","startWith":"$k","connectFromField":"boss","connectToField":"_id","as":"up","depthField":"far"}},{"$unwind":"$up"},{"$sort":{"up.far":1}},{"$replaceWith":"$up"}]"#,
            #"{"_id":1,"boss":2,"far":0},{"_id":2,"boss":3,"far":1},{"_id":3,"boss":1,"far":2}"#
        ),
        (
            #"[{"$match":{"_id":1}},{"$graphLookup":{"from":"Staff","startWith":"$k","connectFromField":"boss","connectToField":"_id","as":"up","maxDepth":1,"restrictSearchWithMatch":{"_id":{"$ne":2}}}},{"$project":{"up":1}}]"#,
            #"{"_id":1,"up":[{"_id":1,"boss":2}]}"#
        ),
    ]

    private static func fixture() async throws -> DataFixture {
        let fixture = try await DataFixture()
        try await fixture.insert(
            "Orders",
            #"{"_id":1,"k":1}"#,
            #"{"_id":2,"k":2}"#,
            #"{"_id":3,"k":null}"#,
            #"{"_id":4,"k":"none"}"#
        )
        try await fixture.insert(
            "Items",
            #"{"_id":"a","k":1}"#,
            #"{"_id":"b","k":2,"tags":[1,5]}"#,
            #"{"_id":"c","k":{"$numberDouble":"1.0"},"tags":[]}"#,
            #"{"_id":"d","k":null}"#,
            #"{"_id":"e"}"#
        )
        try await fixture.insert(
            "Staff",
            #"{"_id":1,"boss":2}"#,
            #"{"_id":2,"boss":3}"#,
            #"{"_id":3,"boss":1}"#
        )
        return fixture
    }

    @Test("it gives what MongoDB gives for stages that read other collections")
    func reads() async throws {
        let fixture = try await Self.fixture()
        for (pipeline, expected) in Self.reading {
            #expect(
                try await fixture.documents("aggregate", "Orders", #"{"pipeline":\#(pipeline)}"#) == expected,
                "\(pipeline)"
            )
        }
        await fixture.database.close()
    }

    private static let merging: [(merge: String, expected: String)] = [
        (#""T""#, #"{"_id":1,"x":99,"b":1,"a":2},{"_id":2,"a":1,"z":1},{"_id":9}"#),
        (#"{"into":"T","whenMatched":"replace"}"#, #"{"_id":1,"b":1,"a":2},{"_id":2,"z":1,"a":1},{"_id":9}"#),
        (
            #"{"into":"T","whenMatched":"keepExisting"}"#,
            #"{"_id":1,"x":99},{"_id":2,"a":1,"z":1},{"_id":9}"#
        ),
        (#"{"into":"T","whenNotMatched":"discard"}"#, #"{"_id":1,"x":99,"b":1,"a":2},{"_id":9}"#),
        (
            #"{"into":"T","let":{"more":"$a"},"whenMatched":[{"$set":{"x":{"$add":["$x","$$more","$$new.b"]}}}]}"#,
            #"{"_id":1,"x":102},{"_id":2,"z":1,"a":1},{"_id":9}"#
        ),
        (#"{"into":{"db":"elsewhere","coll":"T"}}"#, #"{"_id":1,"x":99},{"_id":9}"#),
    ]

    @Test("it merges documents by `_id`")
    func merges() async throws {
        let fixture = try await DataFixture()
        try await fixture.insert("S", #"{"_id":1,"b":1,"a":2}"#, #"{"_id":2,"z":1,"a":1}"#)
        for (merge, expected) in Self.merging {
            _ = try await fixture.perform("deleteMany", "T", #"{"filter":{}}"#, as: .system)
            try await fixture.insert("T", #"{"_id":1,"x":99}"#, #"{"_id":9}"#)
            #expect(
                try await fixture.documents("aggregate", "S", #"{"pipeline":[{"$merge":\#(merge)}]}"#) == ""
            )
            #expect(try await fixture.documents("find", "T", #"{"sort":{"_id":1}}"#) == expected, "\(merge)")
        }
        await fixture.database.close()
    }

    @Test("it writes what can be written, and tells of the first document that cannot")
    func failures() async throws {
        let fixture = try await DataFixture()
        try await fixture.insert("S", #"{"_id":1}"#, #"{"_id":2}"#, #"{"_id":3}"#)
        try await fixture.insert("T", #"{"_id":2,"old":true}"#)
        for (merge, code, after) in [
            (#"{"into":"T","whenMatched":"fail"}"#, 11000, #"{"_id":1},{"_id":2,"old":true},{"_id":3}"#),
            (#"{"into":"U","whenNotMatched":"fail"}"#, 13113, ""), (#"{"into":"U","on":"x"}"#, 51183, ""),
            (
                #"{"into":"T","whenMatched":[{"$set":{"_id":7}}]}"#, 66,
                #"{"_id":1},{"_id":2,"old":true},{"_id":3}"#
            ),
        ] {
            let error = await #expect(throws: ServiceError.self) {
                _ = try await fixture.documents("aggregate", "S", #"{"pipeline":[{"$merge":\#(merge)}]}"#)
            }
            #expect(error?.serverCode?.number == code, "\(merge)")
            let target = merge.contains(#""T""#) ? "T" : "U"
            #expect(try await fixture.documents("find", target, #"{"sort":{"_id":1}}"#) == after, "\(merge)")
        }
        await fixture.database.close()
    }

    @Test("$out replaces a collection, its own source too, or leaves it as it was")
    func out() async throws {
        let fixture = try await DataFixture()
        try await fixture.insert("S", #"{"_id":1,"b":1,"a":2}"#, #"{"_id":2,"z":1}"#)
        try await fixture.insert("T", #"{"_id":7}"#)
        let pipeline = #"{"pipeline":[{"$match":{"_id":1}},{"$out":"T"}]}"#
        #expect(try await fixture.documents("aggregate", "S", pipeline) == "")
        #expect(try await fixture.documents("find", "T", "{}") == #"{"_id":1,"b":1,"a":2}"#)
        let error = await #expect(throws: ServiceError.self) {
            _ = try await fixture.documents(
                "aggregate",
                "S",
                #"{"pipeline":[{"$set":{"_id":5}},{"$out":"T"}]}"#
            )
        }
        #expect(error?.serverCode == .duplicateKey)
        #expect(try await fixture.documents("find", "T", "{}") == #"{"_id":1,"b":1,"a":2}"#)
        #expect(
            try await fixture.documents("aggregate", "S", #"{"pipeline":[{"$skip":1},{"$out":"S"}]}"#) == ""
        )
        #expect(try await fixture.documents("find", "S", "{}") == #"{"_id":2,"z":1}"#)
        await fixture.database.close()
    }

    @Test("every collection that a pipeline reaches is asked for at the one authorizer")
    func authorization() async throws {
        let fixture = try await Self.fixture()
        let asked = Mutex<[String]>([])
        let data = DataService(
            database: fixture.database,
            catalog: fixture.catalog,
            ids: ObjectIDGenerator(processUnique: 1, counter: 1),
            authorizer: DataAuthorizer { operation in
                asked.withLock { $0.append(operation.namespace.collection) }
            },
            now: { 0 }
        )
        let pipeline = """
            [{"$lookup":{"from":"Items","localField":"k","foreignField":"k","as":"i"}},{"$unionWith":"Staff"},
             {"$merge":"Target"}]
            """
        let operation = try OperationParser.parse(
            action: "aggregate",
            body: ExtendedJSON.readDocument(
                Array(
                    #"{"dataSource":"mongodb-atlas","database":"todo","collection":"Orders","pipeline":\#(pipeline)}"#
                        .utf8
                )
            )
        )
        func context(_ principal: Principal) -> CallContext {
            CallContext(
                app: fixture.app,
                principal: principal,
                request: nil,
                deadline: .now + .seconds(900),
                trace: .init(requestID: "65f0c0ffee0000000000cccc")
            )
        }
        _ = try await data.perform(operation, context(.system))
        #expect(asked.withLock { $0 } == ["Orders", "Items", "Staff", "Target"])
        asked.withLock { $0 = [] }
        await #expect(throws: ServiceError.self) {
            _ = try await data.perform(operation, context(DataFixture.ann))
        }
        #expect(asked.withLock { $0 } == ["Orders"])
        await fixture.database.close()
    }

    @Test("one query of the other collection serves many documents")
    func oneQuery() async throws {
        let fixture = try await DataFixture()
        let documents = (0..<400).map { #"{"_id":\#($0),"k":\#($0 % 50)}"# }
        _ = try await fixture.perform(
            "insertMany",
            "Many",
            #"{"documents":[\#(documents.joined(separator: ","))]}"#,
            as: .system
        )
        let asked = Mutex(0)
        let data = DataService(
            database: fixture.database,
            catalog: fixture.catalog,
            ids: ObjectIDGenerator(processUnique: 1, counter: 1),
            authorizer: DataAuthorizer { _ in asked.withLock { $0 += 1 } },
            now: { 0 }
        )
        let pipeline = try PipelineParser.parse([
            ["$lookup": ["from": "Many", "localField": "k", "foreignField": "_id", "as": "x"]],
            ["$match": ["x.0.k": 7]], ["$count": "n"],
        ])
        let context = CallContext(
            app: fixture.app,
            principal: .system,
            request: nil,
            deadline: .now + .seconds(900),
            trace: .init(requestID: "65f0c0ffee0000000000cccc")
        )
        let namespace = Namespace(dataSource: "mongodb-atlas", database: "todo", collection: "Many")
        let result = try await data.perform(
            DataOperation(namespace: namespace, action: .aggregate(pipeline)),
            context
        )
        var text: [UInt8] = []
        try result.encodeDocuments(as: .plain, into: &text)
        #expect(String(decoding: text, as: UTF8.self) == #"{"n":8}"#)
        #expect(asked.withLock { $0 } == 2)
        await fixture.database.close()
    }

    private static let bombs = [
        // 200 × 200 documents in each of 200; a document of 100 MB; a product that never ends; a thousand unions.
        #"[{"$lookup":{"from":"Many","pipeline":[{"$lookup":{"from":"Many","pipeline":[],"as":"y"}}],"as":"x"}}]"#,
        #"[{"$limit":1},{"$lookup":{"from":"Many","pipeline":[{"$set":{"s":{"$range":[0,20000]}}}],"as":"x"}}]"#,
        #"[{"$unionWith":"Many"},{"$group":{"_id":null,"d":{"$push":"$$ROOT"}}},{"$set":{"a":{"$map":{"input":{"$range":[0,3000]},"in":"$d"}}}}]"#,
        """
        [\(Array(repeating: #"{"$lookup":{"from":"Many","pipeline":[],"as":"x"}},{"$unwind":"$x"}"#, count: 6).joined(separator: ",")),{"$count":"n"}]
        """,
        #"[\#((0..<1000).map { _ in #"{"$unionWith":"Many"}"# }.joined(separator: ","))]"#,
    ]

    @Test("a pipeline that would grow without a bound ends in MongoDB's code", arguments: bombs)
    func growth(pipeline: String) async throws {
        let fixture = try await DataFixture()
        let documents = (0..<200).map { #"{"_id":\#($0),"t":"\#(String(repeating: "x", count: 1200))"}"# }
        _ = try await fixture.perform(
            "insertMany",
            "Many",
            #"{"documents":[\#(documents.joined(separator: ","))]}"#,
            as: .system
        )
        let data = DataService(
            database: fixture.database,
            catalog: fixture.catalog,
            ids: ObjectIDGenerator(processUnique: 1, counter: 1),
            limits: DataLimits(evaluationSteps: 1_000_000),
            now: { 0 }
        )
        let stages = try ExtendedJSON.readValue(Array(pipeline.utf8)).array ?? []
        let namespace = Namespace(dataSource: "mongodb-atlas", database: "todo", collection: "Many")
        let operation = DataOperation(
            namespace: namespace,
            action: .aggregate(try PipelineParser.parse(stages))
        )
        let context = CallContext(
            app: fixture.app,
            principal: .system,
            request: nil,
            deadline: .now + .seconds(900),
            trace: .init(requestID: "65f0c0ffee0000000000cccc")
        )
        let error = await #expect(throws: ServiceError.self) {
            _ = try await data.perform(operation, context)
        }
        #expect(
            [50, 292, 4568, 10334].contains(error?.serverCode?.number)
                || error?.code == .readSizeLimitExceeded,
            "\(String(describing: error))"
        )
        await fixture.database.close()
    }
}

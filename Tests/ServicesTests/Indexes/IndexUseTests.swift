import Accounts
import BSON
import Errors
import Postgres
import SQL
import TestSupport
import Testing

@testable import Services

/// The table "Which index for which request" of storage-study §8, row by row, on documents enough for PostgreSQL to
/// prefer an index by itself.
@Suite("Which index for which request")
struct IndexUseTests {
    private static let rows: SQLFragment = """
        INSERT INTO todo."Open" (_id, doc) SELECT tidegate.typed_key(to_jsonb(i)), jsonb_build_object('_id', i,
            'owner', 'u' || i % 1000, 'late', 'l' || i % 1000, 'when', jsonb_build_object('$date', i * 1000),
            'tags', jsonb_build_array('t' || i % 1000, 'u' || i % 7), 'n', i * 7919 % 5003, 'any', 'a' || i % 1000,
            'state', CASE WHEN i % 100 = 0 THEN 'on' ELSE 'off' END) FROM generate_series(1, 5000) i
        """

    private func filled() async throws -> IndexFixture {
        let indexes = try await IndexFixture()
        let database = indexes.fixture.database
        for (path, type) in [("owner", "string"), ("tags", "string")] {
            _ = try await database.run(
                "SELECT tidegate.promote_field('todo', 'Open', \(bind: .text(path)), \(bind: .text(type)))"
            )
        }
        _ = try await database.run(Self.rows)
        return indexes
    }

    /// The indexes of the plan, and its kinds of nodes.
    private func plan(_ indexes: IndexFixture, _ action: String, _ members: String) async throws -> (
        indexes: Set<String>, nodes: Set<String>, answer: BSONDocument
    ) {
        _ = try await indexes.fixture.database.run("ANALYZE todo.\"Open\"")
        let result = try await indexes.fixture.perform(
            action,
            "Open",
            "{\"explain\":true,\(members)}",
            as: .system
        )
        guard case .document(let documents) = result, let answer = try documents.values().first else {
            throw ServiceError(.internalServerError, "nothing was explained")
        }
        var names: Set<String> = []
        var nodes: Set<String> = []
        func visit(_ value: BSONValue) {
            switch value {
            case .document(let document):
                if let name = document["Index Name"]?.string { names.insert(name) }
                if let node = document["Node Type"]?.string { nodes.insert(node) }
                for field in document { visit(field.value) }
            case .array(let elements): elements.forEach(visit)
            default: break
            }
        }
        visit(answer["plan"] ?? .null)
        return (names, nodes, answer)
    }

    @Test("a field of rules or schema: its typed column")
    func promoted() async throws {
        let indexes = try await filled()
        let found = try await plan(indexes, "find", #""filter":{"owner":"u5"}"#)
        #expect(
            found.indexes == ["Open_owner__id_idx", "Open__id_idx"] && !found.nodes.contains("Seq Scan"),
            "\(found)"
        )
        #expect(found.answer["grade"] == "exact")
        let grouped = try await plan(
            indexes,
            "aggregate",
            #""pipeline":[{"$match":{"owner":"u5"}},{"$group":{"_id":"$late","n":{"$sum":1}}}]"#
        )
        #expect(grouped.indexes.contains("Open_owner__id_idx") && !grouped.nodes.contains("Seq Scan"))
        // One other value, and the statement looks for those, too.
        #expect(try await indexes.ids(#""filter":{"owner":"u5"},"limit":1"#) == "5")
        try await indexes.fixture.insert("Open", #"{"_id":0,"owner":["u5","x"]}"#)
        #expect(try await indexes.ids(#""filter":{"owner":"u5"},"limit":2"#) == "0,5")
        let both = try await plan(indexes, "find", #""filter":{"owner":"u5"}"#)
        #expect(both.indexes.contains("Open_owner__id_idx") && both.nodes.contains("BitmapOr"), "\(both)")
        await indexes.fixture.database.close()
    }

    @Test("an index made later on a large table: the same typed expression, built beside writers")
    func late() async throws {
        let indexes = try await filled()
        let name = try await indexes.create(#"{"late":1}"#, beyond: "0kB")
        let when = try await indexes.create(#"{"when":1}"#, beyond: "0kB")
        #expect(try await indexes.state(name) == "waiting")
        let before = try await plan(indexes, "find", #""filter":{"late":"l5"}"#)
        #expect(before.nodes.contains("Seq Scan"))
        await indexes.maintenance.buildAll()
        #expect(try await indexes.state(name) == "ready")
        #expect(try await indexes.state(when) == "ready")
        indexes.fixture.catalog.forgetAll()
        let found = try await plan(indexes, "find", #""filter":{"late":"l5"}"#)
        #expect(found.indexes == ["Open_late_1", "Open_late_1_late_rest"], "\(found)")
        #expect(found.answer["grade"] == "exact")
        #expect(try await indexes.ids(#""filter":{"late":"l5"}"#) == "5,1005,2005,3005,4005")
        try await indexes.fixture.insert("Open", #"{"_id":9000,"late":["x","l5"]}"#)
        #expect(try await indexes.ids(#""filter":{"late":"l5"}"#) == "5,1005,2005,3005,4005,9000")
        let sorted = try await plan(indexes, "find", #""sort":{"when":-1},"limit":10"#)
        #expect(sorted.indexes.contains("Open_when_1") && sorted.answer["sort"] == "index", "\(sorted)")
        #expect(try await indexes.ids(#""sort":{"when":-1},"limit":3"#) == "5000,4999,4998")
        await indexes.fixture.database.close()
    }

    @Test("membership in an array: the GIN index beside the typed column")
    func arrays() async throws {
        let indexes = try await filled()
        let found = try await plan(indexes, "find", #""filter":{"tags":"t5"}"#)
        #expect(found.indexes.contains("Open_tags[]_idx") && !found.nodes.contains("Seq Scan"), "\(found)")
        #expect(found.answer["grade"] == "exact")
        await indexes.fixture.database.close()
    }

    @Test("a sort: an index on the field, read in its order, in both directions and behind an equal field")
    func sorts() async throws {
        let indexes = try await filled()
        try await indexes.create(#"{"n":1}"#)
        for direction in [1, -1] {
            let found = try await plan(indexes, "find", #""sort":{"n":\#(direction)},"limit":10"#)
            #expect(found.answer["sort"] == "index")
            #expect(
                found.indexes.contains { $0.hasPrefix("Open_n_") } && !found.nodes.contains("Sort"),
                "\(found)"
            )
        }
        let pipeline = try await plan(
            indexes,
            "aggregate",
            #""pipeline":[{"$sort":{"n":-1}},{"$skip":5},{"$limit":10},{"$set":{"x":1}}]"#
        )
        #expect(pipeline.answer["sort"] == "index")
        #expect(
            pipeline.indexes.contains { $0.hasPrefix("Open_n_") } && !pipeline.nodes.contains("Sort"),
            "\(pipeline)"
        )
        try await indexes.create(#"{"owner":1,"n":-1}"#)
        let found = try await plan(indexes, "find", #""filter":{"owner":"u5"},"sort":{"n":-1},"limit":2"#)
        #expect(!found.nodes.contains("Seq Scan"), "\(found)")
        await indexes.fixture.database.close()
    }

    @Test("mixed types sorted: typed keys that SQL makes, once the index is found not to hold all values")
    func mixed() async throws {
        let indexes = try await filled()
        try await indexes.create(#"{"n":1}"#)
        try await indexes.fixture.insert(
            "Open",
            #"{"_id":9001,"n":"text"}"#,
            #"{"_id":9002,"n":[-1,9]}"#,
            #"{"_id":9003}"#,
            #"{"_id":9004,"n":true}"#
        )
        let members = [
            "find": #""sort":{"n":-1},"limit":3"#,
            "aggregate": #""pipeline":[{"$sort":{"n":-1}},{"$limit":3}]"#,
        ]
        for (action, member) in members {
            let found = try await plan(indexes, action, member)
            #expect(found.answer["sort"] == "sql" && found.answer["grade"] == "exact", "\(found)")
            #expect(found.nodes.contains("Sort"))
            let answer = try await indexes.fixture.documents(action, "Open", "{\(member)}")
            let ids = try ExtendedJSON.readValue(Array("[\(answer)]".utf8)).array?.compactMap {
                $0.document?["_id"]
            }
            #expect(ids == [.int32(9004), .int32(9001), .int32(863)], "\(action)")
        }
        #expect(try await indexes.ids(#""sort":{"n":1},"limit":2"#) == "9003,9002")
        await indexes.fixture.database.close()
    }

    @Test("mixed types sorted: an index on keys of all types, for those who want it")
    func mixedIndex() async throws {
        let indexes = try await filled()
        try await indexes.create(#"{"n":1}"#, #"{"types":{"n":"mixed"}}"#)
        try await indexes.fixture.insert(
            "Open",
            #"{"_id":9001,"n":"text"}"#,
            #"{"_id":9002,"n":{"$date":"2024-01-01T00:00:00Z"}}"#,
            #"{"_id":9003}"#,
            #"{"_id":9004,"n":true}"#,
            #"{"_id":9005,"n":{"$numberDouble":"-Infinity"}}"#
        )
        for (direction, ids) in [(1, "9003,9005,4140"), (-1, "9002,9004,9001")] {
            let found = try await plan(indexes, "find", #""sort":{"n":\#(direction)},"limit":3"#)
            #expect(found.answer["sort"] == "index" && found.answer["grade"] == "exact", "\(found)")
            #expect(found.indexes.contains("Open_n_1") && !found.nodes.contains("Seq Scan"), "\(found)")
            #expect(try await indexes.ids(#""sort":{"n":\#(direction)},"limit":3"#) == ids)
        }
        // What the index cannot order is found at once, and another way is taken.
        try await indexes.fixture.insert("Open", #"{"_id":9006,"n":[-1,{"$date":"2025-01-01T00:00:00Z"}]}"#)
        #expect(try await indexes.ids(#""sort":{"n":-1},"limit":2"#) == "9006,9002")
        #expect(try await indexes.ids(#""sort":{"n":1},"limit":3"#) == "9003,9005,9006")
        for (keys, options) in [
            (#"{"n":1,"m":1}"#, #"{"types":{"n":"mixed"}}"#), (#"{"m":1}"#, #"{"types":{"n":"mixed"}}"#),
            (#"{"m":1}"#, #"{"types":{"m":"mixed"},"unique":true}"#),
            (#"{"_id":1}"#, #"{"types":{"_id":"mixed"}}"#),
        ] {
            await #expect(throws: ServiceError.self, "\(keys) \(options)") {
                try await indexes.create(keys, options)
            }
        }
        await indexes.fixture.database.close()
    }

    @Test("equality on any field: the index on whole documents, for those who want it")
    func wildcard() async throws {
        let indexes = try await filled()
        #expect(try await plan(indexes, "find", #""filter":{"any":"a5"}"#).nodes.contains("Seq Scan"))
        try await indexes.create(#"{"$**":1}"#)
        let found = try await plan(indexes, "find", #""filter":{"any":"a5"}"#)
        #expect(found.indexes == ["Open_$**_1"] && !found.nodes.contains("Seq Scan"), "\(found)")
        await indexes.fixture.database.close()
    }

    @Test("a partial index, where the request implies its condition")
    func partial() async throws {
        let indexes = try await filled()
        try await indexes.create(#"{"n":1}"#, #"{"partialFilterExpression":{"state":"on"},"name":"on_n"}"#)
        _ = try await indexes.fixture.database.run("DROP INDEX todo.\"Open_state__id_idx\"")
        let found = try await plan(indexes, "find", #""filter":{"state":"on"}"#)
        #expect(found.indexes.contains("on_n") && !found.nodes.contains("Seq Scan"), "\(found)")
        #expect(
            try await plan(indexes, "find", #""filter":{"state":"off"}"#).indexes.contains("on_n") == false
        )
        await indexes.fixture.database.close()
    }

    @Test("one document by _id: the primary key")
    func identifier() async throws {
        let indexes = try await filled()
        let found = try await plan(indexes, "findOne", #""filter":{"_id":77}"#)
        #expect(found.indexes == ["Open_pkey"])
        await indexes.fixture.database.close()
    }
}

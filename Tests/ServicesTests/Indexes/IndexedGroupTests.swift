import Postgres
import SQL
import TestSupport
import Testing

@testable import Services

@Suite("Groups by a typed column")
struct IndexedGroupTests {
    private static let pipelines = [
        #"[{"$group":{"_id":"$s","n":{"$sum":1}}},{"$sort":{"_id":1}}]"#,
        #"[{"$match":{"owner":"a"}},{"$group":{"_id":"$s","n":{"$sum":2},"m":{"$count":{}}}},{"$sort":{"_id":-1}}]"#,
        #"[{"$match":{"owner":"a"}},{"$group":{"_id":"$owner","n":{"$sum":1}}}]"#,
        #"[{"$sortByCount":"$flag"},{"$sort":{"_id":1}}]"#,
        #"[{"$sort":{"_id":1}},{"$limit":7},{"$group":{"_id":"$ref","n":{"$sum":1}}},{"$sort":{"_id":1}}]"#,
    ]

    private func groups(_ indexes: IndexFixture, of collection: String = "Open") async throws -> [String] {
        var groups: [String] = []
        for pipeline in Self.pipelines {
            groups.append(
                try await indexes.fixture.documents("aggregate", collection, #"{"pipeline":\#(pipeline)}"#)
            )
        }
        return groups
    }

    @Test("are the groups without, whatever values there are")
    func same() async throws {
        let indexes = try await IndexFixture()
        let texts = [nil, "null", #""""#, #""x""#, #""Ünï \"quoted\"""#, #""7""#]
        for id in 1...30 {
            var members = [#""_id":\#(id)"#, #""owner":"\#(id % 3 == 0 ? "b" : "a")""#]
            if let text = texts[id % texts.count] { members.append(#""s":\#(text)"#) }
            if id % 4 > 0 { members.append(#""flag":\#(id % 4 == 1)"#) }
            if id % 5 > 0 { members.append(#""ref":{"$oid":"5f0c0ffee00000000000000\#(id % 5)"}"#) }
            for collection in ["Open", "Bare"] {
                try await indexes.fixture.insert(collection, "{\(members.joined(separator: ","))}")
            }
        }
        #expect(try await groups(indexes) == groups(indexes, of: "Bare"))
        for (path, type) in [("owner", "string"), ("s", "string"), ("flag", "bool"), ("ref", "objectId")] {
            _ = try await indexes.fixture.database.run(
                "SELECT tidegate.promote_field('todo', 'Open', \(bind: .text(path)), \(bind: .text(type)))"
            )
        }
        try await indexes.create(#"{"owner":1,"s":1}"#)
        indexes.fixture.catalog.forgetAll()
        let plan = try await indexes.fixture.documents(
            "aggregate",
            "Open",
            #"{"explain":true,"pipeline":\#(Self.pipelines[1])}"#
        )
        #expect(plan.contains(#"GROUP BY key"#) && !plan.contains("doc -> "), "\(plan)")
        #expect(try await groups(indexes) == groups(indexes, of: "Bare"))
        // Beside the typed columns, one after the other: another type, an array, and what is longer than they take.
        let long = String(repeating: "l", count: 2001)
        for document in [
            #"{"_id":100,"owner":"a","s":7}"#, #"{"_id":101,"owner":"a","flag":"true"}"#,
            #"{"_id":102,"owner":"a","ref":[1,2]}"#, #"{"_id":103,"owner":"a","s":"\#(long)"}"#,
        ] {
            try await indexes.fixture.insert("Open", document)
            try await indexes.fixture.insert("Bare", document)
            #expect(try await groups(indexes) == groups(indexes, of: "Bare"), "\(document)")
        }
        await indexes.fixture.database.close()
    }
}

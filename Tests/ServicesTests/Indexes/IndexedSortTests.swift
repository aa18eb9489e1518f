import Postgres
import SQL
import TestSupport
import Testing

@testable import Services

@Suite("Sorts by index")
struct IndexedSortTests {
    private static let sorts = [
        #"{"n":1}"#, #"{"n":-1}"#, #"{"n":1,"s":-1}"#, #"{"s":-1,"n":1}"#, #"{"s":1,"_id":-1}"#,
        #"{"d.at":-1}"#,
        #"{"d.at":1,"n":-1,"s":1}"#,
    ]

    private func orders(_ indexes: IndexFixture) async throws -> [String] {
        var orders: [String] = []
        for sort in Self.sorts {
            orders.append(try await indexes.ids(#""sort":\#(sort)"#))
            orders.append(
                try await indexes.ids(#""sort":\#(sort),"skip":2,"limit":5,"filter":{"n":{"$gte":1}}"#)
            )
        }
        return orders
    }

    private static func date(_ milliseconds: Int) -> String {
        #"{"$date":{"$numberLong":"\#(milliseconds)"}}"#
    }

    @Test("are the sorts without, whatever values there are", arguments: [nil, "0kB"] as [String?])
    func same(_ limit: String?) async throws {
        let indexes = try await IndexFixture()
        var random = SeededRandom(seed: 7)
        for id in 1...60 {
            var members = [#""_id":\#(id)"#]
            let number = Int.random(in: 0...5, using: &random)
            if number > 0 { members.append(#""n":\#(["0", "null", "1", "2.5", "3", "1e300"][number])"#) }
            let text = Int.random(in: 0...4, using: &random)
            if text > 0 { members.append(#""s":\#(["", "null", "\"a\"", "\"Z\"", "\"é\""][text])"#) }
            if id % 3 > 0 { members.append(#""d":{"at":\#(Self.date(id % 7 * 1000 - 3000))}"#) }
            try await indexes.fixture.insert("Open", "{\(members.joined(separator: ","))}")
        }
        let before = try await orders(indexes)
        for (keys, types) in [("n", "number"), ("s", "string"), ("d.at", "date")] {
            try await indexes.create(
                #"{"\#(keys)":1}"#,
                #"{"types":{"\#(keys)":"\#(types)"}}"#,
                beyond: limit
            )
        }
        await indexes.maintenance.buildAll()
        indexes.fixture.catalog.forgetAll()
        #expect(try await orders(indexes) == before)
        // Beside the typed columns: another type, an array, a document, a path through an array.
        for document in [
            #"{"_id":100,"n":"text","s":5}"#, #"{"_id":101,"n":[0,9],"s":["b","c"]}"#,
            #"{"_id":102,"n":{"x":1},"s":{"y":1}}"#, #"{"_id":103,"d":[{"at":1},{"at":2}]}"#,
        ] {
            try await indexes.fixture.insert("Open", document)
            let indexed = try await orders(indexes)
            for name in ["Open_n_1", "Open_s_1", "Open_d.at_1"] {
                _ = try await indexes.fixture.database.run(
                    "UPDATE tidegate.indexes SET state = 'failed' WHERE name = \(bind: .text(name))"
                )
            }
            _ = try await indexes.fixture.database.run(
                "SELECT tidegate.collect_indexed(id) FROM tidegate.collections"
            )
            indexes.fixture.catalog.forgetAll()
            #expect(try await orders(indexes) == indexed, "\(document)")
            _ = try await indexes.fixture.database.run("UPDATE tidegate.indexes SET state = 'ready'")
            _ = try await indexes.fixture.database.run(
                "SELECT tidegate.collect_indexed(id) FROM tidegate.collections"
            )
            indexes.fixture.catalog.forgetAll()
        }
        await indexes.fixture.database.close()
    }
}

import Accounts
import Errors
import Postgres
import SQL
import TestSupport
import Testing

@testable import Services

@Suite("Orders of keys in an updateMany")
struct KeyOrderTests {
    private func filled(_ fixture: DataFixture) async throws {
        // Each document has its keys in an order that no other has.
        let documents = (0..<40).map { index in
            let keys = (0..<6).map { "k\($0)" }.shuffledByRotation(index)
            return "{\"_id\":\(index),\(keys.map { "\"\($0)\":\(index)" }.joined(separator: ","))}"
        }
        try await fixture.insert("Open", documents.joined(separator: ","))
    }

    @Test("many new ones are recorded, and kept in every document")
    func many() async throws {
        let fixture = try await DataFixture()
        try await filled(fixture)
        // Only the gateway can compute it, and each document gets an order that is new.
        let update = #"{"filter":{},"update":[{"$set":{"z":{"$add":["$k0",1]},"y":1}}]}"#
        #expect(try await fixture.update("updateMany", "Open", update) == [40, 40])
        let texts = try await fixture.documents("find", "Open", #"{"filter":{"_id":{"$in":[7,33]}}}"#)
        #expect(texts.contains(#""z":8,"y":1}"#) && texts.contains(#""z":34,"y":1}"#), "\(texts)")
        await fixture.database.close()
    }

    @Test("beyond the most that a collection remembers, updates go on without")
    func beyond() async throws {
        let fixture = try await DataFixture()
        try await filled(fixture)
        _ = try await fixture.database.run(
            """
            INSERT INTO tidegate.shapes (collection_id, id, order_text) SELECT c.id, 4096, 'filler' \
            FROM tidegate.collections c WHERE c.collection = 'Open'
            """
        )
        let update = #"{"filter":{},"update":[{"$set":{"z":{"$add":["$k0",1]},"y":1}}]}"#
        #expect(try await fixture.update("updateMany", "Open", update) == [40, 40])
        let bulk =
            #"{"operations":[{"updateMany":{"filter":{},"update":[{"$set":{"x":{"$add":["$k1",1]}}}]}}]}"#
        _ = try await fixture.perform("bulkWrite", "Open", bulk, as: .system)
        guard
            case .counted(40) = try await fixture.perform(
                "countDocuments",
                "Open",
                #"{"filter":{"x":{"$exists":true},"y":1}}"#,
                as: .system
            )
        else {
            Issue.record("not all documents were updated")
            return
        }
        await fixture.database.close()
    }
}

extension [String] {
    /// One of many orders, each by its number.
    fileprivate func shuffledByRotation(_ number: Int) -> [String] {
        var rest = self
        var result: [String] = []
        var number = number
        while !rest.isEmpty {
            result.append(rest.remove(at: number % rest.count))
            number /= rest.count + 1
        }
        return result
    }
}

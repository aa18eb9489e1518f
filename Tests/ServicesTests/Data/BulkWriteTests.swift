import Accounts
import BSON
import Errors
import MQL
import Postgres
import SQL
import Services
import TestSupport
import Testing

@Suite("bulkWrite and insertMany")
struct BulkWriteTests {
    private func bulk(
        _ fixture: DataFixture,
        _ operations: String,
        _ options: String = "",
        in collection: String = "Open",
        as caller: Principal = .system
    ) async throws -> BulkWriteResult {
        let result = try await fixture.perform(
            "bulkWrite",
            collection,
            "{\"operations\":[\(operations)]\(options)}",
            as: caller
        )
        guard case .bulkWritten(let written) = result else {
            Issue.record("no bulk result")
            return BulkWriteResult()
        }
        return written
    }

    private func ids(_ fixture: DataFixture, _ collection: String = "Open") async throws -> String {
        try await fixture.documents("find", collection, #"{"projection":{"_id":1}}"#)
    }

    private static let mixed = """
        {"insertOne":{"document":{"_id":1,"a":1,"z":{"y":1,"x":2}}}},{"insertOne":{"document":{"_id":2,"b":1}}},
        {"updateOne":{"filter":{"_id":1},"update":{"$set":{"new":1,"z.w":3}}}},
        {"updateMany":{"filter":{},"update":{"$inc":{"n":1}}}},
        {"updateOne":{"filter":{"_id":9},"update":{"$set":{"k":1}},"upsert":true}},
        {"replaceOne":{"filter":{"_id":2},"replacement":{"r":1,"b":{"d":1,"c":2}}}},
        {"insertOne":{"document":{"_id":3}}},{"deleteOne":{"filter":{"_id":3}}},{"deleteMany":{"filter":{"_id":77}}}
        """

    @Test("it does the operations in their order and answers with counts and ids; the order of keys is kept")
    func mixed() async throws {
        let fixture = try await DataFixture()
        let result = try await bulk(fixture, Self.mixed)
        #expect(result.errors.isEmpty)
        #expect(result.matched == 4 && result.modified == 4 && result.deleted == 1)
        #expect(result.insertedIDs.map(\.index) == [0, 1, 6])
        #expect(result.insertedIDs.map(\.id) == [.int32(1), .int32(2), .int32(3)])
        #expect(result.upsertedIDs.map(\.index) == [4])
        #expect(
            try await fixture.documents("find", "Open", "{}")
                == #"{"_id":1,"a":1,"z":{"y":1,"x":2,"w":3},"new":1,"n":1},{"_id":2,"r":1,"b":{"d":1,"c":2}},{"_id":9,"k":1}"#
        )
        await fixture.database.close()
    }

    private static let clashing = """
        {"insertOne":{"document":{"_id":1}}},{"insertOne":{"document":{"_id":5}}},
        {"insertOne":{"document":{"_id":5}}},{"updateOne":{"filter":{"_id":1},"update":{"$inc":{"s":1}}}},
        {"insertOne":{"document":{"_id":6}}},
        {"updateOne":{"filter":{"_id":5},"update":{"$set":{"_id":7}}}},{"deleteOne":{"filter":{"_id":5}}}
        """

    @Test("ordered, it stops at the first failure and keeps what was before it")
    func ordered() async throws {
        let fixture = try await DataFixture()
        let result = try await bulk(fixture, Self.clashing)
        #expect(result.errors.map(\.index) == [2])
        #expect(result.errors.first?.error.serverCode == .duplicateKey)
        #expect(result.insertedIDs.map(\.index) == [0, 1])
        #expect(try await ids(fixture) == #"{"_id":1},{"_id":5}"#)
        await fixture.database.close()
    }

    @Test("not ordered, it goes on and reports every failure")
    func unordered() async throws {
        let fixture = try await DataFixture()
        try await fixture.insert("Open", #"{"_id":1,"s":"text"}"#)
        let result = try await bulk(fixture, Self.clashing, #","ordered":false"#)
        #expect(result.errors.map(\.index) == [0, 2, 3, 5])
        #expect(result.errors.map { $0.error.serverCode?.number } == [11000, 11000, 14, 66])
        #expect(result.insertedIDs.map(\.index) == [1, 4])
        #expect(result.deleted == 1)
        #expect(try await ids(fixture) == #"{"_id":1},{"_id":6}"#)
        await fixture.database.close()
    }

    @Test("atomic, a failure undoes everything and is the answer")
    func atomic() async throws {
        let fixture = try await DataFixture()
        for options in [#","atomic":true"#, #","atomic":true,"ordered":false"#] {
            let error = await #expect(throws: ServiceError.self) {
                _ = try await bulk(fixture, Self.clashing, options)
            }
            #expect(error?.serverCode == .duplicateKey)
            #expect((error?.cause as? WriteErrors)?.errors.map(\.index) == [2])
            #expect(error?.message.hasPrefix("operations[2]: E11000") == true)
            #expect(try await ids(fixture) == "")
        }
        #expect(try await bulk(fixture, Self.mixed, #","atomic":true"#).insertedIDs.count == 3)
        await fixture.database.close()
    }

    @Test("a denial undoes everything, whatever the options")
    func denial() async throws {
        let fixture = try await DataFixture()
        let ann = DataFixture.id(DataFixture.ann)
        try await fixture.insert("Feed", #"{"_id":1,"ownerId":"other"}"#)
        for options in ["", #","ordered":false"#, #","atomic":true"#] {
            for denied in [
                #"{"insertOne":{"document":{"_id":7,"ownerId":"other"}}}"#,
                #"{"updateOne":{"filter":{"_id":1},"update":{"$set":{"n":1}}}}"#,
                #"{"deleteMany":{"filter":{"_id":1}}}"#,
                #"{"updateOne":{"filter":{"_id":8},"update":{"$set":{"ownerId":"other"}},"upsert":true}}"#,
            ] {
                let error = await #expect(throws: ServiceError.self) {
                    _ = try await bulk(
                        fixture,
                        #"{"insertOne":{"document":{"_id":2,"ownerId":"\#(ann)"}}},\#(denied)"#,
                        options,
                        in: "Feed",
                        as: DataFixture.ann
                    )
                }
                #expect(error?.cause is WriteDenial, "\(denied)")
                #expect(error?.message.hasPrefix("operations[1]: ") == true)
                #expect(try await ids(fixture, "Feed") == #"{"_id":1}"#, "\(denied)")
            }
        }
        await fixture.database.close()
    }

    @Test("a violated unique index is one write's failure, in a list and in a transaction")
    func uniqueIndex() async throws {
        let fixture = try await DataFixture()
        try await fixture.insert("Open", #"{"_id":1,"u":"a"}"#)
        _ = try await fixture.database.run("SELECT tidegate.create_app('indexes')")
        _ = try await fixture.database.run(
            #"SELECT tidegate.create_index('indexes', 'todo', 'Open', '{"u": 1}', '{"unique": true}')"#
        )
        let operations = """
            {"insertOne":{"document":{"_id":2,"u":"b"}}},{"insertOne":{"document":{"_id":3,"u":"a"}}},
            {"insertOne":{"document":{"_id":4,"u":"d"}}},{"updateOne":{"filter":{"_id":2},"update":{"$set":{"u":"a"}}}},
            {"updateOne":{"filter":{"_id":8},"update":{"$set":{"u":"a"}},"upsert":true}},
            {"insertOne":{"document":{"_id":5,"u":"e"}}}
            """
        let result = try await bulk(fixture, operations, #","ordered":false"#)
        #expect(result.errors.map(\.index) == [1, 3, 4])
        #expect(result.errors.allSatisfy { $0.error.serverCode == .duplicateKey })
        #expect(try await ids(fixture) == #"{"_id":1},{"_id":2},{"_id":4},{"_id":5}"#)
        let error = await #expect(throws: ServiceError.self) {
            _ = try await fixture.perform(
                "insertMany",
                "Open",
                #"{"documents":[{"_id":6,"u":"f"},{"_id":7,"u":"a"},{"_id":8,"u":"g"},{"_id":1}],"ordered":false}"#,
                as: .system
            )
        }
        #expect((error?.cause as? WriteErrors)?.errors.map(\.index) == [1, 3])
        await #expect(throws: ServiceError.self) {
            try await fixture.insert("Open", #"{"_id":9,"u":"h"}"#, #"{"_id":10,"u":"a"}"#, #"{"_id":11}"#)
        }
        #expect(
            try await ids(fixture)
                == #"{"_id":1},{"_id":2},{"_id":4},{"_id":5},{"_id":6},{"_id":8},{"_id":9}"#
        )
        await fixture.database.close()
    }

    @Test("insertMany, not ordered, inserts all but the duplicates and names them")
    func insertManyUnordered() async throws {
        let fixture = try await DataFixture()
        try await fixture.insert("Open", #"{"_id":2}"#)
        let error = await #expect(throws: ServiceError.self) {
            _ = try await fixture.perform(
                "insertMany",
                "Open",
                #"{"documents":[{"_id":1},{"_id":2},{"_id":3},{"_id":1.0},{"_id":4}],"ordered":false}"#,
                as: .system
            )
        }
        #expect(error?.serverCode == .duplicateKey)
        #expect((error?.cause as? WriteErrors)?.errors.map(\.index) == [1, 3])
        #expect(try await ids(fixture) == #"{"_id":1},{"_id":2},{"_id":3},{"_id":4}"#)
        await fixture.database.close()
    }

    @Test("many orders of keys at once, in transactions that have to learn them")
    func orders() async throws {
        let fixture = try await DataFixture()
        var operations: [String] = []
        for id in 1...40 {
            operations.append(#"{"insertOne":{"document":{"_id":\#(id),"z":1,"f\#(id)":{"y":1,"x":1}}}}"#)
            operations.append(
                #"{"updateOne":{"filter":{"_id":\#(id)},"update":{"$set":{"g\#(id)":{"q":1,"b":2},"a":1}}}}"#
            )
            operations.append(
                #"{"updateMany":{"filter":{"_id":\#(id)},"update":[{"$set":{"h\#(id)":{"q":1,"b":2}}}]}}"#
            )
        }
        let result = try await bulk(fixture, operations.joined(separator: ","))
        #expect(result.errors.isEmpty && result.matched == 80 && result.modified == 80)
        // An update adds its fields in the order of their names.
        let found = try await fixture.documents("findOne", "Open", #"{"filter":{"_id":17}}"#)
        #expect(
            found == #"{"_id":17,"z":1,"f17":{"y":1,"x":1},"a":1,"g17":{"q":1,"b":2},"h17":{"q":1,"b":2}}"#
        )
        await fixture.database.close()
    }
}

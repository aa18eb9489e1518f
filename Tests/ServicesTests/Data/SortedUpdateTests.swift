import Accounts
import Errors
import Postgres
import TestSupport
import Testing

@testable import Services

@Suite("updateOne and replaceOne with a sort")
struct SortedUpdateTests {
    private static let documents = [
        #"{"_id":1,"k":"a","n":1}"#, #"{"_id":2,"k":"a","n":3}"#, #"{"_id":3,"k":"a","n":2}"#,
        #"{"_id":4,"k":"b","n":9}"#,
    ]

    /// Changes that SQL makes, and changes and filters that the gateway has to decide.
    private static let requests = [
        #"{"filter":{"k":"a"},"sort":{"n":-1},"update":{"$set":{"hit":true}}}"#,
        #"{"filter":{"k":"a"},"sort":{"n":-1},"update":[{"$set":{"hit":true}}]}"#,
        #"{"filter":{"$expr":{"$eq":["$k","a"]}},"sort":{"n":-1},"update":{"$set":{"hit":true}}}"#,
    ]

    @Test("change the first of the order, by index, by keys and in the gateway", arguments: [false, true])
    func first(isIndexed: Bool) async throws {
        let indexes = try await IndexFixture()
        let fixture = indexes.fixture
        try await fixture.insert("Open", Self.documents[0])
        if isIndexed { try await indexes.create(#"{"n":1}"#, #"{"types":{"n":"number"}}"#) }
        // What no index holds, then what only the gateway can order.
        for extra in [nil, #"{"_id":5,"k":"c","n":"text"}"#, #"{"_id":6,"k":"c","n":{"x":1}}"#] {
            for request in Self.requests {
                _ = try await fixture.perform("deleteMany", "Open", #"{"filter":{}}"#, as: .system)
                try await fixture.insert("Open", Self.documents.joined(separator: ","))
                if let extra { try await fixture.insert("Open", extra) }
                #expect(try await fixture.update("updateOne", "Open", request) == [1, 1])
                let changed = try await fixture.documents("find", "Open", #"{"filter":{"hit":true}}"#)
                #expect(changed == #"{"_id":2,"k":"a","n":3,"hit":true}"#, "\(request) \(extra ?? "")")
            }
        }
        let replaced = #"{"filter":{},"sort":{"n":1,"_id":1},"replacement":{"r":1}}"#
        #expect(try await fixture.update("replaceOne", "Open", replaced) == [1, 1])
        #expect(try await fixture.documents("find", "Open", #"{"filter":{"r":1}}"#) == #"{"_id":1,"r":1}"#)
        await fixture.database.close()
    }

    @Test("do so within a bulkWrite, too, where the order is only the gateway's")
    func bulk() async throws {
        let fixture = try await DataFixture()
        try await fixture.insert("Open", Self.documents.joined(separator: ","))
        try await fixture.insert("Open", #"{"_id":6,"k":"c","n":{"x":1}}"#)
        _ = try await fixture.perform(
            "bulkWrite",
            "Open",
            """
            {"operations":[{"updateOne":{"filter":{},"sort":{"n":-1},"update":{"$set":{"hit":1}}}},
                {"replaceOne":{"filter":{},"sort":{"n":1},"replacement":{"hit":2}}}]}
            """,
            as: .system
        )
        #expect(
            try await fixture.documents("find", "Open", #"{"filter":{"hit":{"$exists":true}}}"#)
                == #"{"_id":1,"hit":2},{"_id":6,"k":"c","n":{"x":1},"hit":1}"#
        )
        await fixture.database.close()
    }

    @Test("are judged by the rules on the document that the order chooses")
    func rules() async throws {
        let fixture = try await DataFixture(hiddenFieldQueries: false)
        let ann = DataFixture.id(DataFixture.ann)
        try await fixture.insert(
            "Item",
            #"{"_id":1,"ownerId":"\#(ann)","n":1}"#,
            #"{"_id":2,"ownerId":"\#(ann)","n":2}"#,
            #"{"_id":3,"ownerId":"other","n":3}"#
        )
        let members = #"{"filter":{},"sort":{"n":-1},"update":{"$set":{"ownerId":"x"}}}"#
        let error = await #expect(throws: ServiceError.self) {
            _ = try await fixture.perform("updateOne", "Item", members, as: DataFixture.ann)
        }
        #expect(error?.cause is WriteDenial)
        let allowed = #"{"filter":{},"sort":{"n":-1},"update":{"$set":{"n":7}}}"#
        #expect(try await fixture.update("updateOne", "Item", allowed, as: DataFixture.ann) == [1, 1])
        #expect(
            try await fixture.documents("find", "Item", #"{"filter":{"n":7},"projection":{"_id":1}}"#)
                == #"{"_id":2}"#
        )
        await fixture.database.close()
    }
}

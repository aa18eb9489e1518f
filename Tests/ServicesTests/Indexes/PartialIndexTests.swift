import BSON
import Errors
import Postgres
import TestSupport
import Testing

@testable import Services

@Suite("Partial indexes")
struct PartialIndexTests {
    /// A condition, documents with one `u` that it leaves out, and two that it covers.
    static let conditions: [(condition: String, outside: [String], inside: [String])] = [
        (
            #"{"s":{"$in":["a","b"]}}"#, [#"{"u":1}"#, #"{"u":1,"s":"c"}"#, #"{"u":1,"s":5}"#],
            [#"{"u":1,"s":"a"}"#, #"{"u":1,"s":"b"}"#]
        ),
        (
            #"{"$or":[{"s":"a"},{"n":{"$gt":5}}]}"#, [#"{"u":1,"s":"b"}"#, #"{"u":1,"n":5}"#],
            [#"{"u":1,"s":"a"}"#, #"{"u":1,"n":6}"#]
        ),
        (
            #"{"s":{"$type":"string"},"k":true}"#,
            [#"{"u":1,"s":5,"k":true}"#, #"{"u":1,"k":true}"#, #"{"u":1,"s":"x","k":false}"#],
            [#"{"u":1,"s":"x","k":true}"#, #"{"u":1,"s":[1,"y"],"k":true}"#]
        ),
        (
            #"{"s":{"$type":["number","date"]}}"#, [#"{"u":1,"s":"5"}"#, #"{"u":1,"s":null}"#],
            [#"{"u":1,"s":{"$numberDecimal":"1.5"}}"#, #"{"u":1,"s":{"$date":"2020-01-01T00:00:00Z"}}"#]
        ),
    ]

    @Test("a unique one refuses what its condition covers, and nothing else", arguments: conditions)
    func unique(condition: String, outside: [String], inside: [String]) async throws {
        let indexes = try await IndexFixture()
        try await indexes.fixture.insert("Open", #"{"_id":0}"#)
        try await indexes.create(#"{"u":1}"#, #"{"unique":true,"partialFilterExpression":\#(condition)}"#)
        for document in outside + inside.prefix(1) { try await indexes.fixture.insert("Open", document) }
        let error = await #expect(throws: ServiceError.self) {
            try await indexes.fixture.insert("Open", inside[1])
        }
        #expect(error?.serverCode == .duplicateKey)
        await indexes.fixture.database.close()
    }

    @Test("it refuses types and lists that it cannot tell")
    func refusals() async throws {
        let indexes = try await IndexFixture()
        try await indexes.fixture.insert("Open", #"{"_id":0}"#)
        for condition in [
            #"{"s":{"$type":"object"}}"#, #"{"s":{"$type":[]}}"#, #"{"$or":[{"s":{"$ne":1}}]}"#,
        ] {
            let text = try await indexes.refusal(#"{"u":1}"#, #"{"partialFilterExpression":\#(condition)}"#)
            #expect(text?.contains("options.partialFilterExpression") == true, "\(text ?? "accepted")")
        }
        await indexes.fixture.database.close()
    }
}

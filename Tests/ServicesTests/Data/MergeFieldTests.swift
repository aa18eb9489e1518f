import Accounts
import BSON
import Errors
import Postgres
import TestSupport
import Testing

@testable import Services

@Suite("$merge on other fields, hints and empty timestamps")
struct MergeFieldTests {
    private static let merging: [(merge: String, source: [String], expected: String)] = [
        (#"{"on":"k"}"#, [#"{"k":"a","n":1}"#], #"{"_id":1,"k":"a","old":true,"n":1},{"_id":2,"k":"b"}"#),
        (
            #"{"on":"k","whenMatched":"replace"}"#, [#"{"k":"a","n":1}"#],
            #"{"_id":1,"k":"a","n":1},{"_id":2,"k":"b"}"#
        ),
        (
            #"{"on":"k","whenMatched":[{"$set":{"k":"c","sum":{"$add":["$$new.n",1]}}}]}"#,
            [#"{"k":"a","n":1}"#],
            #"{"_id":1,"k":"c","old":true,"sum":2},{"_id":2,"k":"b"}"#
        ),
        (
            #"{"on":"k","whenMatched":[{"$fill":{"output":{"f":{"value":7}}}}]}"#, [#"{"k":"b"}"#],
            #"{"_id":1,"k":"a","old":true},{"_id":2,"k":"b","f":7}"#
        ),
        (
            #"{"on":"k"}"#, [#"{"_id":5,"k":"e","b":1,"a":2}"#, #"{"_id":6,"k":"e","b":3}"#],
            #"{"_id":1,"k":"a","old":true},{"_id":2,"k":"b"},{"_id":5,"k":"e","a":2,"b":1}"#
        ),
        (
            #"{"on":"k"}"#, [#"{"_id":5,"x":1}"#],
            #"{"_id":1,"k":"a","old":true},{"_id":2,"k":"b"},{"_id":5,"k":null,"x":1}"#
        ),
        (
            #"{"on":"k","whenNotMatched":"discard"}"#, [#"{"_id":5}"#],
            #"{"_id":1,"k":"a","old":true},{"_id":2,"k":"b"}"#
        ),
        (
            #"{"on":["_id","k"]}"#, [#"{"_id":1,"k":"a","n":2}"#],
            #"{"_id":1,"k":"a","old":true,"n":2},{"_id":2,"k":"b"}"#
        ),
    ]

    private func fixture(_ keys: [(String, String)]) async throws -> DataFixture {
        let indexes = try await IndexFixture()
        let fixture = indexes.fixture
        try await fixture.insert("Open", #"{"_id":1,"k":"a","old":true}"#, #"{"_id":2,"k":"b"}"#)
        for (keys, options) in keys { try await indexes.create(keys, options) }
        return fixture
    }

    @Test("it merges by the fields of a unique index")
    func merges() async throws {
        let fixture = try await fixture([
            (#"{"k":1}"#, #"{"unique":true}"#), (#"{"k":1,"_id":-1}"#, #"{"unique":true}"#),
        ])
        for (merge, source, expected) in Self.merging {
            _ = try await fixture.perform("deleteMany", "Open", #"{"filter":{}}"#, as: .system)
            _ = try await fixture.perform("deleteMany", "S", #"{"filter":{}}"#, as: .system)
            try await fixture.insert("Open", #"{"_id":1,"k":"a","old":true}"#, #"{"_id":2,"k":"b"}"#)
            for document in source { try await fixture.insert("S", document) }
            let unset = source.contains { $0.contains("_id") } ? "" : #"{"$unset":"_id"},"#
            let into = #"{"into":"Open",\#(merge.dropFirst())"#
            // The second of two with one value has another `_id`, and is refused once the first is there.
            _ = try? await fixture.documents(
                "aggregate",
                "S",
                #"{"pipeline":[\#(unset){"$merge":\#(into)}]}"#
            )
            #expect(
                try await fixture.documents("find", "Open", #"{"sort":{"_id":1}}"#) == expected,
                "\(merge)"
            )
        }
        await fixture.database.close()
    }

    @Test("it refuses fields without a unique index, values that such an index has not, and other ids")
    func refusals() async throws {
        let fixture = try await fixture([
            (#"{"k":1}"#, #"{"unique":true,"sparse":true}"#),
            (#"{"p":1}"#, #"{"unique":true,"partialFilterExpression":{"p":{"$gt":0}}}"#),
            (#"{"n":1}"#, "{}"), (#"{"a":1,"b":1}"#, #"{"unique":true,"sparse":true}"#),
        ])
        for (source, merge, code) in [
            (#"{"_id":9}"#, #"{"on":"k"}"#, 51132), (#"{"_id":9,"k":["a"]}"#, #"{"on":"k"}"#, 51185),
            (#"{"_id":9,"k":{"a":[1]}}"#, #"{"on":"k.a"}"#, 51183),
            (#"{"_id":9,"n":1}"#, #"{"on":"n"}"#, 51183),
            (#"{"_id":9,"p":1}"#, #"{"on":"p"}"#, 51183), (#"{"_id":9,"a":1}"#, #"{"on":"a"}"#, 51183),
            (#"{"_id":9,"k":"a"}"#, #"{"on":"k"}"#, 66),
            (#"{"_id":9,"k":"a"}"#, #"{"on":"k","whenMatched":"replace"}"#, 66),
            (#"{"_id":2,"k":"z"}"#, #"{"on":"k"}"#, 11000),
            (#"{"_id":2,"k":"b"}"#, #"{"whenMatched":[{"$match":{}}]}"#, 72),
        ] {
            _ = try await fixture.perform("deleteMany", "S", #"{"filter":{}}"#, as: .system)
            try await fixture.insert("S", source)
            let into = #"{"into":"Open",\#(merge.dropFirst())"#
            let error = await #expect(throws: ServiceError.self) {
                _ = try await fixture.documents("aggregate", "S", #"{"pipeline":[{"$merge":\#(into)}]}"#)
            }
            #expect(error?.serverCode?.number == code, "\(source) \(merge) \(error?.message ?? "")")
        }
        #expect(
            try await fixture.documents("find", "Open", #"{"sort":{"_id":1}}"#)
                == #"{"_id":1,"k":"a","old":true},{"_id":2,"k":"b"}"#
        )
        await fixture.database.close()
    }

    @Test("a hint has to name an index")
    func hints() async throws {
        let fixture = try await fixture([(#"{"k":1,"n":-1}"#, "{}")])
        for hint in [
            #""_id_""#, #"{"_id":1}"#, #"{"$natural":-1}"#, #"{"k":1,"n":-1}"#, #""k_1_n_-1""#, "{}",
        ] {
            let found = try await fixture.documents("find", "Open", #"{"filter":{"_id":2},"hint":\#(hint)}"#)
            #expect(found == #"{"_id":2,"k":"b"}"#, "\(hint)")
        }
        for hint in [#""k_1""#, #"{"n":-1,"k":1}"#, #"{"k":1}"#] {
            let error = await #expect(throws: ServiceError.self) {
                _ = try await fixture.documents("find", "Open", #"{"hint":\#(hint)}"#)
            }
            #expect(error?.serverCode == .badValue, "\(hint)")
        }
        // Nothing can be asked of a collection that is not there.
        #expect(try await fixture.documents("find", "Nowhere", #"{"hint":"k_1"}"#) == "")
        await fixture.database.close()
    }

    @Test("an empty timestamp becomes the time where a document is inserted or replaced")
    func timestamps() async throws {
        let fixture = try await DataFixture()
        let empty = #"{"$timestamp":{"t":0,"i":0}}"#
        try await fixture.insert(
            "C",
            #"{"_id":1,"a":\#(empty),"b":\#(empty),"c":{"d":\#(empty)}}"#,
            #"{"_id":2,"a":\#(empty)}"#
        )
        _ = try await fixture.update(
            "replaceOne",
            "C",
            #"{"filter":{"_id":3},"replacement":{"a":\#(empty)},"upsert":true}"#
        )
        _ = try await fixture.update(
            "updateOne",
            "C",
            #"{"filter":{"_id":4},"update":{"$set":{"e":\#(empty)}},"upsert":true}"#
        )
        let distinct =
            #"{"pipeline":[{"$group":{"_id":"$a"}},{"$match":{"_id":{"$gt":\#(empty)}}},{"$count":"n"}]}"#
        #expect(try await fixture.documents("aggregate", "C", distinct) == #"{"n":3}"#)
        let kept = #"{"filter":{"_id":1,"c.d":\#(empty),"b":{"$gt":\#(empty)}},"projection":{"_id":1}}"#
        #expect(try await fixture.documents("find", "C", kept) == #"{"_id":1}"#)
        await fixture.database.close()
    }
}

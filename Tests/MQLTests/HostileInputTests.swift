import BSON
import Errors
import MQL
import Testing

@Suite("Hostile filters, projections and updates")
struct HostileInputTests {
    /// `{key: {key: … 1}}`, deeper than any reader lets in.
    private func nested(_ key: String, _ depth: Int, array: Bool = false) -> BSONDocument {
        var value: BSONValue = 1
        for _ in 0..<depth { value = array ? [key: [value]] : [key: value] }
        return value.document ?? [:]
    }

    @Test("refuses deep nesting", arguments: ["$and", "$or", "$nor"])
    func deepLogic(name: String) {
        var filter: BSONValue = ["a": 1]
        for _ in 0..<3000 { filter = [name: [filter]] }
        #expect(MQLText.code { _ = try FilterParser.parse(filter.document ?? [:]) } == 15)
    }

    @Test("refuses deep tests", arguments: ["$not", "$elemMatch"])
    func deepTests(name: String) {
        var test: BSONValue = ["$gt": 1]
        for _ in 0..<3000 { test = [name: test] }
        #expect(MQLText.code { _ = try FilterParser.parse(["a": test]) } == 15)
        var match: BSONValue = 1
        for _ in 0..<3000 { match = ["$elemMatch": ["a": match]] }
        #expect(MQLText.code { _ = try FilterParser.parse(["a": match]) } == 15)
    }

    @Test("refuses deep projections and updates")
    func deepOthers() {
        #expect(MQLText.code { _ = try ProjectionParser.parse(nested("a", 3000), inPipeline: false) } == 15)
        let update = BSONValue.document(["$set": .document(["a": .document(nested("b", 3000))])])
        #expect(
            MQLText.code {
                _ = try UpdateParser.parse(update, multi: true).apply(
                    to: ["_id": 1],
                    filter: .all,
                    isUpsertInsert: false,
                    MQLText.context
                )
            } == 15
        )
        let long = String(repeating: "a.", count: 100_000) + "a"
        #expect(MQLText.code { _ = try UpdateParser.parse(["$set": [long: 1]], multi: true) } == 15)
        #expect(MQLText.code { _ = try SortParser.parse([long: 1]) } == 15)
        #expect(MQLText.code { _ = try ProjectionParser.parse([long: 1], inPipeline: false) } == 15)
        #expect(
            MQLText.code { _ = try FilterParser.parse([long: 1]).matches(["a": 1], MQLText.context) } == nil
        )
        let upsert = MQLText.code {
            _ = try Update.replacement([:]).upsertDocument(
                filter: FilterParser.parse([long: 1]),
                MQLText.context
            ) { ObjectID(seconds: 0, unique: 0) }
            _ = try UpdateParser.parse(["$set": ["b": 1]], multi: true)
                .upsertDocument(filter: FilterParser.parse([long: 1]), MQLText.context) {
                    ObjectID(seconds: 0, unique: 0)
                }
        }
        #expect(upsert == 15)
    }

    /// Every operator with every kind of operand: an error or a result, never a trap.
    @Test("survives any operand of any operator")
    func operands() throws {
        let values: [BSONValue] = [
            .double(.nan), .double(.infinity), .double(-1e308), .double(1e19), -1, 0, 1, .int32(.max),
            .int32(.min), .int64(.max), .int64(.min),
            .decimal128(Decimal128(Int64.min)), "", "$", "$a", "a\0b", "$$ROOT", true, .null, .undefined,
            .minKey, .maxKey, [], [:], [[]], [.null], [1, 2], [.int64(.min), -1],
            ["$each": 1], ["$each": []], ["$gt": 1], ["$regex": "("], ["": 1], ["$slice": .int64(.min)],
            ["a": ["b": 1]], .date(.min), .binary(BSONBinary(subtype: 0, bytes: [255])),
            .regex(BSONRegularExpression(pattern: "(", options: "zz")),
            .objectID(ObjectID(seconds: 0, unique: 0)),
            .timestamp(BSONTimestamp(seconds: .max, increment: .max)),
            ["$each": [1], "$slice": .int64(.min), "$position": .int64(.min), "$sort": 1],
            [.int64(.min), .int64(.max)], ["and": .int64(.min)],
        ]
        let tests = [
            "$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$not", "$exists", "$type", "$mod",
            "$regex", "$options", "$all", "$elemMatch", "$size",
            "$bitsAllSet", "$bitsAnyClear", "$comment", "$where",
        ]
        let updates = [
            "$set", "$unset", "$inc", "$mul", "$min", "$max", "$rename", "$setOnInsert", "$currentDate",
            "$push", "$addToSet", "$pop", "$pull", "$pullAll", "$bit",
        ]
        var outcomes = 0
        var foreign = 0
        for operand in values {
            for stored in values {
                let document: BSONDocument = ["_id": 1, "a": stored, "b": [stored, stored]]
                for name in tests {
                    for path in ["b", "b.0", ""] {
                        let code = MQLText.code {
                            _ = try FilterParser.parse([path: [name: operand]]).matchReport(
                                document,
                                MQLText.context
                            )
                        }
                        if code == -1 { foreign += 1 }
                        outcomes += 1
                    }
                }
                for name in updates {
                    for path in ["a", "b.5", "b.$[]", "a.x", "_id"] {
                        let code = MQLText.code {
                            _ = try UpdateParser.parse([name: [path: operand]], multi: true).apply(
                                to: document,
                                filter: .all,
                                isUpsertInsert: true,
                                MQLText.context
                            )
                        }
                        if code == -1 { foreign += 1 }
                        outcomes += 1
                    }
                }
                let projected = MQLText.code {
                    _ = try ProjectionParser.parse(
                        ["b": operand, "a": ["$slice": stored]],
                        inPipeline: false
                    )?.apply(document, filter: nil, MQLText.context)
                }
                if projected == -1 { foreign += 1 }
                _ = MQLText.code { _ = try SortParser.parse(["b": operand]) }
            }
        }
        #expect(outcomes > 50_000)
        #expect(foreign == 0)
    }
}

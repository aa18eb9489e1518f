import BSON
import Errors
import MQL
import Testing

@Suite("Sort")
struct SortTests {
    @Test(
        "orders documents, arrays by their extreme element",
        arguments: [
            ("{a:1}", ["{a:2}", "{a:1}", "{}", "{a:'x'}", "{a:null}"], [2, 4, 1, 0, 3]),
            ("{a:-1}", ["{a:2}", "{a:1}", "{}", "{a:'x'}"], [3, 0, 1, 2]),
            ("{a:1}", ["{a:null}", "{a:[]}", "{a:{$minKey:1}}"], [2, 1, 0]),
            ("{a:1}", ["{a:[5,1]}", "{a:[2,9]}", "{a:3}"], [0, 1, 2]),
            ("{a:-1}", ["{a:[5,1]}", "{a:[2,9]}", "{a:7}"], [1, 2, 0]),
            ("{'a.b':1}", ["{a:[{b:5},{b:2}]}", "{a:{b:3}}", "{a:[{b:4},{c:1}]}"], [2, 0, 1]),
            ("{'a.1':1}", ["{a:[1,5]}", "{a:[9,2]}", "{a:[0]}"], [2, 1, 0]),
            ("{a:1,b:-1}", ["{a:1,b:1}", "{a:1,b:2}", "{a:0}"], [2, 1, 0]),
            ("{a:1}", ["{a:1}", "{a:1.0}", "{a:1}"], [0, 1, 2]),
            (
                "{a:1}", ["{a:{$numberDouble:'NaN'}}", "{a:{$numberDouble:'-Infinity'}}", "{a:null}"],
                [2, 0, 1]
            ),
        ]
    )
    func order(sort: String, documents: [String], expected: [Int]) throws {
        let sort = try SortParser.parse(MQLText.document(sort.json))
        let parsed = try documents.enumerated().map { index, text in
            var document = try MQLText.document(text.json)
            document["n"] = .int32(Int32(index))
            return document
        }
        #expect(sort.sorted(parsed).map { $0["n"] } == expected.map { .int32(Int32($0)) })
        for limit in 0...documents.count + 1 {
            #expect(
                sort.sorted(parsed, limit: limit).map { $0["n"] }
                    == expected.prefix(limit).map { .int32(Int32($0)) }
            )
        }
    }

    @Test("keeps the first of many, in the order of arrival when equal")
    func topDocuments() throws {
        let sort = try SortParser.parse(["a": 1])
        let documents: [BSONDocument] = (0..<5000).map {
            ["a": .int32(Int32($0 * 7919 % 100)), "n": .int32(Int32($0))]
        }
        let whole = sort.sorted(documents)
        #expect(sort.sorted(documents, limit: 37) == Array(whole.prefix(37)))
        for (first, second) in zip(whole, whole.dropFirst()) { #expect(sort.compare(first, second) <= 0) }
    }

    @Test(
        "refuses bad keys",
        arguments: [
            ("{a:'asc'}", 15974, "Illegal key in $sort specification: a: \"asc\""),
            ("{a:2}", 15975, "$sort key ordering must be 1 (for ascending) or -1 (for descending)"),
            ("{a:0}", 15975, "$sort"), ("{a:{b:1}}", 17312, "$meta is the only"),
            ("{a:true}", 15974, "Illegal key"), ("{'':1}", 40352, "FieldPath"),
            ("{'a.':1}", 40353, "FieldPath"), ("{'a..b':1}", 15998, "FieldPath"),
            ("{$a:1}", 16410, "FieldPath"), ("{a:{$meta:'textScore'}}", 40218, "query requires"),
            ("{a:{$meta:'randVal'}}", 2, "$meta"), ("{a:{$meta:'x'}}", 31138, "Illegal $meta"),
            ("{a:{$meta:'textScore',b:1}}", 9, "Cannot have"), ("{a:2.5}", 15975, "$sort"),
        ]
    )
    func refusals(text: String, code: Int, message: String) throws {
        let error = #expect(throws: ServiceError.self) { try SortParser.parse(MQLText.document(text.json)) }
        #expect(error?.serverCode?.number == code)
        #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
    }

    @Test("cuts doubles off and rounds decimals to a direction")
    func directions() throws {
        for (direction, ascending) in [
            ("1.9", true), ("-1.5", false), ("{$numberDecimal:'0.51'}", true),
            ("{$numberDecimal:'-1.49'}", false),
        ] {
            let sort = try SortParser.parse(MQLText.document("{a:\(direction)}".json))
            #expect(sort.keys.first?.ascending == ascending, "\(direction)")
        }
    }

    @Test("takes 32 keys and no more")
    func keyLimit() throws {
        func sort(_ count: Int) -> BSONDocument {
            BSONDocument((0..<count).map { .init(key: "k\($0)", value: 1) })
        }
        #expect(try SortParser.parse(sort(32)).keys.count == 32)
        #expect(MQLText.code { _ = try SortParser.parse(sort(33)) } == 13103)
        #expect(MQLText.code { _ = try SortParser.parse(["a": 1, "a": 1]) } == 7_472_500)
    }
}

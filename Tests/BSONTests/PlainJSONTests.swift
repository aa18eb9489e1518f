import BSON
import Testing

@Suite("Plain JSON and messages")
struct PlainJSONTests {
    static let id = ObjectID(hex: "5d505646cf6d4fe581014ab2") ?? ObjectID(seconds: 0, unique: 0)

    @Test(
        "writes each type as the Data API does",
        arguments: [
            (.double(10.5), "10.5"), (.double(10), "10"), (.double(-0.0), "0"), (.double(.nan), "null"),
            (.double(.infinity), "null"), (.double(1e20), "100000000000000000000"),
            (.double(1e21), "1e+21"), (.double(1.5e300), "1.5e+300"), (.double(1e-6), "0.000001"),
            (.double(1.5e-7), "1.5e-7"), (.double(-1e16), "-10000000000000000"),
            (10, "10"), (.int64(9_007_199_254_740_993), "9007199254740993"),
            (.decimal128(Decimal128("9823.1297") ?? Decimal128(0)), "\"9823.1297\""), ("x", "\"x\""),
            (.objectID(id), "\"5d505646cf6d4fe581014ab2\""),
            (.date(1_641_954_803_067), "\"2022-01-12T02:33:23.067Z\""),
            (.date(0), "\"1970-01-01T00:00:00.000Z\""),
            (.date(-62_135_596_800_000), "\"0001-01-01T00:00:00.000Z\""),
            (.date(253_402_300_800_000), "\"+010000-01-01T00:00:00.000Z\""), (true, "true"), (.null, "null"),
            (.binary(BSONBinary(subtype: 5, bytes: [255, 255])), "{\"Subtype\":5,\"Data\":\"//8=\"}"),
            (
                .regex(BSONRegularExpression(pattern: "^H", options: "i")),
                "{\"Pattern\":\"^H\",\"Options\":\"i\"}"
            ),
            (.timestamp(BSONTimestamp(seconds: 1_565_545_664, increment: 1)), "{\"T\":1565545664,\"I\":1}"),
            (.minKey, "{}"), (.maxKey, "{}"), (.undefined, "{}"), (.code("f"), "\"f\""),
            (
                .codeWithScope(BSONCodeWithScope(code: "f", scope: ["a": 1])),
                "{\"Code\":\"f\",\"Scope\":{\"a\":1}}"
            ), (.symbol("s"), "\"s\""),
            (
                .dbPointer(BSONDBPointer(namespace: "n", id: id)),
                "{\"DB\":\"n\",\"Pointer\":\"5d505646cf6d4fe581014ab2\"}"
            ),
            ("a\"\\/<\u{8}\t\n\u{C}\r\u{1}é", "\"a\\\"\\\\/<\\b\\t\\n\\f\\r\\u0001é\""),
            (["a": [1, [:]], "": [.null]], "{\"a\":[1,{}],\"\":[null]}"),
        ] as [(BSONValue, String)]
    )
    func types(value: BSONValue, expected: String) {
        #expect(PlainJSON.text(value) == expected)
    }

    @Test("survive the extremes of dates")
    func dates() throws {
        for milliseconds in [Int64.min, .max] {
            #expect(PlainJSON.text(.date(milliseconds)).utf8.count > 20)
            let text = ExtendedJSON.relaxed(.date(milliseconds))
            #expect(try ExtendedJSON.readValue(Array(text.utf8)) == .date(milliseconds))
        }
    }

    @Test("describe values as MongoDB's messages do")
    func describe() {
        let document: BSONDocument = [
            "_id": 1, "a": "x\"y", "d": 1.0, "o": .objectID(Self.id), "l": [1, [:]], "n": .null,
            "t": .date(5), "e": .array([]),
        ]
        #expect(
            MongoShellText.describe(document)
                == "{ _id: 1, a: \"x\\\"y\", d: 1.0, o: ObjectId('5d505646cf6d4fe581014ab2'), l: [ 1, {} ], n: null, t: new Date(5), e: [] }"
        )
        #expect(MongoShellText.describe(.string(String(repeating: "x", count: 1000))).utf8.count < 200)
        #expect(MongoShellText.describe(.array(Array(repeating: 1, count: 100_000))).utf8.count < 5000)
    }
}

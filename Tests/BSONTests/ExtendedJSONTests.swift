import BSON
import Errors
import Testing

@Suite("Extended JSON")
struct ExtendedJSONTests {
    /// Text, and where reading stops.
    static let malformedTexts: [(String, Int)] = [
        ("", 0), ("{", 1), ("{\"a\"", 4), ("{\"a\":", 5), ("{\"a\":1", 6), ("{\"a\":1,}", 7),
        ("{\"a\":1} x", 8), ("{a:1}", 1), ("{'a':1}", 1),
        ("{\"a\":01}", 5), ("{\"a\":+1}", 5), ("{\"a\":.5}", 5), ("{\"a\":1.}", 7), ("{\"a\":1e}", 7),
        ("{\"a\":-}", 6), ("{\"a\":1e400}", 5),
        ("{\"a\":-1e400}", 5), ("{\"a\":NaN}", 5), ("{\"a\":tru}", 5), ("{\"a\":\"x", 7),
        ("{\"a\":\"\n\"}", 6), ("{\"a\":\"\\x\"}", 6),
        ("{\"a\":\"\\u12\"}", 6), ("{\"a\":\"\\ud800\"}", 6), ("{\"a\":\"\\udc00\"}", 6),
        ("{\"a\":\"\\ud800\\u0041\"}", 6), ("{\"a\":1,\"a\":2}", 7),
        ("{\"a\":1,\"\\u0061\":2}", 7), ("{\"a\\u0000\":1}", 2), ("[1]", 0), ("1", 0), ("{\"a\":[1,]}", 8),
        ("{\"a\":[1 2]}", 8), ("{\"a\" 1}", 5),
        ("{\"a\":{\"$oid\":\"zz\"}}", 5), ("{\"a\":{\"$oid\":\"56e1fc72e0c917e9c4714161\",\"x\":1}}", 5),
        ("{\"a\":{\"$numberInt\":\"2147483648\"}}", 5),
        ("{\"a\":{\"$numberInt\":5}}", 5), ("{\"a\":{\"$numberLong\":\"9223372036854775808\"}}", 5),
        ("{\"a\":{\"$numberLong\":\"1.0\"}}", 5),
        ("{\"a\":{\"$numberDouble\":\"1e400\"}}", 5), ("{\"a\":{\"$numberDouble\":\"0x1\"}}", 5),
        ("{\"a\":{\"$numberDecimal\":\"x\"}}", 5),
        ("{\"a\":{\"$date\":\"2022-02-30T00:00:00Z\"}}", 5), ("{\"a\":{\"$date\":true}}", 5),
        ("{\"a\":{\"$undefined\":false}}", 5), ("{\"a\":{\"$minKey\":2}}", 5),
        ("{\"a\":{\"$timestamp\":{\"t\":-1,\"i\":1}}}", 5),
        ("{\"a\":{\"$binary\":{\"base64\":\"//8=\"}}}", 5),
        ("{\"a\":{\"$binary\":{\"base64\":\"/\",\"subType\":\"00\"}}}", 5),
        ("{\"a\":{\"$code\":\"x\",\"$scope\":1}}", 5),
        ("{\"a\":{\"$regularExpression\":{\"pattern\":\"a\\u0000\",\"options\":\"\"}}}", 5),
    ]

    @Test("refuses malformed text and says where", arguments: malformedTexts)
    func malformed(text: String, position: Int) {
        let error = #expect(throws: ServiceError.self) { try ExtendedJSON.readDocument(Array(text.utf8)) }
        #expect(error?.code == .invalidParameter)
        #expect(error?.details["position"] == String(position), "\(error?.message ?? "")")
        #expect(error?.message.contains("byte \(position)") == true)
    }

    @Test("refuses bytes that are not UTF-8 and says where")
    func invalidUTF8() {
        for (bytes, position) in [
            ([0x22, 0x61, 0xFF, 0x22], 2), ([0x22, 0xC3, 0x22], 1), ([0x22, 0xED, 0xA0, 0x80, 0x22], 1),
            ([0xFF], 0),
        ] as [([UInt8], Int)] {
            let error = #expect(throws: ServiceError.self) { try ExtendedJSON.readValue(bytes) }
            #expect(error?.details["position"] == String(position))
        }
    }

    @Test("refuses nesting past the limit, however deep, without a crash")
    func depth() throws {
        let deep = { (levels: Int) in
            String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        }
        let most = ReadLimits.standardDepth
        _ = try ExtendedJSON.readValue(Array(deep(most).utf8))
        for levels in [most + 1, 1_000_000] {
            let error = #expect(throws: ServiceError.self) {
                try ExtendedJSON.readValue(Array(deep(levels).utf8))
            }
            #expect(error?.details["position"] == String(most))
            #expect(error?.serverCode == .overflow)
        }
        let open = String(repeating: "{\"a\":", count: 500_000)
        #expect(throws: ServiceError.self) { try ExtendedJSON.readDocument(Array(open.utf8)) }
    }

    @Test("finds a duplicate among very many keys in linear time", .timeLimit(.minutes(10)))
    func wide() throws {
        let keys = (0..<100_000).map { "\"k\($0)\":1" }.joined(separator: ",")
        #expect(try ExtendedJSON.document("{\(keys)}").count == 100_000)
        #expect(throws: ServiceError.self) { try ExtendedJSON.document("{\(keys),\"k77\":2}") }
    }

    @Test("keeps keys apart that are only canonically equivalent")
    func canonicallyEquivalent() throws {
        let document = try ExtendedJSON.document("{\"é\":1,\"e\u{301}\":2}")
        #expect(document["é"] == 1)
        #expect(document["e\u{301}"] == 2)
    }

    @Test(
        "gives relaxed numbers the smallest type that holds them",
        arguments: [
            ("1", .int32(1)), ("-0", .int32(0)), ("2147483648", .int64(2_147_483_648)),
            ("9223372036854775807", .int64(.max)),
            ("-9223372036854775808", .int64(.min)), ("9223372036854775808", .double(0x1p63)),
            ("1.0", .double(1)), ("1e2", .double(100)), ("-0.0", .double(-0.0)),
            ("0.1", .double(0.1)), ("1e-400", .double(0)),
            ("123456789012345678901234567890", .double(1.2345678901234568e29)),
        ] as [(String, BSONValue)]
    )
    func numbers(text: String, expected: BSONValue) throws {
        #expect(try ExtendedJSON.readValue(Array(text.utf8)) == expected)
    }

    @Test(
        "reads relaxed, canonical and legacy forms alike",
        arguments: [
            (#"{"$date":"2022-01-12T02:33:23.067Z"}"#, .date(1_641_954_803_067)),
            (#"{"$date":"2022-01-12T03:33:23.067+01:00"}"#, .date(1_641_954_803_067)),
            (#"{"$date":{"$numberLong":"1641954803067"}}"#, .date(1_641_954_803_067)),
            (#"{"$date":1641954803067}"#, .date(1_641_954_803_067)),
            (#"{"$date":"1969-12-31T23:59:59.999Z"}"#, .date(-1)),
            (#"{"$date":"2012-12-24T12:15:30Z"}"#, .date(1_356_351_330_000)),
            (#"{"$binary":"//8=","$type":"00"}"#, .binary(BSONBinary(subtype: 0, bytes: [255, 255]))),
            (#"{"$type":"00","$binary":"//8="}"#, .binary(BSONBinary(subtype: 0, bytes: [255, 255]))),
            (#"{"$regex":"^H","$options":"i"}"#, ["$regex": "^H", "$options": "i"]),
            (#"{"$regex":"^H"}"#, ["$regex": "^H"]), (#"{"$type":"string"}"#, ["$type": "string"]),
            (#"{"x":1,"$oid":"no"}"#, ["x": 1, "$oid": "no"]), (#"{"$gt":5}"#, ["$gt": 5]),
            (#""\ud83d\ude00""#, "😀"),
        ] as [(String, BSONValue)]
    )
    func forms(text: String, expected: BSONValue) throws {
        #expect(try ExtendedJSON.readValue(Array(text.utf8)) == expected)
    }

    @Test("honours the limits of its caller")
    func limits() {
        #expect(throws: ServiceError.self) {
            try ExtendedJSON.readValue(Array("[1,2,3]".utf8), limits: ReadLimits(nodes: 3))
        }
        #expect(throws: ServiceError.self) {
            try ExtendedJSON.readValue(Array(#"{"abc":1}"#.utf8), limits: ReadLimits(keyBytes: 2))
        }
    }
}

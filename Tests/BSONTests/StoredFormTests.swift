import BSON
import Errors
import Testing

@Suite("Stored form")
struct StoredFormTests {
    @Test(
        "writes numbers as numbers and the rest as wrappers",
        arguments: [
            (5, "5"), (.int64(5), "5.000"), (.int64(5_000_000_000), "5000000000"), (.double(5), "5.0"),
            (.double(0.1), "0.1"), (.double(-0.0), "{\"$numberDouble\":\"-0.0\"}"),
            (.double(0x1p60), "1152921504606846976.0"),
            (.double(1e23), "1" + String(repeating: "0", count: 23) + ".0"), (.double(1e-7), "0.0000001"),
            (.double(.nan), "{\"$numberDouble\":\"NaN\"}"),
            (.decimal128(Decimal128("1.10") ?? Decimal128(0)), "{\"$numberDecimal\":\"1.10\"}"),
            (.date(1_700_098_765_431), "{\"$date\":1700098765431}"),
            (
                .binary(BSONBinary(subtype: 4, bytes: Array(0..<16))),
                "{\"$uuid\":\"00010203-0405-0607-0809-0a0b0c0d0e0f\"}"
            ),
            (
                .binary(BSONBinary(subtype: 4, bytes: [1])),
                "{\"$binary\":{\"base64\":\"AQ==\",\"subType\":\"04\"}}"
            ), (["$oid": 1], "{\"$document\":{\"$oid\":1}}"), (["$set": 1], "{\"$set\":1}"),
            (["$document": 1, "x": 1], "{\"$document\":{\"$document\":1,\"x\":1}}"),
        ] as [(BSONValue, String)]
    )
    func text(value: BSONValue, expected: String) throws {
        #expect(try StoredForm.text(value) == expected)
        #expect(try StoredForm.readValue(Array(expected.utf8)) == value)
    }

    @Test(
        "reads what an administrator writes by hand",
        arguments: [
            ("7.50", .double(7.5)), ("6.000", .int64(6)), ("5000000005.000", .int64(5_000_000_005)),
            ("2.0000000000000000", .double(2)), ("9223372036854775808", .double(0x1p63)),
            ("{\"$date\": {\"$numberLong\": \"5\"}}", .date(5)),
            ("{\"$date\": \"1970-01-01T00:00:00.005Z\"}", .date(5)), ("{\"$numberLong\": \"5\"}", .int64(5)),
            ("{\"$oid\": \"no id\"}", ["$oid": "no id"]), ("{\"$date\": true}", ["$date": true]),
            ("[1, {\"$minKey\": 1}]", [1, .minKey]),
        ] as [(String, BSONValue)]
    )
    func byHand(text: String, expected: BSONValue) throws {
        #expect(try StoredForm.readValue(Array(text.utf8)) == expected)
        let row = Array("{\"v\": \(text)}".utf8)
        for form in [StoredForm.OutputForm.plain, .canonical] {
            var out: [UInt8] = []
            try StoredForm.transcode(row[...], shape: nil, to: form, into: &out)
            let wanted =
                form == .plain ? PlainJSON.text(["v": expected]) : ExtendedJSON.canonical(["v": expected])
            #expect(String(decoding: out, as: UTF8.self) == wanted)
        }
    }

    @Test(
        "refuses a NUL character and says in which field it is",
        arguments: [
            ("a\u{0}", nil), (["k\u{0}": 1], "k\u{FFFD}"), ([["a": "\u{0}"]], "0.a"), (.code("\u{0}"), nil),
            (.symbol("\u{0}"), nil), (["r": .regex(BSONRegularExpression(pattern: "\u{0}"))], "r"),
            (["n": "x", "a": ["b": ["x", 2, "\u{0}"]], "z": "\u{0}"], "a.b.2"),
            (["c": .codeWithScope(BSONCodeWithScope(code: "f", scope: ["s": "\u{0}"]))], "c.s"),
            (["d": .dbPointer(BSONDBPointer(namespace: "\u{0}", id: ObjectID(seconds: 7, unique: 7)))], "d"),
        ] as [(BSONValue, String?)]
    )
    func refusesNUL(value: BSONValue, field: String?) {
        let error = #expect(throws: ServiceError.self) { try StoredForm.text(value) }
        #expect(error?.code == .invalidParameter)
        let place = field.map { " (field '\($0)')" } ?? ""
        #expect(error?.message == "a string with a NUL character (U+0000) cannot be stored" + place)
        guard case .document(let document) = value else { return }
        var out: [UInt8] = []
        let again = #expect(throws: ServiceError.self) { try StoredForm.write(document, to: &out) }
        #expect(again?.message == error?.message)
    }

    @Test(
        "refuses text that is no document",
        arguments: ["", "1", "[]", "{", "{\"a\"}", "{\"a\":1", "{\"a\":1}x", "{\"a\":\"x"]
    )
    func malformed(text: String) {
        #expect(throws: ServiceError.self) { try StoredForm.read(Array(text.utf8), shape: nil) }
        #expect(throws: ServiceError.self) {
            var out: [UInt8] = []
            try StoredForm.transcode(Array(text.utf8)[...], shape: nil, to: .plain, into: &out)
        }
    }

    @Test("puts known keys in the shape's order and the others behind")
    func order() throws {
        let row = Array(#"{"a": 1, "b": {"x": 1, "yy": 2}, "_id": 7, "zzz": 3, "extra": 4}"#.utf8)
        let shape = try DocumentShape(text: #"["zzz",["b",["yy","x"]],"_id","unused","a"]"#)
        #expect(try StoredForm.read(row, shape: shape).keys == ["zzz", "b", "_id", "a", "extra"])
        #expect(try StoredForm.read(row, shape: nil).keys == ["_id", "a", "b", "zzz", "extra"])
        var out: [UInt8] = []
        try StoredForm.transcode(row[...], shape: shape, to: .plain, into: &out)
        #expect(
            String(decoding: out, as: UTF8.self) == #"{"zzz":3,"b":{"yy":2,"x":1},"_id":7,"a":1,"extra":4}"#
        )
    }
}

import BSON
import Errors
import MQL
import Testing

/// Source: `reference/mql.md` §9, row "type"; MongoDB manual, `$convert`.
@Suite("Type conversion")
struct ConversionTests {
    @Test("gives MongoDB's value and type", arguments: bytesToText + textToBytes + numbers + texts + dates)
    func value(_ example: ExpressionCase) throws {
        let value = try example.evaluate()
        let expected = try example.expected.map { try ExtendedJSON.readValue(Array($0.utf8)) }
        #expect(value.map { ExtendedJSON.canonical($0) } == expected.map { ExtendedJSON.canonical($0) })
    }

    @Test("refuses with MongoDB's code", arguments: refusals)
    func refusal(_ example: ExpressionCase, _ code: Int) throws {
        let error = #expect(throws: ServiceError.self) { try example.evaluate() }
        #expect(error?.serverCode?.number == code)
    }

    /// `$convert` of `$b` to a text in a format.
    private static func text(_ binary: String, _ format: String, _ expected: String) -> ExpressionCase {
        ExpressionCase(
            #"{"$convert": {"input": "$b", "to": "string", "format": "\#(format)"}}"#,
            #"{"b": \#(binary)}"#,
            #""\#(expected)""#
        )
    }

    /// `$convert` of a value with the further members given.
    private static func convert(_ input: String, _ members: String, _ expected: String?) -> ExpressionCase {
        ExpressionCase(#"{"$convert": {"input": "$v", \#(members)}}"#, #"{"v": \#(input)}"#, expected)
    }

    private static func binary(_ base64: String, _ subtype: String = "00") -> String {
        #"{"$binary": {"base64": "\#(base64)", "subType": "\#(subtype)"}}"#
    }

    private static let uuid = binary("ABEiM0RVZneImaq7zN3u/w==", "04")
    private static let uuidText = "00112233-4455-6677-8899-aabbccddeeff"

    static let bytesToText = [
        text(binary("++//"), "base64", "++//"), text(binary("++//"), "base64url", "--__"),
        text(binary("+w=="), "base64url", "-w"), text(binary("++//"), "hex", "FBEFFF"),
        text(binary("w6k="), "utf8", "é"), text(uuid, "uuid", uuidText), text(uuid, "auto", uuidText),
        text(binary("++//"), "auto", "++//"), text(binary(""), "hex", ""),
        // The old subtype 2 carries its length.
        text(binary("AQ==", "02"), "hex", "0100000001"),
        ExpressionCase(#"{"$toString": "$b"}"#, #"{"b": \#(uuid)}"#, #""\#(uuidText)""#),
    ]

    static let textToBytes = [
        convert(#""++//""#, #""to": "binData", "format": "base64""#, binary("++//")),
        convert(#""--__""#, #""to": "binData", "format": "base64url""#, binary("++//")),
        convert(
            #""fbEFff""#,
            #""to": {"type": "binData", "subtype": 5}, "format": "hex""#,
            binary("++//", "05")
        ),
        convert(#""é""#, #""to": "binData", "format": "utf8""#, binary("w6k=")),
        convert(#""\#(uuidText)""#, #""to": {"type": "binData", "subtype": 4}, "format": "uuid""#, uuid),
        convert(uuid, #""to": {"type": "binData", "subtype": 4}"#, uuid),
        ExpressionCase(#"{"$toUUID": "\#(uuidText)"}"#, uuid),
        convert("5", #""to": "binData""#, binary("BQAAAA==")),
        convert("5", #""to": "binData", "byteOrder": "big""#, binary("AAAABQ==")),
        convert("1.0", #""to": "binData""#, binary("AAAAAAAA8D8=")),
        convert(#""+""#, #""to": "binData", "format": "base64", "onError": 7"#, "7"),
    ]

    static let numbers = [
        convert(binary("BQ=="), #""to": "int""#, "5"), convert(binary("/w=="), #""to": "int""#, "-1"),
        convert(binary("AAE="), #""to": "int""#, "256"),
        convert(binary("AAE="), #""to": "int", "byteOrder": "big""#, "1"),
        convert(binary("/////////38="), #""to": "long""#, #"{"$numberLong": "9223372036854775807"}"#),
        convert(binary("AAAAAAAA8D8="), #""to": "double""#, "1.0"),
        convert(binary("AAAAPw=="), #""to": "double""#, "0.5"),
        convert("1", #""to": "int", "onError": "$v""#, "1"),
        ExpressionCase(#"{"$toDouble": "-0x1A"}"#, "-26.0"),
        ExpressionCase(#"{"$toDouble": "0e-400"}"#, "0.0"),
        ExpressionCase(#"{"$toDouble": "-infinity"}"#, #"{"$numberDouble": "-Infinity"}"#),
        ExpressionCase(#"{"$ceil": {"$numberDecimal": "1.2"}}"#, #"{"$numberDecimal": "2"}"#),
        ExpressionCase(#"{"$ceil": {"$numberDecimal": "-0.5"}}"#, #"{"$numberDecimal": "-0"}"#),
        ExpressionCase(#"{"$floor": {"$numberDecimal": "12E+1"}}"#, #"{"$numberDecimal": "120"}"#),
        ExpressionCase(#"{"$ceil": {"$numberDecimal": "Infinity"}}"#, #"{"$numberDecimal": "NaN"}"#),
        ExpressionCase(#"{"$floor": {"$numberDecimal": "1E+40"}}"#, #"{"$numberDecimal": "NaN"}"#),
    ]

    static let texts = [
        ExpressionCase(#"{"$toString": 9007199254740993.0}"#, #""9007199254740992""#),
        ExpressionCase(#"{"$toString": 1e16}"#, #""1e+16""#),
        // The text operators of old read a double at six digits.
        ExpressionCase(#"{"$toLower": 1000000.0}"#, #""1e+06""#),
        ExpressionCase(#"{"$toUpper": 1e-7}"#, #""1E-07""#),
        ExpressionCase(#"{"$substrCP": [3.14159265, 0, 9]}"#, #""3.14159""#),
        ExpressionCase(#"{"$toLower": {"$numberDouble": "NaN"}}"#, #""nan""#),
        ExpressionCase(
            #"{"$substrBytes": ["$t", 0, 20]}"#,
            #"{"t": {"$timestamp": {"t": 172800, "i": 9}}}"#,
            #""Jan  3 00:00:00:9""#
        ),
    ]

    private static func date(_ text: String, _ iso: String) -> ExpressionCase {
        ExpressionCase(#"{"$toDate": "\#(text)"}"#, #"{"$date": "\#(iso)"}"#)
    }

    static let dates = [
        date(#" 2024-06-15T12:30:45Z\t\n"#, "2024-06-15T12:30:45Z"),
        date("\u{A0}2024-06-15T12:30:45Z", "2024-06-15T12:30:45Z"),
        date("Saturday, June 15 2024 12:30:45", "2024-06-15T12:30:45Z"),
    ]

    static let refusals: [(ExpressionCase, Int)] = [
        (convert(binary("AQ=="), #""to": "string""#, nil), 4_341_115),
        (convert(#""AQ==""#, #""to": "binData""#, nil), 4_341_115),
        (convert(binary("/w=="), #""to": "string", "format": "utf8""#, nil), 241),
        (convert(binary("/w=="), #""to": "string", "format": "uuid""#, nil), 241),
        (convert(binary("AQ=="), #""to": "string", "format": 1"#, nil), 4_341_114),
        (convert(binary("AQ=="), #""to": "string", "format": "base32""#, nil), 4_341_125),
        (convert("1", #""to": "binData", "byteOrder": 1"#, nil), 9_130_001),
        (convert("1", #""to": "binData", "byteOrder": "middle""#, nil), 9_130_002),
        (convert("1", #""to": {"type": "binData", "subtype": 1.5}"#, nil), 4_341_106),
        (convert("1", #""to": {"type": "binData", "subtype": 77}"#, nil), 4_341_107),
        (convert("1", #""to": {"type": "binData", "subtype": "x"}"#, nil), 4_341_108),
        (convert(#""abc""#, #""to": "binData", "format": "hex""#, nil), 241),
        (convert(binary("AQ=="), #""to": {"type": "binData", "subtype": 4}"#, nil), 241),
        (convert(binary("AQID"), #""to": "int""#, nil), 241),
        (convert(binary("AQ==", "02"), #""to": "int""#, nil), 241),
        (convert("true", #""to": "binData""#, nil), 241),
        (convert("1", #""to": "int", "onError": {"$divide": [1, 0]}"#, nil), 2),
        (ExpressionCase(#"{"$toDouble": "1e-400"}"#, nil), 241),
        (ExpressionCase(#"{"$toDouble": "0x1A"}"#, nil), 241),
        (ExpressionCase(#"{"$toDecimal": "1E+7000"}"#, nil), 241),
        (ExpressionCase(#"{"$toDate": "June 15"}"#, nil), 241),
        (ExpressionCase(#""$$a-b""#, nil), 9), (ExpressionCase(#""$$$""#, nil), 9),
        (
            ExpressionCase(
                #"{"$dateTrunc": {"date": {"$toDate": 0.0}, "unit": "year", "binSize": {"$numberLong": "1000000000000"}}}"#,
                nil
            ), 5_439_006
        ),
        (
            ExpressionCase(
                #"{"$regexMatch": {"input": "", "regex": "\#(String(repeating: "a", count: 16_385))"}}"#,
                nil
            ), 51111
        ),
    ]

    @Test("refuses texts of 16 MiB, written or made")
    func longTexts() throws {
        let text = BSONValue.string(String(repeating: "a", count: 16 << 20))
        let error = #expect(throws: ServiceError.self) { try ExpressionParser.parse(text) }
        #expect(error?.serverCode?.number == 16493)
    }
}

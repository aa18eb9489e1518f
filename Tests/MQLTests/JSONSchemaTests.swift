import BSON
import Errors
import MQL
import Testing

/// Source: `reference/mql.md` §3.1; MongoDB manual, `$jsonSchema`.
@Suite("$jsonSchema")
struct JSONSchemaTests {
    /// A schema and documents: those that fit, and those that do not.
    struct Example: CustomTestStringConvertible, Sendable {
        let schema: String
        let fitting: [String]
        let others: [String]

        var testDescription: String { schema }
    }

    private static func field(_ schema: String, _ fitting: [String], not others: [String] = []) -> Example {
        Example(
            schema: #"{"properties": {"f": \#(schema)}}"#,
            fitting: fitting.map { #"{"f": \#($0)}"# },
            others: others.map { #"{"f": \#($0)}"# }
        )
    }

    static let values: [Example] = [
        field(#"{"bsonType": "int"}"#, ["1"], not: ["1.5", #"{"$numberLong": "1"}"#, "null", "[1]"]),
        field(
            #"{"bsonType": ["number", "null"]}"#,
            ["1", "1.5", #"{"$numberDecimal": "1"}"#, "null"],
            not: [#""1""#]
        ),
        field(#"{"type": "boolean"}"#, ["true"], not: ["0"]),
        field(#"{"type": "object"}"#, ["{}"], not: ["[]"]),
        field(#"{"enum": [1, {"a": 1, "b": 2}]}"#, ["1.0", #"{"b": 2, "a": 1}"#], not: ["2", #"{"a": 1}"#]),
        field(
            #"{"minimum": 2, "maximum": 4, "exclusiveMaximum": true}"#,
            ["2", "3.9", #""9""#],
            not: ["4", "1"]
        ),
        field(#"{"minimum": 0}"#, ["0"], not: [#"{"$numberDouble": "NaN"}"#]),
        field(
            #"{"multipleOf": 0.1}"#,
            ["0.3", "-1", "[]"],
            not: ["0.35", #"{"$numberDouble": "Infinity"}"#]
        ),
        field(#"{"minLength": 2, "maxLength": 3}"#, [#""éé""#, "1"], not: [#""é""#, #""four""#]),
        field(#"{"minLength": 3, "maxLength": 2}"#, ["1"], not: [#""ab""#, #""abc""#]),
        field(#"{"pattern": "^a.c"}"#, [#""abcd""#, "1"], not: [#""bc""#]),
        field(#"{"minItems": 1, "uniqueItems": true}"#, ["[0, false]", "{}"], not: ["[]", "[1, 1.0]"]),
        field(#"{"items": {"bsonType": "int"}}"#, ["[1]", "[]", "1"], not: [#"[1, "x"]"#]),
        field(
            #"{"items": [{"bsonType": "int"}], "additionalItems": {"bsonType": "string"}}"#,
            [#"[1, "x"]"#, "[]"],
            not: ["[1, 2]", #"["x"]"#]
        ),
        field(#"{"items": [{}], "additionalItems": false}"#, ["[1]"], not: ["[1, 2]"]),
        field(#"{"not": {"bsonType": "int"}}"#, [#""x""#], not: ["1"]),
        field(#"{"oneOf": [{"multipleOf": 3}, {"multipleOf": 5}]}"#, ["3", "5"], not: ["15", "7"]),
        field(#"{"anyOf": [{"minimum": 5}, {"maximum": 1}]}"#, ["9", "0"], not: ["3"]),
        field(#"{"allOf": [{"minimum": 5}, {"maximum": 7}]}"#, ["6"], not: ["3", "8"]),
    ]

    static let objects: [Example] = [
        Example(schema: "{}", fitting: ["{}"], others: []),
        Example(schema: #"{"bsonType": "array"}"#, fitting: [], others: [#"{"a": []}"#]),
        Example(
            schema: #"{"required": ["a", "b"]}"#,
            fitting: [#"{"b": null, "a": 1}"#],
            others: [#"{"a": 1}"#]
        ),
        Example(
            schema: #"{"minProperties": 1, "maxProperties": 2}"#,
            fitting: [#"{"a": 1}"#],
            others: ["{}", #"{"a": 1, "b": 1, "c": 1}"#]
        ),
        Example(
            schema:
                #"{"properties": {"a": {}}, "patternProperties": {"^s_": {"bsonType": "string"}}, "additionalProperties": false}"#,
            fitting: [#"{"a": 1, "s_b": "x"}"#],
            others: [#"{"s_b": 1}"#, #"{"c": 1}"#]
        ),
        Example(
            schema: #"{"additionalProperties": {"bsonType": "int"}}"#,
            fitting: [#"{"a": 1}"#],
            others: [#"{"a": "x"}"#]
        ),
        Example(
            schema: #"{"dependencies": {"a": ["b"], "c": {"properties": {"d": {"minimum": 0}}}}}"#,
            fitting: [#"{"a": 1, "b": 1}"#, #"{"d": -1}"#, #"{"c": 1, "d": 1}"#],
            others: [#"{"a": 1}"#, #"{"c": 1, "d": -1}"#]
        ),
        Example(
            schema:
                #"{"title": "t", "description": "d", "properties": {"a": {"properties": {"b": {"bsonType": "int"}}}}}"#,
            fitting: [#"{"a": {"b": 1}}"#, #"{"a": 1}"#],
            others: [#"{"a": {"b": "x"}}"#]
        ),
    ]

    @Test("finds the documents that fit", arguments: values + objects)
    func matching(_ example: Example) throws {
        let filter = try FilterParser.parse(ExtendedJSON.document(#"{"$jsonSchema": \#(example.schema)}"#))
        for (texts, expected) in [(example.fitting, true), (example.others, false)] {
            for text in texts {
                let matches = try filter.matches(ExtendedJSON.document(text), EvaluationContext(now: 0))
                #expect(matches == expected, "\(text)")
            }
        }
    }

    static let refusals: [(String, Int)] = [
        ("1", 14), (#"{"unknown": 1}"#, 9), (#"{"$ref": "x"}"#, 9), (#"{"type": "integer"}"#, 9),
        (#"{"type": "int"}"#, 2), (#"{"bsonType": "nothing"}"#, 2), (#"{"bsonType": 1}"#, 14),
        (#"{"bsonType": []}"#, 9), (#"{"bsonType": ["int", "int"]}"#, 9),
        (#"{"bsonType": "int", "type": "string"}"#, 9), (#"{"enum": []}"#, 9), (#"{"enum": [1, 1.0]}"#, 9),
        (#"{"required": [1]}"#, 14), (#"{"required": []}"#, 9), (#"{"required": ["a", "a"]}"#, 9),
        (#"{"minimum": "1"}"#, 14), (#"{"exclusiveMinimum": true}"#, 9), (#"{"multipleOf": 0}"#, 9),
        (#"{"minLength": -1}"#, 9), (#"{"maxItems": 1.5}"#, 9), (#"{"pattern": "["}"#, 51091),
        (#"{"patternProperties": {"[": {}}}"#, 2), (#"{"items": 1}"#, 14), (#"{"items": [1]}"#, 14),
        (#"{"dependencies": {"a": []}}"#, 9), (#"{"allOf": {}}"#, 14), (#"{"allOf": []}"#, 2),
        (#"{"not": 1}"#, 14),
        (#"{"title": 1}"#, 14), (#"{"additionalProperties": 1}"#, 14), (#"{"uniqueItems": 1}"#, 14),
    ]

    @Test("refuses with MongoDB's code", arguments: refusals)
    func refusal(_ schema: String, _ code: Int) {
        let error = #expect(throws: ServiceError.self) {
            try FilterParser.parse(ExtendedJSON.document(#"{"$jsonSchema": \#(schema)}"#))
        }
        #expect(error?.serverCode?.number == code)
    }

    @Test("is not for application users")
    func restricted() throws {
        let document = try ExtendedJSON.document(#"{"$jsonSchema": {}}"#)
        let error = #expect(throws: ServiceError.self) {
            try FilterParser.parse(document, allowsUserRestrictedOperators: false)
        }
        #expect(error?.code == .invalidParameter)
    }

    @Test("bounds the nesting of schemas")
    func depth() throws {
        var schema = BSONDocument()
        for _ in 0..<150 {
            var outer = BSONDocument()
            outer.append("not", .document(schema))
            schema = outer
        }
        let error = #expect(throws: ServiceError.self) {
            try FilterParser.parse(["$jsonSchema": .document(schema)])
        }
        #expect(error?.serverCode?.number == 15)
    }
}

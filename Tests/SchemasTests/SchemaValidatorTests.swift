import BSON
import Schemas
import Testing

@Suite("Schema validator")
struct SchemaValidatorTests {
    /// Schema of the field `a`, document, what is violated.
    static let cases: [(String, String, [String])] = [
        (#"{"bsonType": "string"}"#, #"{"a": "x"}"#, []),
        (#"{"bsonType": "string"}"#, #"{"a": 1}"#, ["(root).a invalid_type"]),
        (#"{"bsonType": "string"}"#, "{}", []),
        (#"{"bsonType": ["string", "int"]}"#, #"{"a": 1}"#, []),
        (#"{"type": "number"}"#, #"{"a": {"$numberDecimal": "1"}}"#, []),
        (#"{"type": "boolean"}"#, #"{"a": 1}"#, ["(root).a invalid_type"]),
        (#"{"bsonType": "long"}"#, #"{"a": 5}"#, []),
        (#"{"bsonType": "int"}"#, #"{"a": {"$numberLong": "5"}}"#, ["(root).a invalid_type"]),
        (#"{"bsonType": "double"}"#, #"{"a": 5}"#, []),
        (
            #"{"bsonType": "double"}"#, #"{"a": {"$numberLong": "9007199254740993"}}"#,
            ["(root).a invalid_type"]
        ),
        (
            #"{"bsonType": "double"}"#, #"{"a": {"$numberLong": "9223372036854775807"}}"#,
            ["(root).a invalid_type"]
        ),
        (
            #"{"bsonType": "uuid"}"#,
            #"{"a": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}}"#, []
        ),
        (
            #"{"bsonType": "uuid"}"#, #"{"a": {"$binary": {"base64": "AAAA", "subType": "00"}}}"#,
            ["(root).a invalid_type"]
        ),
        (#"{"bsonType": "mixed"}"#, #"{"a": null}"#, []),
        (#"{"enum": [1, "x", null]}"#, #"{"a": 1.0}"#, []),
        (#"{"enum": [1, "x"]}"#, #"{"a": "y"}"#, ["(root).a enum"]),
        (#"{"minimum": 3}"#, #"{"a": 3}"#, []),
        (#"{"minimum": 3}"#, #"{"a": 2.5}"#, ["(root).a number_gte"]),
        (#"{"minimum": 3, "exclusiveMinimum": true}"#, #"{"a": 3}"#, ["(root).a number_gt"]),
        (#"{"maximum": 3}"#, #"{"a": {"$numberDecimal": "3.0000000001"}}"#, ["(root).a number_lte"]),
        (#"{"maximum": 3, "exclusiveMaximum": true}"#, #"{"a": 3}"#, ["(root).a number_lt"]),
        (#"{"maximum": 3}"#, #"{"a": {"$numberDouble": "NaN"}}"#, ["(root).a number_lte"]),
        (#"{"minimum": 3}"#, #"{"a": "text"}"#, []),
        (#"{"multipleOf": 3}"#, #"{"a": 9}"#, []),
        (#"{"multipleOf": 3}"#, #"{"a": 10}"#, ["(root).a multiple_of"]),
        (#"{"multipleOf": 0.1}"#, #"{"a": 0.3}"#, []),
        (#"{"multipleOf": 0.1}"#, #"{"a": 0.35}"#, ["(root).a multiple_of"]),
        (#"{"minLength": 2}"#, #"{"a": "é"}"#, ["(root).a string_gte"]),
        (#"{"maxLength": 1}"#, #"{"a": "👍"}"#, []),
        (#"{"maxLength": 1}"#, #"{"a": "ab"}"#, ["(root).a string_lte"]),
        (#"{"pattern": "^a+$"}"#, #"{"a": "aaa"}"#, []),
        (#"{"pattern": "^a+$"}"#, #"{"a": "ab"}"#, ["(root).a pattern"]),
        (#"{"minItems": 1}"#, #"{"a": []}"#, ["(root).a array_min_items"]),
        (#"{"maxItems": 1}"#, #"{"a": [1, 2]}"#, ["(root).a array_max_items"]),
        (#"{"uniqueItems": true}"#, #"{"a": [1, 1.0]}"#, ["(root).a unique"]),
        (#"{"uniqueItems": true}"#, #"{"a": [1, "1"]}"#, []),
        (#"{"items": {"bsonType": "int"}}"#, #"{"a": [1, "x", 2]}"#, ["(root).a.1 invalid_type"]),
        (
            #"{"items": [{"bsonType": "int"}], "additionalItems": false}"#, #"{"a": [1, 2]}"#,
            ["(root).a array_no_additional_items"]
        ),
        (
            #"{"items": [{"bsonType": "int"}], "additionalItems": {"bsonType": "string"}}"#,
            #"{"a": [1, 2]}"#, ["(root).a.1 invalid_type"]
        ),
        (#"{"bsonType": "object", "required": ["x"]}"#, #"{"a": {}}"#, ["(root).a.x required"]),
        (
            #"{"bsonType": "object", "properties": {"x": {"bsonType": "int"}}}"#, #"{"a": {"x": "1"}}"#,
            ["(root).a.x invalid_type"]
        ),
        (#"{"minProperties": 1}"#, #"{"a": {}}"#, ["(root).a array_min_properties"]),
        (#"{"maxProperties": 1}"#, #"{"a": {"x": 1, "y": 1}}"#, ["(root).a array_max_properties"]),
        (
            #"{"properties": {"x": {}}, "additionalProperties": false}"#, #"{"a": {"x": 1, "y": 1}}"#,
            ["(root).a.y additional_property_not_allowed"]
        ),
        (
            #"{"additionalProperties": {"bsonType": "int"}}"#, #"{"a": {"x": 1, "y": "1"}}"#,
            ["(root).a.y invalid_type"]
        ),
        (
            #"{"patternProperties": {"^n": {"bsonType": "int"}}, "additionalProperties": false}"#,
            #"{"a": {"n1": 1, "n2": "1", "m": 1}}"#,
            ["(root).a.n2 invalid_type", "(root).a.m additional_property_not_allowed"]
        ),
        (#"{"dependencies": {"x": ["y"]}}"#, #"{"a": {"x": 1}}"#, ["(root).a.y missing_dependency"]),
        (#"{"dependencies": {"x": {"required": ["z"]}}}"#, #"{"a": {"x": 1}}"#, ["(root).a.z required"]),
        (#"{"dependencies": {"x": ["y"]}}"#, #"{"a": {"y": 1}}"#, []),
        (
            #"{"anyOf": [{"bsonType": "int"}, {"bsonType": "string"}]}"#, #"{"a": true}"#,
            ["(root).a number_any_of"]
        ),
        (#"{"oneOf": [{"minimum": 1}, {"minimum": 2}]}"#, #"{"a": 3}"#, ["(root).a number_one_of"]),
        (#"{"allOf": [{"minimum": 1}, {"minimum": 5}]}"#, #"{"a": 3}"#, ["(root).a number_all_of"]),
        (#"{"not": {"bsonType": "string"}}"#, #"{"a": "x"}"#, ["(root).a number_not"]),
    ]

    @Test("finds exactly what is violated", arguments: cases)
    func finds(node: String, document: String, expected: [String]) throws {
        let schema = try SchemaParser.parse(json("{\"properties\": {\"a\": \(node)}}"))
        let violations = schema.violations(json(document))
        #expect(violations.map { "\($0.path) \($0.code.rawValue)" } == expected)
    }

    @Test(
        "takes null as the setting says",
        arguments: [
            // bsonType of the field, required, setting, passes
            (#""string""#, false, false, false), (#""string""#, false, true, true),
            (#""string""#, true, false, false), (#""string""#, true, true, false),
            (#"["string", "null"]"#, false, false, true), (#"["string", "null"]"#, true, false, false),
        ]
    )
    func null(type: String, isRequired: Bool, allowsNull: Bool, passes: Bool) throws {
        let required = isRequired ? #"["a"]"# : "[]"
        let schema = try SchemaParser.parse(
            json("{\"properties\": {\"a\": {\"bsonType\": \(type)}}, \"required\": \(required)}")
        )
        let violations = schema.violations(
            json(#"{"a": null}"#),
            options: SchemaOptions(allowsNullForOptionalFields: allowsNull)
        )
        #expect(violations.isEmpty == passes)
        #expect(violations.count <= 1)
        #expect(schema.violations(json("{}")).isEmpty == !isRequired)
    }

    @Test("asks validate expressions, also of a field that was removed")
    func asksValidate() throws {
        let schema = try SchemaParser.parse(
            json(
                #"{"properties": {"a": {"validate": {"x": 1}}, "b": {"properties": {"c": {"validate": {"y": 1}}}}}}"#
            )
        )
        var asked: [String] = []
        let violations = schema.violations(json(#"{"a": 5}"#), previous: json(#"{"b": {"c": 1}}"#)) { site in
            asked.append("\(site.path) \(site.value != nil) \(site.previous != nil)")
            return site.path == "(root).a"
        }
        #expect(asked == ["(root).a true false", "(root).b.c false true"])
        #expect(violations.map(\.path) == ["(root).b.c"])
        #expect(violations.map(\.code) == [.conditionFailed])
        // Without anybody to ask, such a schema refuses.
        #expect(schema.violations(json(#"{"a": 5}"#)).map(\.code) == [.conditionFailed])
    }

    @Test("stays quick on wide documents, long arrays and patterns that backtrack", .timeLimit(.minutes(30)))
    func isBounded() throws {
        let schema = try SchemaParser.parse(
            json(
                #"{"properties": {"list": {"uniqueItems": true, "items": {"bsonType": "int"}}, "p": {"pattern": "^(a+)+$"}}, "additionalProperties": {"bsonType": "int"}}"#
            )
        )
        var document = BSONDocument()
        document.append("list", .array((0..<100_000).map { .int32($0) }))
        document.append("p", .string(String(repeating: "a", count: 40) + "b"))
        for index in 0..<50_000 { document.append("f\(index)", .string("x")) }
        let violations = schema.violations(document)
        #expect(violations.count == 50)
        #expect(
            violations.contains { $0.path == "(root).p" && ($0.code == .pattern || $0.code == .internal) }
        )
    }
}

import BSON
import Errors
import Schemas
import Testing

@Suite("Schema parser")
struct SchemaParserTests {
    @Test(
        "takes what real exports contain",
        arguments: [
            "{}",
            #"{"title": "A", "bsonType": "object", "properties": {"done": {"bsonType": "boolean"}}}"#,
            #"{"properties": {"load": {"bsonType": "array", "items": {"bsonType": "float"}}}, "type": "object"}"#,
            #"{"type": "object", "properties": {"m": {"type": "object", "title": "M", "properties": {"x": {"bsonType": "string"}}}}}"#,
            #"{"properties": {"m": {"properties": {"x": {"bsonType": "string"}}, "required": ["x"]}}}"#,
            #"{"bsonType": "object", "properties": {"back": {"bsonType": "linkingObjects"}}}"#,
            #"{"bsonType": "object", "properties": {"d": {"bsonType": "object", "additionalProperties": {"bsonType": "uuid"}}}}"#,
            #"{"bsonType": "object", "required": [], "properties": {"s": {"bsonType": "array", "uniqueItems": true, "items": {"bsonType": "mixed"}}}}"#,
        ]
    )
    func takesDeviations(text: String) throws {
        let (_, faults) = SchemaParser.parseCollectingFaults(json(text))
        #expect(faults.isEmpty)
        _ = try SchemaParser.parse(json(text))
    }

    @Test(
        "names the place of what is wrong",
        arguments: [
            (#"{"bsonType": "array"}"#, "$"),
            (#"{"bsonType": "text"}"#, "$.bsonType"),
            (#"{"type": "integer"}"#, "$.type"),
            (#"{"bsonType": "object", "type": "object"}"#, "$"),
            (#"{"bsonType": []}"#, "$.bsonType"),
            (#"{"properties": {"a": 5}}"#, "$.properties.a"),
            (#"{"properties": {"a b": {"minimum": "1"}}}"#, "$.properties[\"a b\"].minimum"),
            (#"{"properties": {"a": {"enum": []}}}"#, "$.properties.a.enum"),
            (#"{"properties": {"a": {"pattern": "("}}}"#, "$.properties.a.pattern"),
            (#"{"properties": {"a": {"exclusiveMinimum": true}}}"#, "$.properties.a.exclusiveMinimum"),
            (#"{"properties": {"a": {"multipleOf": 0}}}"#, "$.properties.a.multipleOf"),
            (#"{"properties": {"a": {"minLength": -1}}}"#, "$.properties.a.minLength"),
            (#"{"required": "a"}"#, "$.required"),
            (#"{"required": [1]}"#, "$.required[0]"),
            (#"{"anyOf": [{"validate": {}}]}"#, "$.anyOf"),
            (#"{"additionalProperties": "no"}"#, "$.additionalProperties"),
        ]
    )
    func namesPlace(text: String, path: String) throws {
        let (_, faults) = SchemaParser.parseCollectingFaults(json(text))
        #expect(faults.contains { $0.severity == .error && $0.jsonPath == path }, "\(faults)")
        let error = #expect(throws: ServiceError.self) { try SchemaParser.parse(json(text)) }
        #expect(error?.code == .invalidAppDefinition)
    }

    @Test("warns of a keyword that it does not know")
    func warns() {
        let (_, faults) = SchemaParser.parseCollectingFaults(
            json(#"{"properties": {"a": {"formatt": "x"}}}"#)
        )
        #expect(faults.map(\.severity) == [.warning])
        #expect(faults.map(\.jsonPath) == ["$.properties.a.formatt"])
    }

    @Test("refuses schemas that nest without end")
    func boundsDepth() {
        var schema: BSONDocument = ["bsonType": "string"]
        for _ in 0..<150 { schema = ["properties": ["a": .document(schema)]] }
        let (_, faults) = SchemaParser.parseCollectingFaults(schema)
        #expect(faults.contains { $0.severity == .error && $0.message.contains("100 levels") })
    }

    @Test("lists scalar fields for typed columns")
    func scalarFields() throws {
        let schema = try SchemaParser.parse(
            json(
                """
                {"title": "SensorReading", "type": "object", "required": ["_id"], "properties": {
                  "_id": {"bsonType": "objectId"}, "freemem": {"bsonType": "long"},
                  "uptime": {"bsonType": "float"}, "ok": {"bsonType": ["boolean", "null"]},
                  "loadAvg": {"bsonType": "array", "items": {"bsonType": "float"}},
                  "machineInfo": {"type": "object", "properties": {"id": {"bsonType": "string"}}},
                  "place": {"properties": {"when": {"bsonType": "date"}}},
                  "both": {"bsonType": ["string", "int"]}, "any": {"bsonType": "mixed"}, "a.b": {"bsonType": "int"}
                }}
                """
            )
        )
        #expect(
            schema.scalarFields.map { "\($0.path.dotted):\($0.bsonType)" } == [
                "_id:objectId", "freemem:long", "uptime:double", "ok:bool", "machineInfo.id:string",
                "place.when:date",
            ]
        )
        #expect(schema.title == "SensorReading")
        #expect(schema.required == ["_id"])
        #expect(!schema.isUnconstrained)
    }

    @Test(
        "knows a schema that takes everything",
        arguments: [
            ("{}", true), (#"{"title": "A", "properties": {"a": {}}}"#, true),
            (#"{"properties": {"a": {"bsonType": "mixed"}}}"#, true), (#"{"bsonType": "object"}"#, false),
            (#"{"properties": {"a": {"bsonType": "int"}}}"#, false), (#"{"required": ["a"]}"#, false),
            (#"{"properties": {"a": {"validate": {}}}}"#, false),
        ]
    )
    func knowsUnconstrained(text: String, expected: Bool) throws {
        #expect(try SchemaParser.parse(json(text)).isUnconstrained == expected)
    }

    @Test("reads relationships and names their faults")
    func relationships() {
        let (links, faults) = RelationshipParser.parse(
            json(
                """
                {"pets.[].toy": {"ref": "#/relationship/mongodb-atlas/store/Toy", "foreign_key": "_id", "is_list": false},
                 "_id": {"ref": "#/relationship/a/b/c", "foreign_key": "_id"}, "x": {"ref": "Toy", "foreign_key": "_id"}}
                """
            )
        )
        #expect(links.map(\.path) == ["pets.[].toy"])
        #expect(links.first?.collection == "Toy")
        #expect(faults.map(\.jsonPath) == ["$._id", "$.x"])
    }
}

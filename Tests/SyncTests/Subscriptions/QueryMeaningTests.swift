import BSON
import Errors
import MQL
import Schemas
import Sync
import Testing

@Suite("What queries accept")
struct QueryMeaningTests {
    static let schema: SyncSchema = SyncSchema.make([
        source(
            Namespace(dataSource: "mongodb-atlas", database: "shop", collection: "people"),
            """
            {"title": "Person", "bsonType": "object", "required": ["_id", "age"], "properties": {
              "_id": {"bsonType": "objectId"}, "age": {"bsonType": "long"}, "score": {"bsonType": "double"},
              "ratio": {"bsonType": "double"},
              "price": {"bsonType": "decimal"}, "name": {"bsonType": "string"}, "active": {"bsonType": "bool"},
              "born": {"bsonType": "date"}, "token": {"bsonType": "uuid"}, "data": {"bsonType": "binData"},
              "anything": {"bsonType": "mixed"}, "in": {"bsonType": "int"}, "my field": {"bsonType": "int"},
              "tags": {"bsonType": "array", "items": {"bsonType": "string"}},
              "numbers": {"bsonType": "array", "uniqueItems": true, "items": {"bsonType": ["int", "null"]}},
              "map": {"bsonType": "object", "additionalProperties": {"bsonType": "int"}},
              "home": {"bsonType": "object", "properties": {"city": {"bsonType": "string"}}},
              "friend": {"bsonType": "objectId"}, "hidden": {"bsonType": "string"}}}
            """,
            relationships: [relationship("friend", to: "people")]
        )
    ]).schema

    static let reader = SubscriptionReader(
        schema: schema,
        queryable: QueryableFields(byClass: [
            ByteText("Person"): Set(
                [
                    "age", "score", "ratio", "price", "name", "active", "born", "token", "data", "anything",
                    "in",
                    "my field",
                    "tags", "numbers", "map", "home", "friend",
                ].map { ByteText($0) }
            )
        ])
    )

    static let id = "000000000000000000000001"

    static let person: BSONDocument = [
        "_id": .objectID(ObjectID(seconds: 0, unique: 1)), "age": .int64(4), "score": 1.5,
        "price": .decimal128(Decimal128("2.50") ?? Decimal128(high: 0, low: 0)), "name": "Ünal \"x\"\nZ",
        "active": true,
        "born": .date(1_500), "token": .binary(BSONBinary(subtype: 4, bytes: Array(0..<16))),
        "data": .binary(BSONBinary(subtype: 0, bytes: [1, 2, 255])), "anything": .int64(7), "in": 3,
        "my field": 1,
        "tags": ["red", "Green"], "numbers": [1, .null, 5],
        "friend": .objectID(ObjectID(seconds: 0, unique: 1)),
    ]

    static let empty: BSONDocument = ["_id": .objectID(ObjectID(seconds: 0, unique: 2)), "age": .int64(0)]

    /// Each query with what it says of the person and of the one with almost nothing.
    static let rows: [(String, Bool, Bool)] = [
        ("TRUEPREDICATE", true, true), ("truepredicate", true, true), ("FalsePredicate", false, false),
        ("age < 5", true, true), ("age > 3", true, false), ("age == 4.0", true, false),
        ("age = 4", true, false),
        ("age <> 4", false, true), ("age =< 4", true, true), ("age => 4", true, false),
        ("5 > age", true, true),
        ("age BETWEEN {4, 9}", true, false), ("age IN {1, 4}", true, false), ("age in {}", false, false),
        ("age == ANY {4, 5}", true, false), ("age == {4, 5}", true, false),
        ("age != ALL {4, 5}", false, true),
        ("age == NONE {4, 5}", false, true), ("age == 0x4", true, false), ("age > -1e3", true, true),
        ("age < inf", true, true), ("age > -inf", true, true), ("score == 1.5f", true, false),
        ("score > .5", true, false), ("score < 2.", true, false), ("score == NULL", false, true),
        ("score != NULL", true, false), ("score != 1.5", false, true), ("score < NULL", false, false),
        ("score >= NULL", false, true), ("price == 2.5", true, false),
        ("price > 2.499999999999999999999", true, false),
        ("price == 2", false, false), ("active == true", true, false), ("active == FALSE", false, false),
        ("active != true", false, true), ("born == T1:500000000", true, false),
        ("born < T1:500000001", true, false),
        ("born == T1:500000001", false, false), ("born != T1:500000001", true, true),
        ("born > T1:499999999", true, false), ("born >= T1:500000001", false, false),
        ("born > T-1:-5", true, false),
        ("born IN {T1:500000001, T1:500000000}", true, false),
        ("born == 1970-01-01@00:00:01:500000000", true, false),
        ("born > 1969-12-31T23:59:59:999999999", true, false), ("born < 2024-02-29@12:00:00", true, false),
        ("_id == oid(\(id))", true, false), ("_id IN {oid(\(id))}", true, false),
        ("_id > oid(\(id))", false, true),
        ("token == uuid(00010203-0405-0607-0809-0a0b0c0d0e0F)", true, false),
        ("data == binary(B64\"AQL/\")", true, false), ("data != binary(\"x\")", true, true),
        ("friend == obj(\"class_Person\",oid(\(id)))", true, false), ("friend == NULL", false, true),
        ("name == B64\"w5xuYWwgIngiClo=\"", true, false), ("name == 'Ünal \"x\"\nZ'", true, false),
        ("name == \"\\u00dcnal\"", false, false), ("name ==[c] 'ünAL \"X\"\nz'", true, false),
        ("name !=[c] 'ünAL \"X\"\nz'", false, true), ("name == 'U\u{308}nal \"x\"\nZ'", false, false),
        ("name BEGINSWITH 'Ün'", true, false), ("name beginswith 'ün'", false, false),
        ("name BEGINSWITH[c] 'ün'", true, false), ("name ENDSWITH 'Z'", true, false),
        ("name ENDSWITH 'z'", false, false),
        ("name endswith[c] 'z'", true, false), ("name CONTAINS '\"'", true, false),
        ("name CONTAINS '.'", false, false),
        ("name CONTAINS[c] 'NAL'", true, false), ("name CONTAINS ''", true, false),
        ("name LIKE '?nal*'", true, false),
        ("name LIKE 'Ünal'", false, false), ("name LIKE '*x*Z'", true, false),
        ("name LIKE '*z'", false, false),
        ("name LIKE[c] '*z'", true, false), ("name LIKE '*'", true, false), ("name LIKE 'Ü**Z'", true, false),
        ("name LIKE '*?????????*'", true, false), ("name LIKE '*???????????*'", false, false),
        ("name < 'V'", false, true), ("name > 'V'", true, false), ("name ==[c] NULL", false, true),
        ("'red' IN tags", true, false), ("'blue' IN tags", false, false), ("NULL IN numbers", true, false),
        ("NULL IN tags", false, false), ("ANY tags == 'red'", true, false), ("tags == 'red'", true, false),
        ("SOME tags == 'red'", true, false), ("tags != 'red'", true, false),
        ("NONE tags == 'red'", false, true),
        ("ALL tags != 'blue'", true, true), ("ALL tags == 'red'", false, true),
        ("ANY tags IN {'red', 'x'}", true, false),
        ("NOT tags == 'red'", false, true), ("tags ==[c] 'green'", true, false),
        ("tags BEGINSWITH 'Gr'", true, false),
        ("tags LIKE 'gr*'", false, false), ("ANY numbers > 4", true, false), ("numbers > 5", false, false),
        ("ALL numbers BETWEEN {0, 9}", false, true), ("tags.@count == 2", true, false),
        ("tags.@size > 1", true, false),
        ("tags.@count > 2", false, false), ("tags.@count >= 0", true, true),
        ("tags.@count == 0", false, true),
        ("tags.@count != 2", false, true), ("numbers.@count == 3", true, false),
        ("3 <= numbers.@count", true, false),
        ("tags.@count < 1", false, true), ("tags.@count <= 2", true, true),
        ("tags.@count > 9223372036854775807", false, false),
        ("anything == 7.0", true, false), ("anything == 'x'", false, false), ("anything > 'x'", false, false),
        ("anything == NULL", false, true),
        ("in == 3", true, false), ("my\\ field == 1", true, false),
        ("age == 4 AND active == true", true, false),
        ("age == 4 && active == false", false, false), ("age == 9 or active == true", true, false),
        ("age == 9 || age == 0", false, true), ("NOT age == 4", false, true), ("!age == 4", false, true),
        ("!(age == 4)", false, true), ("NOT NOT age == 4", true, false),
        ("not age == 9 and age == 4", true, false),
        ("age == 0 or age == 4 and active == true", true, true), ("((age == 4))", true, false),
        ("(age < 5) OR (TRUEPREDICATE)", true, true),
    ]

    @Test("accepts and refuses documents as the client does", arguments: rows)
    func meaning(query: String, person: Bool, empty: Bool) throws {
        let filter = try Self.reader.query(query, of: ByteText("Person")).filter
        let context = EvaluationContext(now: 0)
        #expect(try filter.matches(Self.person, context) == person)
        #expect(try filter.matches(Self.empty, context) == empty)
    }

    @Test("finds what the client finds in queries as it sends them", arguments: ClientQueries.rows)
    func client(query: String, person: Bool, empty: Bool) throws {
        try meaning(query: query, person: person, empty: empty)
    }

    @Test("a beginning of plain letters is a pattern that an index can serve")
    func plainPatterns() throws {
        let filter = try Self.reader.query("name BEGINSWITH 'Ab c'", of: ByteText("Person")).filter
        #expect(filter == .field("name", .matches(RegexPattern(pattern: "^Ab c", options: ""))))
    }

    @Test("tells which fields a query names")
    func fields() throws {
        let query = try Self.reader.query(
            "age < 5 AND (tags.@count > 1 OR _id != NULL)",
            of: ByteText("Person")
        )
        #expect(query.fields == Set(["age", "tags", "_id"].map { ByteText($0) }))
    }

    @Test("many stars do not make the matcher try combinations")
    func manyStars() throws {
        let pattern = String(repeating: "*a", count: 200) + "*b"
        let filter = try Self.reader.query("name LIKE '\(pattern)'", of: ByteText("Person")).filter
        var document = Self.person
        document["name"] = .string(String(repeating: "a", count: 20_000))
        #expect(try filter.matches(document, EvaluationContext(now: 0)) == false)
    }
}

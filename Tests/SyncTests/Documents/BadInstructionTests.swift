import BSON
import Sync
import Testing

@Suite("Instructions that do not fit their object")
struct BadInstructionTests {
    static let object = ObjectAddress(
        table: ByteText("Thing"),
        key: .objectID(ObjectID(seconds: 1, unique: 1))
    )

    static let document: BSONDocument = [
        "_id": .objectID(ObjectID(seconds: 1, unique: 1)), "int": 1, "string": "a", "intList": [1, 2],
        "intOptional": .null, "inner": .null, "innerList": [["string": "x"]], "any": [1, ["k": 2]],
        "intMap": ["k": 1],
    ]

    static func at(_ field: String, _ path: PathElement...) -> ValueAddress {
        ValueAddress(object: object, field: ByteText(field), path: path)
    }

    static func set(_ payload: Payload, _ field: String, _ path: PathElement...) -> Instruction {
        .update(
            ValueAddress(object: object, field: ByteText(field), path: path),
            payload,
            .value(isDefault: false)
        )
    }

    static func key(_ name: String) -> PathElement { .key(ByteText(name)) }

    static let bad: [(Instruction, String)] = [
        (set(.string(ByteText("x")), "int"), "\"int\" of an object of class \"Thing\": is int, not string"),
        (set(.null, "int"), "\"int\" of an object of class \"Thing\": cannot be null"),
        (set(.int(1), "_id"), "a primary key never changes"),
        (
            set(.int(1), "int", key("x")),
            "\"int.x\" of an object of class \"Thing\": there is nothing below a int"
        ),
        (set(.int(1), "intList"), "is a list"), (set(.int(1), "intList", key("x")), "elements, not keys"),
        (.addInteger(at("string"), 1), "is not an integer"),
        (.arrayInsert(at("intList", .index(0)), .int(1), priorSize: 3), "the list has 2 elements, not 3"),
        (.arrayInsert(at("intList", .index(3)), .int(1), priorSize: 2), "the list has no such element"),
        (.arrayInsert(at("intList", .index(0)), .string(ByteText("")), priorSize: 2), "is int, not string"),
        (.arrayErase(at("intList", .index(2)), priorSize: 2), "the list has no such element"),
        (.arrayErase(at("intList", .index(0)), priorSize: 0), "the list has 2 elements, not 0"),
        (.arrayMove(at("intList", .index(0)), to: 2, priorSize: 2), "the list has no such place"),
        (
            .arrayMove(at("intList", .index(4_000_000_000)), to: 0, priorSize: 2),
            "the list has no such element"
        ),
        (
            .update(at("intList", .index(0)), .int(1), .element(priorSize: 9)),
            "the list has 2 elements, not 9"
        ),
        (.clear(at("intList"), .set), "is a list"), (.clear(at("int"), .list), "is not a collection"),
        (.setInsert(at("intList"), .int(1)), "is a list"),
        (.setInsert(at("intSet"), .null), "cannot be null"),
        (.setInsert(at("anySet"), .list), "a set holds no collections"),
        (.clear(at("any"), .set), "a mixed value holds no set"), (set(.set, "any"), "is mixed, not set"),
        (set(.int(1), "inner", key("int")), "there is no embedded object"),
        (set(.int(1), "inner"), "is embedded \"Inner\", not int"),
        (set(.int(1), "innerList", .index(1), key("int")), "the list has no such element"),
        (set(.null, "innerList", .index(0)), "cannot be null"),
        (set(.int(1), "any", key("k")), "there is no dictionary"),
        (set(.int(1), "any", .index(0), key("k")), "there is no dictionary"),
        (set(.objectValue, "any"), "is mixed, not embedded object"),
        (set(.int(1), "intMap", key("no"), key("x")), "the dictionary has no such key"),
        (set(.erased, "int"), "is int, not erased key"),
        (set(.link(ObjectAddress(table: ByteText("Else"), key: .int(1))), "friend"), "not link"),
        (set(.link(ObjectAddress(table: ByteText("Thing"), key: .int(1))), "friend"), "not link"),
        (
            .createObject(ObjectAddress(table: ByteText("Else"), key: .int(1))),
            "an instruction about class \"Else\""
        ),
    ]

    @Test("is a bad changeset that names the place", arguments: bad)
    func refused(instruction: Instruction, message: String) {
        let fault = #expect(throws: SyncFault.self) {
            try Everything.mapping.applying([instruction], to: Self.document)
        }
        #expect(fault?.code == .badChangeset)
        #expect(fault?.message.contains(message) == true, "\(fault?.message ?? "")")
    }

    @Test("a property that the class lacks is an invalid change of the schema")
    func unknownProperty() {
        let fault = #expect(throws: SyncFault.self) {
            try Everything.mapping.applying([Self.set(.int(1), "nope")], to: Self.document)
        }
        #expect(fault?.code == .invalidSchemaChange)
    }

    @Test("a key of another type makes no object")
    func otherKey() {
        let fault = #expect(throws: SyncFault.self) {
            try Everything.mapping.applying(
                [.createObject(ObjectAddress(table: ByteText("Thing"), key: .int(1)))],
                to: nil
            )
        }
        #expect(fault?.code == .badChangeset)
    }

    @Test("what changes an object that is gone has no effect")
    func goneObject() throws {
        #expect(try Everything.mapping.applying([Self.set(.int(1), "int")], to: nil) == nil)
    }

    @Test("counters wrap, start at zero in a new object, and leave null alone")
    func counters() throws {
        let mapping = Everything.mapping
        var before = Self.document
        before["long"] = .int64(.max)
        let after = try mapping.applying(
            [
                .addInteger(Self.at("long"), 1), .addInteger(Self.at("intOptional"), 1),
                .addInteger(Self.at("int"), Int64(Int32.max)),
            ],
            to: before
        )
        #expect(after?["long"] == .int64(.min))
        #expect(after?["intOptional"] == .null)
        #expect(after?["int"] == .int64(Int64(Int32.max) + 1))
        let new = try mapping.applying([.createObject(Self.object), .addInteger(Self.at("int"), 3)], to: nil)
        #expect(new?["int"] == 3)
    }

    @Test("begins embedded objects and nested collections once")
    func beginnings() throws {
        let mapping = Everything.mapping
        let steps = [
            Self.set(.objectValue, "inner"), Self.set(.int(5), "inner", Self.key("int")),
            Self.set(.objectValue, "inner"), Self.set(.list, "any"), Self.set(.dictionary, "any", .index(1)),
        ]
        let after = try mapping.applying(steps, to: Self.document)
        #expect(after?["inner"] == ["int": 5, "string": ""])
        #expect(after?["any"] == Self.document["any"])
        let other = try mapping.applying(
            [Self.set(.dictionary, "any"), Self.set(.erased, "intMap", Self.key("k"))],
            to: after
        )
        #expect(other?["any"] == [:])
        #expect(other?["intMap"] == [:])
    }

    static let unrepresentable: [(BSONDocument, String)] = [
        (["int": "x"], "the field \"int\" is not of type int"),
        (["int": .null], "the required field \"int\" is missing"),
        (["intList": 1], "the field \"intList\" is not an array"),
        (["intList": [1, .null]], "the field \"intList.[]\" is null"),
        (["intMap": []], "the field \"intMap\" is not a dictionary"),
        (["any": ["a": .minKey]], "the field \"any.[]\" is not of type mixed"),
        (["anySet": [[1]]], "the field \"anySet.[]\" is a list in a set"),
        (["inner": ["int": 1]], "the required field \"inner.string\" is missing"),
        (["innerList": [["string": 1]]], "the field \"innerList.[].string\" is not of type string"),
        (["friend": 1], "the field \"friend\" is not of type link to \"Thing\""),
        (["any": ["$ref": "unknown", "$id": 1]], "the field \"any\" is not of type mixed"),
    ]

    @Test("says why no device can have a document", arguments: unrepresentable)
    func reasons(change: BSONDocument, reason: String) {
        var everything = Everything(seed: 1)
        var document = everything.document(id: ObjectID(seconds: 1, unique: 1))
        for field in change { document[field.key] = field.value }
        #expect(Everything.mapping.unrepresentable(document) == reason)
    }

    @Test("prints keys as the pages do, and as newer servers did")
    func printing() throws {
        let id = try #require(ObjectID(hex: "63bdfc40f16be7b1e8c7e4b7"))
        #expect(ObjectKey.objectID(id).text() == "63bdfc40f16be7b1e8c7e4b7")
        #expect(ObjectKey.objectID(id).text(.typed) == "ObjectID(\"63bdfc40f16be7b1e8c7e4b7\")")
        #expect(ObjectKey.int(-5).text() == "-5")
        #expect(ObjectKey.string(ByteText("short")).text() == "short")
        #expect(ObjectKey.string(ByteText("short")).text(.typed) == "\"short\"")
        let uuid = try #require(UUIDBytes(Array(0..<16 as Range<UInt8>)))
        #expect(ObjectKey.uuid(uuid).text() == "00010203-0405-0607-0809-0a0b0c0d0e0f")
        #expect(ObjectKey.uuid(uuid).text(.typed) == "UUID(00010203-0405-0607-0809-0a0b0c0d0e0f)")
    }
}

import BSON
import MQL
import Schemas
import Sync
import Testing

@Suite("Classes of collections' schemas")
struct SyncSchemaTests {
    static func shop(_ collection: String) -> Namespace {
        Namespace(dataSource: "mongodb-atlas", database: "shop", collection: collection)
    }

    static let item = """
        {"title": "Item", "bsonType": "object", "required": ["_id", "name", "price"], "properties": {
          "_id": {"bsonType": "objectId"}, "name": {"bsonType": "string"}, "price": {"bsonType": "double"},
          "shop": {"bsonType": "string"}, "size": {"bsonType": "object", "properties": {
            "width": {"bsonType": "int"}, "unit": {"title": "Unit", "bsonType": "object", "properties": {
              "name": {"bsonType": "string"}}}}},
          "counts": {"bsonType": "object", "additionalProperties": {"bsonType": "long"}},
          "others": {"bsonType": "array", "items": {"bsonType": "objectId"}},
          "note": {"bsonType": "mixed"}, "shopItems": {"bsonType": "linkingObjects"}}}
        """
    static let store = """
        {"title": "AStore", "bsonType": "object", "required": ["_id"],
         "properties": {"_id": {"bsonType": "string"}, "open": {"bsonType": "bool"}}}
        """

    static var made: (schema: SyncSchema, faults: [SyncSchema.Fault]) {
        SyncSchema.make([
            source(
                shop("items"),
                item,
                relationships: [
                    relationship("shop", to: "stores"), relationship("others", to: "items", isList: true),
                ]
            ), source(shop("stores"), store),
        ])
    }

    static func column(
        _ table: String,
        _ field: String,
        _ type: Payload.Kind,
        nullable: Bool = true,
        _ collection: CollectionKind = .single,
        to target: String? = nil
    ) -> Instruction {
        .addColumn(
            Instruction.Column(
                table: ByteText(table),
                field: ByteText(field),
                type: type,
                isNullable: nullable,
                collection: collection,
                target: target.map { ByteText($0) }
            )
        )
    }

    @Test("gives all classes in order, then their properties as the client's library has them")
    func instructions() {
        let (schema, faults) = Self.made
        #expect(faults == [])
        let id = ByteText("_id")
        #expect(
            schema.instructions == [
                .addTable(
                    ByteText("AStore"),
                    .topLevel(Instruction.KeyColumn(field: id, type: .string, isNullable: false))
                ),
                .addTable(
                    ByteText("Item"),
                    .topLevel(Instruction.KeyColumn(field: id, type: .objectID, isNullable: false))
                ),
                .addTable(ByteText("Item_size"), .embedded), .addTable(ByteText("Unit"), .embedded),
                Self.column("AStore", "open", .bool), Self.column("Item", "name", .string, nullable: false),
                Self.column("Item", "price", .double, nullable: false),
                Self.column("Item", "shop", .link, to: "AStore"),
                Self.column("Item", "size", .link, to: "Item_size"),
                Self.column("Item", "counts", .int, nullable: false, .dictionary),
                Self.column("Item", "others", .link, nullable: false, .list, to: "Item"),
                Self.column("Item", "note", .null), Self.column("Item_size", "width", .int),
                Self.column("Item_size", "unit", .link, to: "Unit"), Self.column("Unit", "name", .string),
            ]
        )
        #expect(schema[Self.shop("items")]?.name == ByteText("Item"))
        #expect(schema.mapping(of: ByteText("Unit")) == nil)
    }

    @Test("takes a device's own schema where it is equal, and a float for a double")
    func equalSchema() throws {
        let schema = Self.made.schema
        for instruction in schema.instructions { try schema.check(instruction) }
        try schema.check(Self.column("Item", "_id", .objectID, nullable: false))
        let float = Instruction.Column(
            table: ByteText("Item"),
            field: ByteText("price"),
            type: .float,
            isNullable: false
        )
        try schema.check(.addColumn(float))
        let mapping = try #require(schema.adopting(float).mapping(of: ByteText("Item")))
        let document: BSONDocument = ["_id": .objectID(ObjectID(seconds: 1, unique: 1)), "price": 1.5]
        let state = mapping.instructions(creating: document, isFresh: true)
        guard case .update(_, .float(let bits), _)? = state.last else {
            Issue.record("\(state)")
            return
        }
        #expect(Float(bitPattern: bits) == 1.5)
        #expect(try mapping.applying(state, to: nil)?["price"] == 1.5)
    }

    static let refusedChanges: [(Instruction, String)] = [
        (.addTable(ByteText("Nope"), .embedded), "class \"Nope\" is not in the app's schema"),
        (.addTable(ByteText("Item"), .embedded), "class \"Item\" is top-level"),
        (
            .addTable(
                ByteText("Item"),
                .topLevel(Instruction.KeyColumn(field: ByteText("_id"), type: .string, isNullable: false))
            ), "primary key \"_id\" of type string on the client"
        ),
        (column("Item", "nope", .string), "property \"nope\" of class \"Item\" is not in the app's schema"),
        (
            column("Item", "name", .int, nullable: false),
            "is string in the app's schema, but int on the client"
        ),
        (column("Item", "name", .string), "but optional string on the client"),
        (column("Item", "others", .link, nullable: false, .set, to: "Item"), "but a set of link to \"Item\""),
        (column("Item", "shop", .link, to: "Item"), "but optional link to \"Item\" on the client"),
        (.eraseTable(ByteText("Item")), "cannot remove the class \"Item\""),
        (
            .eraseColumn(table: ByteText("Item"), field: ByteText("name")),
            "cannot remove the property \"name\""
        ),
    ]

    @Test("refuses what differs, by name", arguments: refusedChanges)
    func otherSchema(change: Instruction, message: String) {
        let fault = #expect(throws: SyncFault.self) { try Self.made.schema.check(change) }
        #expect(fault?.code == .invalidSchemaChange)
        #expect(fault?.message.contains(message) == true, "\(fault?.message ?? "")")
    }

    static let badSchemas: [(String, String)] = [
        (#"{"title": "T", "properties": {}}"#, "shop.t: the schema has no property \"_id\""),
        (
            #"{"title": "T", "properties": {"_id": {"bsonType": "double"}}}"#,
            "shop.t: _id: a primary key is a string, int, long, objectId or uuid"
        ),
        (
            "{\"title\": \"\(String(repeating: "t", count: 58))\", \"properties\": {\"_id\": {\"bsonType\": \"int\"}}}",
            "shop.t: the title must have 1 to 57 bytes"
        ), (property(#"{"bsonType": "regex"}"#), "shop.t: p: devices have no type 'regex'"),
        (property(#"{"bsonType": ["int", "string"]}"#), "shop.t: p: devices have one type for a property"),
        (property("{}"), "shop.t: p: needs a 'bsonType'"),
        (property(#"{"bsonType": "array"}"#), "shop.t: p: an array needs 'items' with one schema"),
        (
            property(#"{"bsonType": "array", "items": {"bsonType": "array", "items": {"bsonType": "int"}}}"#),
            "shop.t: p: arrays stand in arrays or dictionaries in a mixed property only"
        ),
        (
            property(#"{"bsonType": "object"}"#),
            "shop.t: p: an object needs 'properties', or a schema in 'additionalProperties'"
        ),
        (
            property(
                #"{"bsonType": "array", "uniqueItems": true, "items": {"title": "E", "bsonType": "object", "properties": {}}}"#
            ), "shop.t: p: a set cannot hold embedded objects"
        ),
        (
            property(#"{"title": "T", "bsonType": "object", "properties": {"a": {"bsonType": "int"}}}"#),
            "shop.t: p: the title \"T\" is also that of shop.t"
        ),
        (
            property(#"{"title": "E", "properties": {"a": {"bsonType": "symbol"}}}"#),
            "shop.t: p.a: devices have no type 'symbol'"
        ),
    ]

    static func property(_ schema: String) -> String {
        #"{"title": "T", "properties": {"_id": {"bsonType": "int"}, "p": \#(schema)}}"#
    }

    @Test("names what devices cannot have", arguments: badSchemas)
    func faults(schema: String, fault: String) {
        let made = SyncSchema.make([source(Self.shop("t"), schema)])
        #expect(made.faults.map(\.description) == [fault])
    }

    @Test("names relationships that cannot be links")
    func relationships() {
        let text = Self.property(#"{"bsonType": "string"}"#)
        func faults(_ link: Relationship, _ others: [SyncSchema.Source] = []) -> [String] {
            SyncSchema.make([source(Self.shop("t"), text, relationships: [link])] + others).faults
                .map(\.description)
        }
        let store = source(Self.shop("stores"), Self.store)
        #expect(faults(relationship("p", to: "stores"), [store]) == [])
        #expect(
            faults(relationship("p", to: "stores")) == [
                "shop.t: p: the relationship leads to shop.stores, which does not sync"
            ]
        )
        #expect(
            faults(relationship("p", to: "stores", key: "name"), [store]) == [
                "shop.t: p: a link of a device leads to '_id', not to 'name'"
            ]
        )
        #expect(
            faults(relationship("p", to: "t")) == ["shop.t: p: is of another type than the '_id' of shop.t"]
        )
        #expect(
            faults(relationship("p", to: "stores", isList: true), [store]) == [
                "shop.t: p: the relationship has 'is_list', but the property is no array"
            ]
        )
        #expect(
            faults(
                relationship("p", to: "stores"),
                [source(Self.shop("stores"), Self.store, isAsymmetric: true)]
            )
                == ["shop.t: p: the relationship leads to shop.stores, which devices cannot read"]
        )
    }

    @Test("a title twice, and an embedded class with two forms")
    func sameNames() {
        let twice = SyncSchema.make([
            source(Self.shop("a"), Self.store), source(Self.shop("b"), Self.store),
        ])
        #expect(twice.faults.map(\.description) == ["shop.b: the title \"AStore\" is also that of shop.a"])
        #expect(twice.schema.classes.count == 1)
        let forms = """
            {"title": "T", "properties": {"_id": {"bsonType": "int"},
              "a": {"title": "E", "properties": {"x": {"bsonType": "int"}}},
              "b": {"title": "E", "properties": {"x": {"bsonType": "int"}}},
              "c": {"title": "E", "properties": {"x": {"bsonType": "string"}}}}}
            """
        let made = SyncSchema.make([source(Self.shop("t"), forms)])
        #expect(
            made.faults.map(\.description) == [
                "shop.t: c: the embedded class \"E\" has other properties elsewhere"
            ]
        )
        #expect(made.schema.classes.map(\.name.text) == ["E", "T"])
    }

    @Test("a collection without a title does not sync, and that is no fault")
    func untitled() {
        let made = SyncSchema.make([source(Self.shop("t"), "{}")])
        #expect(made.faults.isEmpty && made.schema.classes.isEmpty)
    }

    @Test("a data-ingest collection is an asymmetric class")
    func asymmetric() {
        let made = SyncSchema.make([source(Self.shop("stores"), Self.store, isAsymmetric: true)])
        #expect(made.schema[ByteText("AStore")]?.isAsymmetric == true)
    }
}

import BSON
import MQL
import Schemas
import Sync
import Testing

/// What devices do to schemas in development mode.
@Suite("Schemas that devices change")
struct SchemaGrowthTests {
    private typealias Files = (schema: BSONDocument, relationships: BSONDocument)

    private static let files: [Namespace: (schema: String, relationships: String)] = [
        SyncSchemaTests.shop("items"): (
            """
            {"title": "Item", "bsonType": "object", "required": ["_id", "name"], "properties": {
              "_id": {"bsonType": "objectId"}, "name": {"bsonType": ["string", "null"], "maxLength": 9},
              "count": {"bsonType": "long", "minimum": 0}, "shop": {"bsonType": "string"},
              "tags": {"bsonType": "array", "items": {"bsonType": "string"}},
              "size": {"title": "Size", "bsonType": "object", "required": ["width"], "properties": {
                "width": {"bsonType": "int"}, "from": {"bsonType": "string"}}},
              "sizes": {"bsonType": "array", "items": {"title": "Size", "bsonType": "object",
                "required": ["width"], "properties": {"width": {"bsonType": "int"}, "from": {"bsonType": "string"}}}}}}
            """,
            """
            {"shop": {"ref": "#/relationship/mongodb-atlas/shop/stores", "foreign_key": "_id", "is_list": false},
             "size.from": {"ref": "#/relationship/mongodb-atlas/shop/stores", "foreign_key": "_id", "is_list": false},
             "sizes.[].from":
                {"ref": "#/relationship/mongodb-atlas/shop/stores", "foreign_key": "_id", "is_list": false}}
            """
        ),
        SyncSchemaTests.shop("stores"): (
            """
            {"title": "Store", "bsonType": "object", "required": ["_id"],
             "properties": {"_id": {"bsonType": "string"}, "open": {"bsonType": "bool"}}}
            """, "{}"
        ),
    ]

    private static func key(_ type: Payload.Kind) -> Instruction.KeyColumn {
        Instruction.KeyColumn(field: ByteText("_id"), type: type, isNullable: false)
    }

    private func schema(_ files: [Namespace: Files]) throws -> SyncSchema {
        let sources = try files.map { place, file in
            SyncSchema.Source(
                namespace: place,
                schema: try SchemaParser.parse(file.schema),
                relationships: RelationshipParser.parse(file.relationships).relationships
            )
        }
        let (schema, faults) = SyncSchema.make(sources)
        #expect(faults.isEmpty, "\(faults.map(\.description))")
        return schema
    }

    /// The files after a device that was told nothing has said something.
    private func changed(
        _ instructions: [Instruction]
    ) throws -> (files: [Namespace: Files], isBreaking: Bool) {
        var files = try Self.files.mapValues { file in
            (
                schema: try ExtendedJSON.document(file.schema),
                relationships: try ExtendedJSON.document(file.relationships)
            )
        }
        let growth = SchemaGrowth(
            instructions,
            to: try schema(files),
            replacing: true,
            dataSource: "mongodb-atlas",
            database: "shop"
        )
        for grown in try growth.grown({ files[$0] }) {
            files[grown.namespace] = (grown.schema, grown.relationships)
        }
        return (files, growth.isBreaking)
    }

    private static let replacements: [[Instruction]] = [
        [SyncSchemaTests.column("Item", "count", .string)],
        [SyncSchemaTests.column("Item", "count", .int, nullable: false)],
        [SyncSchemaTests.column("Item", "name", .string, nullable: false)],
        [SyncSchemaTests.column("Item", "tags", .string)],
        [SyncSchemaTests.column("Item", "tags", .int, nullable: false, .set)],
        [SyncSchemaTests.column("Item", "shop", .link, to: "Item")],
        [SyncSchemaTests.column("Item", "shop", .double)],
        [SyncSchemaTests.column("Item", "size", .string)],
        [SyncSchemaTests.column("Item", "count", .link, to: "Size")],
        [SyncSchemaTests.column("Size", "width", .string, nullable: true)],
        [SyncSchemaTests.column("Size", "from", .link, to: "Item")],
        [.addTable(ByteText("Store"), .topLevel(key(.int)))],
    ]

    @Test("makes the app's classes those of the device", arguments: replacements)
    func replacement(instructions: [Instruction]) throws {
        let (files, isBreaking) = try changed(instructions)
        #expect(isBreaking)
        let after = try schema(files)
        for instruction in instructions { try after.check(instruction) }
    }

    @Test("keeps what a schema says beside whether there may be null")
    func nullability() throws {
        let (files, _) = try changed([
            SyncSchemaTests.column("Item", "count", .int, nullable: false),
            SyncSchemaTests.column("Item", "name", .string, nullable: false),
        ])
        let item = files[SyncSchemaTests.shop("items")]?.schema
        let properties = item?["properties"]?.document
        #expect(properties?["count"] == ["bsonType": "long", "minimum": 0])
        #expect(properties?["name"] == ["bsonType": "string", "maxLength": 9])
        #expect(item?["required"] == ["_id", "count", "name"])
    }

    @Test("replaces nothing for a device that has the classes, and nothing that is the same")
    func same() throws {
        let files = try Self.files.mapValues { file in
            (
                schema: try ExtendedJSON.document(file.schema),
                relationships: try ExtendedJSON.document(file.relationships)
            )
        }
        let schema = try schema(files)
        let other = [SyncSchemaTests.column("Item", "count", .string)]
        let told = SchemaGrowth(other, to: schema, dataSource: "mongodb-atlas", database: "shop")
        #expect(told.isEmpty)
        let repeated = SchemaGrowth(
            schema.instructions,
            to: schema,
            replacing: true,
            dataSource: "mongodb-atlas",
            database: "shop"
        )
        #expect(repeated.isEmpty)
    }
}

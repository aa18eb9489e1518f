import BSON
import Foundation
import Sync
import SyncModel
import TestSupport
import Testing

/// Devices that bring their classes along.
///
/// Source: `sync-semantics.md` §14.
@Suite("Sync: development mode", .serialized)
struct DevelopmentModeTests {
    private static let task = Task { try await RunningServer.start(app: files, name: "sync-development") }

    private static let files: [String: String] = [
        "realm_config.json": #"{"app_id": "dev-abcde", "config_version": 20210101, "name": "dev"}"#,
        "auth/providers.json":
            #"{"anon-user": {"name": "anon-user", "type": "anon-user", "disabled": false}}"#,
        "sync/config.json": """
        {"type": "flexible", "state": "enabled", "service_name": "mongodb-atlas", "database_name": "todo",
         "development_mode_enabled": true, "queryable_fields_names": []}
        """,
        "data_sources/mongodb-atlas/config.json":
            #"{"name": "mongodb-atlas", "type": "mongodb-atlas", "config": {}, "version": 1}"#,
        "data_sources/mongodb-atlas/default_rule.json": """
        {"roles": [{"name": "all", "apply_when": {}, "read": true, "write": true, "insert": true, "delete": true,
                    "document_filters": {"read": true, "write": true}}]}
        """,
    ]

    private func caller() async throws -> APICaller {
        APICaller(server: try await Self.task.value, app: "dev-abcde")
    }

    private static func name(_ text: String) -> ByteText { ByteText(text) }

    private static let key = Instruction.KeyColumn(field: name("_id"), type: .objectID, isNullable: false)

    private static func column(
        _ table: String,
        _ field: String,
        _ type: Payload.Kind,
        isNullable: Bool = false,
        _ collection: CollectionKind = .single,
        to target: String? = nil
    ) -> Instruction {
        .addColumn(
            Instruction.Column(
                table: name(table),
                field: name(field),
                type: type,
                isNullable: isNullable,
                collection: collection,
                target: target.map { name($0) }
            )
        )
    }

    /// Two classes that link to each other, and an embedded one.
    private static let classes: [Instruction] = [
        .addTable(name("Address"), .embedded), .addTable(name("Dog"), .topLevel(key)),
        .addTable(name("Person"), .topLevel(key)), column("Address", "street", .string, isNullable: true),
        column("Dog", "name", .string), column("Dog", "legs", .int, isNullable: true),
        column("Dog", "owner", .link, isNullable: true, to: "Person"),
        column("Dog", "tags", .string, .list), column("Person", "name", .string),
        column("Person", "dogs", .link, .list, to: "Dog"),
        column("Person", "home", .link, isNullable: true, to: "Address"),
        column("Person", "places", .link, .list, to: "Address"),
    ]

    private func open(_ schema: [Instruction]) async throws -> RealmClient {
        let api = try await caller()
        let device = RealmClient(api, try await api.newUser(), schema: schema)
        try device.file.declare()
        try await device.meet()
        return device
    }

    private func dog(_ id: String) -> ObjectAddress {
        ObjectAddress(table: Self.name("Dog"), key: ObjectID(hex: id).map { .objectID($0) } ?? .null)
    }

    private func make(_ id: String, _ name: String) -> [Instruction] {
        let place = ValueAddress(object: dog(id), field: Self.name("name"))
        return [
            .createObject(dog(id)), .update(place, .string(ByteText(name)), .value(isDefault: false)),
        ]
    }

    private func stored(_ path: String, of collection: String) async throws -> String {
        try Shell.psql(
            try await Self.task.value.database,
            "select schema #>> '\(path)' from tidegate.collection_rules where collection = '\(collection)'"
        )
    }

    @Test("takes over classes, properties and queryable fields, and tells other devices")
    func growth() async throws {
        let device = try await open(Self.classes)
        #expect(try await stored("{title}", of: "Dog") == "Dog")
        #expect(try await stored("{properties,tags,items,bsonType}", of: "Dog") == "string")
        #expect(try await stored("{required}", of: "Dog") == #"["_id","name"]"#)
        #expect(try await stored("{properties,home,properties,street,bsonType}", of: "Person") == "string")
        #expect(try await stored("{properties,places,items,title}", of: "Person") == "Address")
        let link = try Shell.psql(
            try await Self.task.value.database,
            "select relationships #>> '{dogs,ref}' from tidegate.collection_rules where collection = 'Person'"
        )
        #expect(link == "#/relationship/mongodb-atlas/todo/Dog")

        try device.subscribe(["Dog": #"(name BEGINSWITH "R")"#])
        try await device.meet()
        #expect(device.file.subscriptions.state(of: 1) == .complete)
        let fields = try Shell.psql(
            try await Self.task.value.database,
            """
            select config #>> '{collection_queryable_fields_names,Dog}' from tidegate.settings where name = 'sync'
            """
        )
        #expect(fields == #"["name"]"#)
        let id = ItemExampleTests.newID()
        try device.file.write(at: ItemDevice.now, make(id, "Rex"))
        try await device.meet()
        #expect(device.file.compensated.isEmpty)
        let document = try Shell.psql(
            try await Self.task.value.database,
            #"select doc->>'name' from todo."Dog" where doc->'_id'->>'$oid' = '\#(id)'"#
        )
        #expect(document == "Rex")

        // Another device knows nothing of it, and gets it with its classes.
        let other = try await open([])
        try other.subscribe(["Dog": #"(name == "Rex")"#])
        try await other.meet()
        #expect(other.file.state.objects[dog(id)]?[Self.name("name")] == .plain(.string(ByteText("Rex"))))

        // One that has a class with more properties adds these, also to the embedded class.
        let newer = try await open(
            Self.classes + [
                Self.column("Dog", "age", .int, isNullable: true),
                Self.column("Address", "city", .string, isNullable: true),
            ]
        )
        #expect(try await stored("{properties,age,bsonType}", of: "Dog") == "long")
        #expect(try await stored("{properties,home,properties,city,bsonType}", of: "Person") == "string")
        #expect(
            try await stored("{properties,places,items,properties,city,bsonType}", of: "Person") == "string"
        )
        try newer.subscribe(["Dog": #"(name == "Rex")"#])
        try await newer.meet()
        let age = ValueAddress(object: dog(id), field: Self.name("age"))
        try newer.file.write(at: ItemDevice.now, [.update(age, .int(7), .value(isDefault: false))])
        try await newer.meet()
        try await eventually {
            try await other.meet()
            return other.file.state.objects[dog(id)]?[Self.name("age")] == .plain(.int(7))
        }
    }

    @Test("refuses what is new without the mode")
    func refused() async throws {
        let items = try await SyncServer.caller()
        let strange = RealmClient(items, try await items.newUser(), schema: Self.classes)
        let code = try RealmClient.code {
            try strange.connect()
            strange.upload()
            try strange.catchUp()
        }
        #expect(code == 225)
    }

    @Test("refuses what contradicts the schema from a device that has it")
    func contradiction() async throws {
        _ = try await open(Self.classes)
        let api = try await caller()
        let device = try SyncDevice(api, try await api.newUser())
        #expect(try device.begin().instructions.isEmpty)
        device.upload(Self.classes)
        _ = try device.catchUp(1)
        device.upload([
            .addTable(Self.name("Dog"), .topLevel(Self.key)), Self.column("Dog", "name", .int),
        ])
        #expect(try device.nextError() == "225")
        #expect(try await stored("{properties,name,bsonType}", of: "Dog") == "string")
    }

    /// A class whose properties the test changes.
    private static func cats(_ columns: [Instruction]) -> [Instruction] {
        [.addTable(name("Cat"), .topLevel(key))] + columns
    }

    private func cat(_ id: String) -> ObjectAddress {
        ObjectAddress(table: Self.name("Cat"), key: ObjectID(hex: id).map { .objectID($0) } ?? .null)
    }

    @Test("takes a breaking change from a device that begins anew, and the others begin anew")
    func breaking() async throws {
        let old = try await open(
            Self.cats([Self.column("Cat", "age", .int), Self.column("Cat", "name", .string)])
        )
        try old.subscribe(["Cat": "TRUEPREDICATE"])
        try await old.meet()
        let (tom, kitty) = (ItemExampleTests.newID(), ItemExampleTests.newID())
        try old.file.write(
            at: ItemDevice.now,
            [
                .createObject(cat(tom)),
                .update(
                    ValueAddress(object: cat(tom), field: Self.name("age")),
                    .int(3),
                    .value(isDefault: false)
                ),
            ]
        )
        try await old.meet()

        let new = try await open(
            Self.cats([
                Self.column("Cat", "age", .string), Self.column("Cat", "name", .string, isNullable: true),
                Self.column("Cat", "toys", .string, .list),
            ])
        )
        #expect(try await stored("{properties,age,bsonType}", of: "Cat") == "string")
        #expect(try await stored("{required}", of: "Cat") == #"["_id","age"]"#)
        #expect(try await stored("{properties,toys,bsonType}", of: "Cat") == "array")
        try new.subscribe(["Cat": "TRUEPREDICATE"])
        try await new.meet()
        // What is stored as a number fits no more, until somebody writes it otherwise.
        #expect(new.file.state.objects[cat(tom)] == nil)
        let age = ValueAddress(object: cat(kitty), field: Self.name("age"))
        try new.file.write(
            at: ItemDevice.now,
            [
                .createObject(cat(kitty)), .update(age, .string(ByteText("one")), .value(isDefault: false)),
            ]
        )
        try await new.meet()
        #expect(new.file.compensated.isEmpty)
        _ = try Shell.psql(
            try await Self.task.value.database,
            #"update todo."Cat" set doc = jsonb_set(doc, '{age}', '"three"') where doc->'_id'->>'$oid' = '\#(tom)'"#
        )
        try await eventually {
            try await new.meet()
            return new.file.state.objects[cat(tom)]?[age.field] == .plain(.string(ByteText("three")))
        }

        // The old file is of a history that has ended.
        old.disconnect()
        #expect(try RealmClient.code { try old.connect() } == 208)
        // A later device says nothing that is new, and nobody begins anew because of it.
        let other = try await open(Self.cats([Self.column("Cat", "age", .string)]))
        try other.subscribe(["Cat": "TRUEPREDICATE"])
        try await other.meet()
        #expect(other.file.state.objects.count == 2)
        new.disconnect()
        try await new.meet()
        #expect(new.file.state.objects.count == 2)
    }

    @Test("tells a device its classes that says none and asks for nothing, after a while")
    func onlooker() async throws {
        _ = try await open(Self.classes)
        let device = try await open([])
        #expect(device.file.topLevelClasses.isEmpty)
        try await eventually {
            try await device.meet()
            return device.file.topLevelClasses.contains(Self.name("Dog"))
        }
    }
}

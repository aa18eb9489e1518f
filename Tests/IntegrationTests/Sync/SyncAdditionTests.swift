import BSON
import Foundation
import Sync
import SyncModel
import TestSupport
import Testing

/// Classes and properties that a schema gets while devices hold objects.
///
/// Source: `sync-semantics.md` §13.2.
@Suite("Sync: additions to the schema", .serialized)
struct SyncAdditionTests {
    /// A server of its own, whose schema changes.
    private static let task = Task {
        try await RunningServer.start(app: SyncServer.files, name: "sync-additions")
    }

    private static func setSchema(_ title: String, _ properties: String, required: String = "") async throws {
        let schema = """
            {"title": "\(title)", "bsonType": "object", "required": ["_id", "ownerId"\(required)],
             "properties": {"_id": {"bsonType": "objectId"}, "ownerId": {"bsonType": "string"}\(properties)}}
            """
        try Shell.psql(
            try await task.value.database,
            "select tidegate.set_schema('item', 'mongodb-atlas', 'todo', '\(title)', '\(schema)'::json)"
        )
    }

    private static func all(_ title: String) -> String { #"{"\#(title)":"(TRUEPREDICATE)"}"# }

    // A schema that loses something is another version of it: each test has a class of its own.
    private static func content(_ title: String) -> String {
        """
        , "inner": {"title": "\(title)Part", "bsonType": "object", "properties": {"a": {"bsonType": "long"}}},
        "list": {"bsonType": "array", "items": {"title": "\(title)Part", "bsonType": "object",
                 "properties": {"a": {"bsonType": "long"}}}}
        """
    }
    private static func moreContent(_ title: String) -> String {
        """
        , "inner": {"title": "\(title)Part", "bsonType": "object",
                    "properties": {"a": {"bsonType": "long"}, "b": {"bsonType": "string"}}},
        "list": {"bsonType": "array", "items": {"title": "\(title)Part", "bsonType": "object",
                 "properties": {"a": {"bsonType": "long"}, "b": {"bsonType": "string"}}}},
        "tags": {"bsonType": "array", "items": {"bsonType": "string"}}, "size": {"bsonType": "long"}
        """
    }

    /// Takes the end of a session, and binds again.
    private func again(_ device: SyncDevice, _ title: String) throws -> [SyncDevice.Message] {
        while try device.nextError() != "200" {}
        device.send("unbind 1\n")
        device.rebind(1, Self.all(title))
        return try device.catchUp(9)
    }

    @Test(
        "devices get the values that documents have for new properties, without a reset",
        arguments: [13, 14]
    )
    func properties(protocolVersion: Int) async throws {
        let title = "Box\(protocolVersion)"
        try await Self.setSchema(title, Self.content(title))
        let api = APICaller(server: try await Self.task.value, app: "item-abcde")
        let user = try await api.newUser()
        let name = "com.mongodb.realm-query-sync#\(protocolVersion)"
        var device = try SyncDevice(api, user, protocols: name)
        try await eventually {
            device = try SyncDevice(api, user, protocols: name)
            try device.begin()
            return try device.subscribe(1, Self.all(title)).allSatisfy { $0.name == "download" }
        }
        let id = ItemExampleTests.newID()
        let unfit = ItemExampleTests.newID()
        for (id, size) in [(id, "7"), (unfit, #""seven""#)] {
            try Shell.psql(
                api.server.database,
                #"""
                insert into todo."\#(title)" (doc) values ('{"_id": {"$oid": "\#(id)"}, "ownerId": "\#(user.id)", "size": \#(size),
                "inner": {"a": 1, "b": "x"}, "list": [{"a": 2, "b": "y"}], "tags": ["t"]}')
                """#
            )
        }
        let box = ObjectAddress(table: ByteText(title), key: ItemExampleTests.object(id).key)
        let other = ObjectAddress(table: ByteText(title), key: ItemExampleTests.object(unfit).key)
        var made: [Instruction] = []
        try await eventually {
            made += try device.catchUp(Int64(10 + made.count)).flatMap(\.instructions)
            return made.contains(.createObject(box)) && made.contains(.createObject(other))
        }
        try await Self.setSchema(title, Self.moreContent(title))
        let messages = try again(device, title)
        let told = messages.flatMap(\.instructions)
        func at(_ field: String, _ path: PathElement...) -> ValueAddress {
            ValueAddress(object: box, field: ByteText(field), path: path)
        }
        func value(_ address: ValueAddress, _ payload: Payload) -> Instruction {
            .update(address, payload, .value(isDefault: false))
        }
        let size = Instruction.addField("size", in: title, isNullable: true)
        #expect(told.contains(size))
        let b = PathElement.key(ByteText("b"))
        for wanted in [
            value(at("size"), .int(7)), value(at("inner", b), .text("x")),
            value(at("list", .index(0), b), .text("y")),
            .arrayInsert(at("tags", .index(0)), .text("t"), priorSize: 0),
        ] {
            #expect(told.contains(wanted))
        }
        // A document that fits no more is gone, and what the device knew is not said again.
        #expect(told.contains(.eraseObject(other)))
        let isBootstrap = protocolVersion >= 14
        #expect(told.contains(.createObject(box)) == isBootstrap)
        #expect(told.contains(value(at("inner", .key(ByteText("a"))), .int(1))) == isBootstrap)
        #expect(messages.contains { $0.name == "json_error" } == false)

        // Operators see which, and why.
        try await expectUnsynced(api, title, unfit, #"the field "size" is not of type int"#)
        try Shell.psql(
            api.server.database,
            #"update todo."\#(title)" set doc = doc || '{"size": 8}' where doc->'_id'->>'$oid' = '\#(unfit)'"#
        )
        try await expectUnsynced(api, title, unfit, "")
        #expect(try device.catchUp(15).flatMap(\.instructions).contains(.createObject(other)))

        // Once is enough.
        let (server, client) = (device.progress.server, device.progress.client)
        device.send("upload 1 0 0 0 \(client) \(server) \(server)\n")
        _ = try device.catchUp(20)
        device.send("unbind 1\n")
        #expect(try device.receive().name == "unbound")
        device.rebind(1, Self.all(title))
        #expect(try device.catchUp(1).flatMap(\.instructions) == [])
        device.close()
    }

    /// The list and the log have the document, for a reason; without one, the list has it no more.
    private func expectUnsynced(_ api: APICaller, _ title: String, _ id: String, _ reason: String)
        async throws
    {
        let document = #"{"$oid":"\#(id)"}"#
        try await eventually {
            try Shell.psql(
                api.server.database,
                """
                select coalesce(max(reason), '') from tidegate.unsynced_documents
                where app = 'item-abcde' and database = 'todo' and collection = '\(title)' and id = '\(document)'
                """
            ) == reason
        }
        guard !reason.isEmpty else { return }
        try await eventually {
            try Shell.psql(
                api.server.database,
                """
                select error::json -> 'todo.\(title)' ->> '\(document)' from tidegate.logs
                where type = 'SYNC_ERROR' and code = 'MongoEncodingError' and error like '%\(id)%'
                """
            ) == reason
        }
    }

    @Test("documents that fit no class are listed as they come, and leave the list when they go")
    func unsynced() async throws {
        try await Self.setSchema("Chest", Self.moreContent("Chest"))
        let api = APICaller(server: try await Self.task.value, app: "item-abcde")
        let device = try SyncDevice(api, try await api.newUser())
        try device.begin()
        let id = ItemExampleTests.newID()
        try Shell.psql(
            api.server.database,
            #"insert into todo."Chest" (doc) values ('{"_id": {"$oid": "\#(id)"}, "tags": ["a"]}')"#
        )
        try await expectUnsynced(api, "Chest", id, #"the required field "ownerId" is missing"#)
        try Shell.psql(
            api.server.database,
            #"delete from todo."Chest" where doc->'_id'->>'$oid' = '\#(id)'"#
        )
        try await expectUnsynced(api, "Chest", id, "")
        device.close()
    }

    @Test("documents that came while the schema was another are listed when it comes back", arguments: 1...3)
    func formsThatComeBack(time: Int) async throws {
        let api = APICaller(server: try await Self.task.value, app: "item-abcde")
        let user = try await api.newUser()
        let unfit = ItemExampleTests.newID()
        let address = ObjectAddress(table: ByteText("Crate"), key: ItemExampleTests.object(unfit).key)
        for hasSize in [true, false, true] {
            try await Self.setSchema("Crate", hasSize ? Self.moreContent("Crate") : Self.content("Crate"))
            let device = try await Self.newest(api, user, hasSize: hasSize)
            _ = try device.subscribe(1, Self.all("Crate"))
            if !hasSize {
                try Shell.psql(
                    api.server.database,
                    #"""
                    insert into todo."Crate" (doc)
                    values ('{"_id": {"$oid": "\#(unfit)"}, "ownerId": "\#(user.id)", "size": "seven"}')
                    """#
                )
                var mark: Int64 = 10
                try await eventually {
                    mark += 1
                    return try device.catchUp(mark).flatMap(\.instructions).contains(.createObject(address))
                }
            }
            device.close()
        }
        try await expectUnsynced(api, "Crate", unfit, #"the field "size" is not of type int"#)
    }

    /// A device with the newest version of the schema, once that is as it was set.
    private static func newest(_ api: APICaller, _ user: APICaller.User, hasSize: Bool) async throws
        -> SyncDevice
    {
        let size = Instruction.addField("size", in: "Crate", isNullable: true)
        var device = try SyncDevice(api, user)
        try await eventually {
            device.close()
            device = try SyncDevice(api, user)
            let version = try Shell.psql(
                api.server.database,
                "select coalesce(max(version), 0) from tidegate.sync_schema_versions"
            )
            let told = try device.begin(schemaVersion: Int(version) ?? 0)
            return told.instructions.contains(size) == hasSize
        }
        return device
    }
}

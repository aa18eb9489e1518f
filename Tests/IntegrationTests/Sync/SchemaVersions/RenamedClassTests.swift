import BSON
import Foundation
import Sync
import SyncModel
import TestSupport
import Testing

/// Versions of a schema in which the class of a collection has another name.
///
/// Source: `sync-semantics.md` §§13.2, 13.3.
@Suite("Sync: classes with other names", .serialized)
struct RenamedClassTests {
    private static let server = Task {
        var files = SyncServer.files
        files["data_sources/mongodb-atlas/todo/Note/schema.json"] = NoteServer.schema(NoteServer.first)
        return try await RunningServer.start(app: files, name: "sync-renamed-classes")
    }

    private static func caller() async throws -> APICaller {
        APICaller(server: try await server.value, app: "item-abcde")
    }

    private static func sql(_ statement: String) async throws -> String {
        try Shell.psql(try await server.value.database, statement)
    }

    /// A device of a version, by whose name of the class it goes.
    private struct Device {
        let client: RealmClient
        let name: ByteText
        let user: APICaller.User

        init(_ api: APICaller, _ user: APICaller.User, version: Int, _ name: String) throws {
            self.name = ByteText(name)
            self.user = user
            let key = Instruction.KeyColumn(field: ByteText("_id"), type: .objectID, isNullable: false)
            client = RealmClient(api, user, schema: [.addTable(self.name, .topLevel(key))])
            client.schemaVersion = version
            try client.connect()
            try client.subscribe([name: #"(ownerId == "\#(user.id)")"#])
            try client.catchUp()
        }

        func object(_ id: String) -> ObjectAddress {
            ObjectAddress(table: name, key: ObjectID(hex: id).map { .objectID($0) } ?? .null)
        }

        func set(_ id: String, _ field: String, _ value: Payload, isNew: Bool = false) throws {
            func update(_ field: String, _ value: Payload) -> Instruction {
                .update(
                    ValueAddress(object: object(id), field: ByteText(field)),
                    value,
                    .value(isDefault: false)
                )
            }
            let made = [.createObject(object(id)), update("ownerId", .text(user.id))]
            try client.file.write(at: ItemDevice.now, (isNew ? made : []) + [update(field, value)])
        }

        func tag(_ id: String, _ text: String) throws {
            let place = ValueAddress(object: object(id), field: ByteText("tags"), path: [.index(0)])
            try client.file.write(at: ItemDevice.now, [.arrayInsert(place, .text(text), priorSize: 0)])
        }

        /// Comes again as often as it is told to, which it is when a class has got another name.
        func meet() async throws {
            try await client.meet()
            client.upload()
        }

        func value(_ id: String, _ field: String) -> RealmState.Value? {
            client.file.state.objects[object(id)]?[ByteText(field)]
        }
    }

    @Test("are served beside each other: each device has the objects by its own name")
    func renamed() async throws {
        let api = try await Self.caller()
        let user = try await api.newUser()
        let old = try Device(api, user, version: 0, "Note")
        let (first, second, third) = (
            ItemExampleTests.newID(), ItemExampleTests.newID(), ItemExampleTests.newID()
        )
        try old.set(first, "title", .text("by Note"), isNew: true)
        try await old.meet()
        let renamed = NoteServer.schema(NoteServer.first)
            .replacing(#""title": "Note""#, with: #""title": "Slip""#)
        _ = try await Self.sql(
            "select tidegate.set_schema('item', 'mongodb-atlas', 'todo', 'Note', '\(renamed)'::json)"
        )
        var opened: Device?
        try await eventually {
            try await old.meet()
            opened = try? Device(api, user, version: 1, "Slip")
            return opened != nil
        }
        let new = try #require(opened)
        #expect(new.value(first, "title") == .plain(.text("by Note")))

        // What either makes and changes reaches the other, and so does what psql does, to devices that are connected.
        try new.set(second, "title", .text("by Slip"), isNew: true)
        try new.set(first, "size", .int(7))
        try await new.meet()
        try old.set(third, "title", .text("by Note again"), isNew: true)
        try await old.meet()
        _ = try await Self.sql(
            #"update todo."Note" set doc = doc || '{"size": 8}' where doc->'_id'->>'$oid' = '\#(third)'"#
        )
        try await eventually {
            try await old.meet()
            try await new.meet()
            for device in [old, new] {
                guard device.value(first, "size") == .plain(.int(7)) else { return false }
                guard device.value(second, "title") == .plain(.text("by Slip")) else { return false }
                guard device.value(third, "size") == .plain(.int(8)) else { return false }
            }
            return true
        }

        // Both change one object without knowing of each other: what they did is merged.
        old.client.disconnect()
        new.client.disconnect()
        try old.tag(first, "old")
        try new.tag(first, "new")
        try old.set(second, "title", .text("earlier"))
        usleep(20_000)
        try new.set(second, "title", .text("later"))
        try new.client.connect()
        try await new.meet()
        try old.client.connect()
        try await old.meet()
        try await new.meet()
        let tags = try await Self.sql(
            #"select doc->>'tags' from todo."Note" where doc->'_id'->>'$oid' = '\#(first)'"#
        )
        #expect(tags == #"["old", "new"]"#)
        for device in [old, new] {
            let both: [RealmState.Value] = [.plain(.text("old")), .plain(.text("new"))]
            #expect(device.value(first, "tags") == .list(both))
            #expect(device.value(second, "title") == .plain(.text("later")))
            #expect(device.client.file.compensated.isEmpty)
        }
    }
}

import BSON
import Foundation
import Sync
import SyncModel
import TestSupport
import Testing

/// Files that hold the documents of one partition.
///
/// Source: `sync-semantics.md` §16; `realm-sync-protocol.md` §5.6.
@Suite("Sync: partitions", .serialized)
struct PartitionTests {
    private func text(_ text: String) -> Payload { .string(ByteText(text)) }

    @Test("gives new objects the partition that they were made in, and hands them on inside of it")
    func injected() async throws {
        let device = try await PartitionDevice.open()
        let other = try await PartitionDevice.open(device.user)
        let stranger = try await PartitionDevice.open()
        let id = ItemExampleTests.newID()
        try device.create(id, ["name": text("water the plants")])
        try device.meet()
        #expect(try device.stored(id, "realm_id") == device.user.id)
        #expect(try device.stored(id, "name") == "water the plants")
        try other.meet()
        #expect(other.value(id, "name") == .plain(text("water the plants")))
        #expect(other.value(id, "realm_id") == .plain(text(device.user.id)))
        try stranger.meet()
        #expect(!stranger.holds(id))
        // One that comes later gets all of it at once.
        let late = try await PartitionDevice.open(device.user)
        #expect(late.value(id, "name") == .plain(text("water the plants")))
        #expect(device.client.file.compensated.isEmpty)

        // A default or a null says nothing of the partition.
        let second = ItemExampleTests.newID()
        try device.create(second, ["name": text("b"), "realm_id": text("")], isDefault: true)
        try device.meet()
        #expect(try device.stored(second, "realm_id") == device.user.id)
    }

    @Test("hands on what psql and the Data API change; a document of another partition leaves")
    func written() async throws {
        let device = try await PartitionDevice.open()
        let (id, moved) = (ItemExampleTests.newID(), ItemExampleTests.newID())
        for (id, name) in [(id, "by hand"), (moved, "goes")] {
            try await PartitionServer.sql(
                #"""
                insert into todo."Task" (doc) values ('{"_id": {"$oid": "\#(id)"}, "realm_id": "\#(device.user.id)",
                    "name": "\#(name)"}')
                """#
            )
        }
        try await eventually {
            try device.meet()
            return device.holds(id) && device.holds(moved)
        }
        let answer = try await device.api.act(
            "updateOne",
            "Task",
            #""filter": {"_id": {"$oid": "\#(id)"}}, "update": {"$set": {"name": "by the API"}}"#,
            as: device.user.bearer
        )
        #expect(answer.status == 200)
        try await PartitionServer.sql(
            #"update todo."Task" set doc = doc || '{"realm_id": "PUBLIC"}' where doc->'_id'->>'$oid' = '\#(moved)'"#
        )
        try await eventually {
            try device.meet()
            return device.value(id, "name") == .plain(self.text("by the API")) && !device.holds(moved)
        }
        let visitor = try await PartitionDevice.open(partition: #""PUBLIC""#)
        #expect(visitor.value(moved, "name") == .plain(text("goes")))
    }

    @Test("undoes writes to a partition that may only be read, and writes of another partition")
    func undone() async throws {
        let device = try await PartitionDevice.open(partition: #""NEWS""#)
        let id = ItemExampleTests.newID()
        try device.create(id, ["name": text("fake")])
        try device.meet()
        #expect(
            device.client.file.compensated.flatMap(\.updates).map(\.reason) == [
                "write to \"\(id)\" in table \"Task\" was denied by write filter in role \"read-only\""
            ]
        )
        #expect(!device.holds(id))
        #expect(try device.stored(id, "name") == "")

        let own = try await PartitionDevice.open()
        try own.create(id, ["name": text("foreign"), "realm_id": text("PUBLIC")])
        try own.meet()
        #expect(own.client.file.compensated.flatMap(\.updates).count == 1)
        #expect(!own.holds(id))
        #expect(try own.stored(id, "name") == "")
    }

    static let notOpened: [(String, Int64)] = [
        (#""somebody else's""#, 206), ("7", 204), (#"{"$oid": "6b6b6b6b6b6b6b6b6b6b6b6b"}"#, 204), ("{", 204),
        ("null", 206),
    ]

    @Test("refuses partitions that the user may not read, and values of another type", arguments: notOpened)
    func closed(partition: String, code: Int64) async throws {
        let api = try await PartitionServer.caller()
        let device = PartitionDevice(api, try await api.newUser(), partition: partition)
        #expect(try RealmClient.code { try device.client.connect() } == code)
        #expect(device.client.error?.body["action"]?.string == "ApplicationBug")
    }

    @Test("tells devices of the other kind of sync to change over")
    func otherKind() async throws {
        let api = try await PartitionServer.caller()
        let flexible = RealmClient(api, try await api.newUser(), schema: PartitionDevice.schema)
        #expect(try RealmClient.code { try flexible.connect() } == 114)
        let items = try await SyncServer.caller()
        let user = try await items.newUser()
        let parted = RealmClient(items, user, schema: ItemDevice.schema, partition: #""abc""#)
        #expect(try RealmClient.code { try parted.connect() } == 113)
    }

    @Test("goes on after a connection was lost, and brings new classes to files that were there before")
    func resumed() async throws {
        let device = try await PartitionDevice.open(partition: #""PUBLIC""#)
        let writer = try await PartitionDevice.open(partition: #""PUBLIC""#)
        device.client.disconnect()
        let (missed, offline) = (ItemExampleTests.newID(), ItemExampleTests.newID())
        try writer.create(missed, ["name": text("missed")])
        try device.create(offline, ["name": text("offline")])
        try writer.meet()
        try await PartitionServer.sql(
            """
            select tidegate.set_schema('parts', 'mongodb-atlas', 'todo', 'Task', '{"title": "Task", "bsonType": "object",
                "required": ["_id", "name"], "properties": {\(PartitionServer.taskSchema), "color": {"bsonType": "string"}}}')
            """
        )
        // It may be told to come again as soon as the schema is in force.
        try await eventually {
            do {
                if !device.client.isConnected { try device.client.connect() }
                try device.meet()
                _ = try await PartitionServer.sql(
                    #"update todo."Task" set doc = doc || '{"color": "red"}' where doc->'_id'->>'$oid' = '\#(missed)'"#
                )
                return device.value(missed, "color") == .plain(self.text("red"))
            } catch is RealmClient.Ended {
                device.client.disconnect()
                return false
            }
        }
        #expect(device.value(missed, "name") == .plain(text("missed")))
        #expect(try device.stored(offline, "realm_id") == "PUBLIC")
        // Neither partition nor version of a file can be another's.
        let key = device.client.file.ident
        #expect(
            try await PartitionServer.sql(
                "select partition from tidegate.sync_clients where ident = \(key?.file ?? 0)"
            ) == #""PUBLIC""#
        )
        let stray = RealmClient(
            url: device.api.server.http,
            app: device.api.app,
            token: device.user.accessToken,
            file: device.client.file,
            partition: "\"\(device.user.id)\""
        )
        device.client.disconnect()
        #expect(try RealmClient.code { try stray.connect() } == 208)
    }
}

import BSON
import Foundation
import Sync
import SyncModel
import TestSupport
import Testing

/// Scenario 6 of the acceptance list: from partitions to Flexible Sync, and back.
///
/// Source: `sync-semantics.md` §17.
@Suite("Sync: migration of partitions", .serialized)
struct MigrationTests {
    private static let task = Task {
        try await RunningServer.start(app: PartitionServer.files, name: "sync-migration")
    }

    private func sql(_ statement: String) async throws {
        try Shell.psql(try await Self.task.value.database, statement)
    }

    private func text(_ text: String) -> Payload { .string(ByteText(text)) }

    /// Connects until the server answers with an error of this code; until it has heard of a change it may answer with
    /// that of before.
    private func refused(_ device: RealmClient, with code: Int64, before: Int64 = 200) async throws {
        try await eventually {
            do {
                try device.connect()
                return false
            } catch let error as RealmClient.Ended where [code, before, 200].contains(error.code) {
                return error.code == code
            }
        }
    }

    private func connected(_ device: RealmClient) async throws {
        try await eventually {
            do {
                try device.connect()
                return true
            } catch is RealmClient.Ended {
                return false
            }
        }
    }

    @Test("6. Devices change over with what they have not synced, and back; twice")
    func cycle() async throws {
        let api = APICaller(server: try await Self.task.value, app: "parts-abcde")
        let user = try await api.newUser()
        let device = PartitionDevice(api, user)
        try device.client.connect()
        let synced = ItemExampleTests.newID()
        try device.create(synced, ["name": text("synced")])
        try device.meet()
        #expect(try device.stored(synced, "realm_id") == user.id)
        for _ in 0..<2 {
            let offline = ItemExampleTests.newID()
            device.client.disconnect()
            try device.create(offline, ["name": text("offline")])
            try await sql("select tidegate.migrate_to_flexible_sync('parts')")
            try await refused(device.client, with: 232)
            #expect(
                device.client.error?.body["partitionQuery"]?.string == "realm_id == \"\(user.id)\""
            )
            try device.client.changeOver()
            try device.meet()
            #expect(device.client.file.subscriptions.active.queries.keys.sorted() == ["Task"])
            #expect(device.value(synced, "name") == .plain(text("synced")))
            #expect(try device.stored(offline, "name") == "offline")
            #expect(device.client.file.compensated.isEmpty)
            // What it makes now is made in its partition still.
            let fresh = ItemExampleTests.newID()
            try device.create(fresh, ["name": text("fresh")])
            try device.meet()
            #expect(try device.stored(fresh, "realm_id") == user.id)
            #expect(device.client.file.compensated.isEmpty)

            // One that was never anything else asks for the same by itself, and sees what its role lets it.
            let native = RealmClient(api, user, schema: PartitionDevice.schema)
            try native.connect()
            try native.subscribe(["Task": "(TRUEPREDICATE)"])
            try native.catchUp()
            #expect(native.file.state.objects[PartitionDevice.object(fresh)] != nil)
            let stranger = RealmClient(api, try await api.newUser(), schema: PartitionDevice.schema)
            try stranger.connect()
            try stranger.subscribe(["Task": "(TRUEPREDICATE)"])
            try stranger.catchUp()
            #expect(stranger.file.state.objects[PartitionDevice.object(fresh)] == nil)

            let late = ItemExampleTests.newID()
            device.client.disconnect()
            native.disconnect()
            stranger.disconnect()
            try device.create(late, ["name": text("late")])
            try await sql("select tidegate.revert_to_partition_sync('parts')")
            try await refused(device.client, with: 234)
            try device.client.changeOver()
            try device.meet()
            #expect(device.client.partition == "\"\(user.id)\"")
            #expect(device.value(fresh, "name") == .plain(text("fresh")))
            #expect(try device.stored(late, "realm_id") == user.id)
            try await refused(native, with: 114)
        }
        let rule = try Shell.psql(
            api.server.database,
            "select default_rule->'roles'->0->>'name' from tidegate.data_sources"
        )
        #expect(rule == "all")
    }

    @Test("ends sessions of the old kind, so that they come again and change over")
    func connectedDevices() async throws {
        let api = APICaller(server: try await Self.task.value, app: "parts-abcde")
        let device = PartitionDevice(api, try await api.newUser())
        try await connected(device.client)
        try await sql("select tidegate.migrate_to_flexible_sync('parts')")
        let code = try RealmClient.code {
            while true { try device.client.receive() }
        }
        #expect(code == 200)
        try await refused(device.client, with: 232)
        try await sql("select tidegate.revert_to_partition_sync('parts')")
        // It has not changed over, but its history is not there any more.
        try await refused(device.client, with: 208, before: 232)
        #expect(try device.client.reset(.recover) == .recovered)
    }

    static let rules = [
        (#"true"#, #"true"#), (#"{"%%true": true}"#, #"{"%%true": true}"#),
        (#"{"%%user.id": "%%partition"}"#, #"{"owner": "%%user.id"}"#),
        (#"{"%%partition": {"$in": ["a"]}}"#, #"{"owner": {"$in": ["a"]}}"#),
        (
            #"{"%or": [{"%%user.custom_data.parts": "%%partition"}, {"%%partition": "PUBLIC"}]}"#,
            #"{"%or": [{"owner": "%%user.custom_data.parts"}, {"owner": "PUBLIC"}]}"#
        ),
        (
            #"{"%%partition": "x", "%%user.id": "%%partition"}"#,
            #"{"%and": [{"owner": "%%user.id"}, {"owner": "x"}]}"#
        ),
        (
            #"{"%%user.custom_data.parts": {"$in": ["%%partition"]}}"#,
            #"{"%%user.custom_data.parts": {"$in": ["%%root.owner"]}}"#
        ),
    ]

    @Test("makes filters of the permissions of partitions", arguments: rules)
    func translated(permission: String, filter: String) async throws {
        let same = try Shell.psql(
            try await Self.task.value.database,
            "select tidegate.part_rule('\(permission)', 'owner') = '\(filter)'::jsonb"
        )
        #expect(same == "t")
    }

    @Test("refuses what cannot be said as a role, and what is no migration")
    func refusals() async throws {
        for statement in [
            "select tidegate.part_rule('{\"%%true\": {\"%function\": {\"name\": \"f\"}}}', 'owner')",
            "select tidegate.revert_to_partition_sync('nobody')",
            "select tidegate.migrate_to_flexible_sync('nobody')",
        ] {
            await #expect(throws: (any Error).self) { try await sql(statement) }
        }
    }
}

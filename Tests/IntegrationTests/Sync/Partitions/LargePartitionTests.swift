import BSON
import Foundation
import Sync
import SyncModel
import TestSupport
import Testing

/// Partitions that no message could hold.
///
/// Source: `sync-semantics.md` §16, `realm-sync-protocol.md` §4.2.
@Suite("Sync: large partitions", .serialized)
struct LargePartitionTests {
    private static let documents = 110
    private static let bytes = 200_000
    private static let names = ByteText("name")

    /// All partitions are there before anybody syncs: what comes later is history.
    private static let server = Task {
        var files = PartitionServer.files
        files["sync/config.json"] = """
            {"type": "partition", "state": "enabled", "service_name": "mongodb-atlas", "database_name": "todo",
             "partition": {"key": "realm_id", "type": "string", "permissions": {"read": true, "write": true}}}
            """
        let server = try await RunningServer.start(app: files, name: "sync-large-partitions")
        _ = try Shell.psql(
            server.database,
            """
            insert into todo."Task" (doc) select jsonb_build_object(
                '_id', jsonb_build_object('$oid', '6b6b6b6b6b6b6b6b' || lpad(to_hex(p), 2, '0') || lpad(to_hex(n * 16), 6, '0')),
                'realm_id', p::text, 'name', repeat(md5(n::text), \(bytes / 32)), 'count', n)
                from generate_series(1, \(documents)) n, unnest(array[0, 1, 2, 9, 18]) p
            """
        )
        return server
    }

    private static func sql(_ statement: String) async throws -> String {
        try Shell.psql(try await server.value.database, statement)
    }

    /// Keys in the order in which they come, with room between them.
    private static func id(_ partition: Int, _ number: Int) -> String {
        "6b6b6b6b6b6b6b6b" + String(format: "%02x%06x", partition, number * 16)
    }

    private func device(_ partition: Int) async throws -> PartitionDevice {
        let api = APICaller(server: try await Self.server.value, app: "parts-abcde")
        return PartitionDevice(api, try await api.newUser(), partition: "\"\(partition)\"")
    }

    /// What PostgreSQL has of a partition: key, count, and length and beginning of the name.
    private func stored(_ partition: Int) async throws -> [String] {
        try await Self.sql(
            """
            select doc->'_id'->>'$oid' || ' ' || coalesce(doc->>'count', '-') || ' ' || length(doc->>'name')
                || left(doc->>'name', 32) from todo."Task" where doc->>'realm_id' = '\(partition)' order by 1
            """
        ).split(separator: "\n").map(String.init)
    }

    private func held(_ device: PartitionDevice) -> [String] {
        device.client.file.state.objects.map { object, fields in
            var (id, count, name) = ("", "-", "")
            if case .objectID(let key) = object.key { id = key.hex }
            if case .plain(.int(let number))? = fields[ByteText("count")] { count = "\(number)" }
            if case .plain(.string(let text))? = fields[Self.names] { name = text.text }
            return "\(id) \(count) \(name.utf8.count)\(name.prefix(32))"
        }.sorted()
    }

    @Test("come in parts of bounded size")
    func parts() async throws {
        let device = try await device(0)
        try device.client.connect()
        try device.client.catchUp()
        #expect(held(device) == (try await stored(0)))
        #expect(device.client.parts.count > 16)
        #expect(device.client.parts.allSatisfy { $0.bytes < (1 << 20) + Self.bytes + 1000 })
        #expect(device.client.parts.dropLast().allSatisfy { !$0.isLast })
        #expect(device.client.parts.last?.isLast == true)
        // What was sent is acknowledged, and changes go on.
        try device.meet()
        _ = try await Self.sql(
            #"update todo."Task" set doc = doc || '{"count": -1}' where doc->'_id'->>'$oid' = '\#(Self.id(0, 7))'"#
        )
        try await eventually {
            try device.meet()
            return device.value(Self.id(0, 7), "count") == .plain(.int(-1))
        }
        #expect(held(device) == (try await stored(0)))
    }

    /// After how many messages the connection is lost: with the first snapshot, in the one after it, and in the last.
    @Test("go on where a connection was lost, with what has changed on both sides", arguments: [1, 2, 9, 18])
    func interrupted(messages: Int) async throws {
        let device = try await device(messages)
        func id(_ number: Int) -> String { Self.id(messages, number) }
        try device.client.connect()
        for _ in 1..<messages { try device.client.receive() }
        let had = device.client.file.state.objects.count
        #expect(had > 0 && had < Self.documents)
        device.client.disconnect()
        // Others change, delete and make what the device has, and what it does not have yet.
        let last = Self.documents
        _ = try await Self.sql(
            """
            update todo."Task" set doc = doc || '{"count": 1000}'
                where doc->'_id'->>'$oid' in ('\(id(1))', '\(id(last))');
            delete from todo."Task" where doc->'_id'->>'$oid' in ('\(id(2))', '\(id(last - 1))');
            update todo."Task" set doc = doc || '{"realm_id": "elsewhere"}'
                where doc->'_id'->>'$oid' in ('\(id(3))', '\(id(last - 2))');
            insert into todo."Task" (doc) select jsonb_build_object(
                '_id', jsonb_build_object('$oid', left('\(id(1))', 18) || lpad(to_hex(n * 16 + 1), 6, '0')),
                'realm_id', '\(messages)', 'name', 'new') from unnest(array[1, \(last)]) n
            """
        )
        // The device changes what it has, and makes what is there without its knowing: that gives way.
        let known = ValueAddress(object: PartitionDevice.object(id(1)), field: Self.names)
        try device.client.file.write(
            at: ItemDevice.now,
            [.update(known, .string(ByteText("mine")), .value(isDefault: false))]
        )
        try device.create(id(last), ["name": .string(ByteText("mine, too"))])
        let own = ItemExampleTests.newID()
        try device.create(own, ["name": .string(ByteText("only mine"))])
        try device.client.connect()
        try device.meet()
        try await eventually {
            try device.meet()
            return held(device) == (try await stored(messages))
        }
        #expect(device.value(id(1), "name") == .plain(.string(ByteText("mine"))))
        #expect(device.value(id(1), "count") == .plain(.int(1000)))
        #expect(device.value(id(last), "name") != .plain(.string(ByteText("mine, too"))))
        #expect(device.value(id(last), "count") == .plain(.int(1000)))
        #expect(device.holds(own))
        #expect(held(device).count == last - 4 + 3)
        #expect(device.client.file.compensated.isEmpty)
        // Nothing comes twice, and a later session finds nothing left.
        device.client.disconnect()
        let before = device.client.parts.count
        try device.client.connect()
        try device.meet()
        #expect(device.client.parts.count <= before + 2)
        #expect(held(device) == (try await stored(messages)))
    }
}

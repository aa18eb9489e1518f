import BSON
import Foundation
import Postgres
import SQL
import Sync
import SyncModel
import TestSupport
import Testing

/// Changes of a device to objects that come into its view and leave it meanwhile.
@Suite("Sync: merging at the edge of the view")
struct ViewMergeTests {
    private struct Scene {
        let server: SyncModelServer
        let group = "v-\(UUID().uuidString)"
        let key = Int64.random(in: 1 << 40..<1 << 60)
        let now = Int64(Date().timeIntervalSince1970 * 1000) - 1_420_070_400_000

        /// A device that is about to get another's object by a bootstrap, and that other.
        func bootstrapping() throws -> (device: RealmClient, other: RealmClient) {
            let other = try server.device(of: server.users[0], group: group)
            try other.file.write(at: now, creation("server's"))
            other.upload()
            try other.catchUp()
            let device = try server.device(of: server.users[1], group: "nothing-" + group)
            try device.subscribe(["T": #"(g == "\#(group)")"#])
            return (device, other)
        }

        func creation(_ text: String) -> [Instruction] {
            [
                .create(key), Place("g", key: key).set(.text(group)),
                Place("who", key: key).set(.text("all")), Place("s", key: key).set(.text(text)),
            ]
        }

        func sql(_ assignment: SQLFragment) async throws {
            _ = try await server.database.run(
                #"UPDATE todo."T" SET doc = \#(assignment) WHERE (doc->>'_id')::numeric = \#(bind: .int(key))"#,
                within: .seconds(60)
            )
            try await server.settle()
        }

        /// Everybody meets; then all hold what PostgreSQL holds.
        func expectAgreement(_ devices: [RealmClient], _ text: String) async throws {
            for _ in 0..<2 {
                for device in devices {
                    device.upload()
                    try device.catchUp()
                }
            }
            let stored = try await server.stored(group)
            for device in devices { #expect(device.file.state.differences(from: stored) == []) }
            #expect(stored.objects[Place.object(key)]?[ByteText("s")] == .plain(.string(ByteText(text))))
        }
    }

    @Test("what a bootstrap replaces is lost on the device and in PostgreSQL alike")
    func bootstrap() async throws {
        let scene = Scene(server: try await SyncModelServer.shared())
        let (device, other) = try scene.bootstrapping()
        // The bootstrap is on its way.
        try device.file.write(at: scene.now + 1000, scene.creation("device's"))
        device.upload()
        try await scene.expectAgreement([device, other], "server's")
    }

    @Test("what a device changed before a bootstrap is lost as well when it is sent after a reconnect")
    func bootstrapThenReconnect() async throws {
        let scene = Scene(server: try await SyncModelServer.shared())
        let (device, other) = try scene.bootstrapping()
        try device.file.write(at: scene.now + 1000, scene.creation("device's"))
        let list = Place("li", 0, key: scene.key)
        try device.file.write(at: scene.now + 1000, [list.insert(.text("device's"), of: 0)])
        // The bootstrap takes the object's place; nothing was sent meanwhile.
        try device.catchUp()
        device.disconnect()
        try device.connect()
        try await scene.expectAgreement([device, other], "server's")
        // What is changed with the bootstrap stays, whenever it is sent.
        device.disconnect()
        try device.file.write(at: scene.now + 2000, [Place("s", key: scene.key).set(.text("later"))])
        try device.connect()
        try await scene.expectAgreement([device, other], "later")
    }

    @Test("a bootstrap that never arrived takes nothing away, and one that follows it is whole")
    func bootstrapThatWasLost() async throws {
        let scene = Scene(server: try await SyncModelServer.shared())
        let other = try scene.server.device(of: scene.server.users[0], group: scene.group)
        try other.file.write(at: scene.now, scene.creation("server's"))
        other.upload()
        try other.catchUp()
        let device = try scene.server.device(of: scene.server.users[1], group: "nothing-" + scene.group)
        let query = #"(g == "\#(scene.group)") OR (g == "nothing-\#(scene.group)")"#
        for number in 0..<3 {
            try device.subscribe(["T": query])
            // The server has sent it as soon as another device has an answer that was asked for later, or never.
            if number > 0 { try other.catchUp() }
            device.disconnect()
            try device.connect()
        }
        try device.catchUp()
        #expect(device.file.state.objects[Place.object(scene.key)] != nil)
        device.disconnect()
        try device.file.write(at: scene.now + 1000, [Place("s", key: scene.key).set(.text("device's"))])
        let list = Place("li", 0, key: scene.key)
        try device.file.write(at: scene.now + 1000, [list.insert(.text("device's"), of: 0)])
        try device.connect()
        try await scene.expectAgreement([device, other], "device's")
        let object = other.file.state.objects[Place.object(scene.key)]
        #expect(object?[ByteText("li")] == .list([.plain(.text("device's"))]))
    }

    @Test("an object that left and came back is not what a device changed before")
    func comesBack() async throws {
        let scene = Scene(server: try await SyncModelServer.shared())
        let devices = try (0..<2).map {
            try scene.server.device(of: scene.server.users[$0], group: scene.group)
        }
        try devices[0].file.write(at: scene.now, scene.creation("first"))
        devices[0].upload()
        for device in devices { try device.catchUp() }
        devices[1].disconnect()
        try devices[1].file.write(at: scene.now + 1000, [Place("s", key: scene.key).set(.text("device's"))])
        let list = Place("li", 0, key: scene.key)
        try devices[1].file.write(at: scene.now + 1000, [list.insert(.text("device's"), of: 0)])
        try await scene.sql(#"doc || '{"g": "elsewhere"}'"#)
        try await scene.sql(
            #"doc || jsonb_build_object('g', \#(bind: .text(scene.group))::text, 's', 'back')"#
        )
        try devices[1].connect()
        try await scene.expectAgreement([devices[1], devices[0]], "back")
    }

    @Test("two devices make one object apart: what only one says stays")
    func madeTwice() async throws {
        let scene = Scene(server: try await SyncModelServer.shared())
        let devices = try (0..<2).map {
            try scene.server.device(of: scene.server.users[$0], group: scene.group)
        }
        for device in devices { device.disconnect() }
        let list = Place("li", 0, key: scene.key)
        let first = scene.creation("said by one") + [list.insert(.text("one"), of: 0)]
        try devices[0].file.write(at: scene.now, first)
        let second = Array(scene.creation("").dropLast()) + [list.insert(.text("two"), of: 0)]
        try devices[1].file.write(at: scene.now + 1000, second)
        for device in devices {
            try device.connect()
            device.upload()
            try device.catchUp()
        }
        try await scene.expectAgreement(devices, "said by one")
        let object = devices[0].file.state.objects[Place.object(scene.key)]
        #expect(object?[ByteText("li")] == .list([.plain(.text("one")), .plain(.text("two"))]))
    }
}

extension ViewMergeTests {
    @Test("one transaction of many large documents reaches devices that are connected")
    func manyAtOnce() async throws {
        let server = try await SyncModelServer.shared()
        let group = "m-\(UUID().uuidString)"
        let key = Int64.random(in: 1 << 40..<1 << 60)
        let device = try server.device(of: server.users[0], group: group)
        _ = try await server.database.run(
            """
            INSERT INTO todo."T" (doc) SELECT jsonb_build_object('_id', n, 'g', \(bind: .text(group))::text, \
            'who', 'all', 's', repeat(md5(n::text), 60)) FROM generate_series(\(bind: .int(key)), \
            \(bind: .int(key + 1999))) AS n
            """,
            within: .seconds(300)
        )
        try await server.settle()
        try device.catchUp()
        #expect(device.file.state.differences(from: try await server.stored(group)) == [])
        #expect(device.file.state.objects.count == 2000)
        device.disconnect()
    }
}

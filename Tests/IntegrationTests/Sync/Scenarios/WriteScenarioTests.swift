import BSON
import Foundation
import Sync
import SyncModel
import TestSupport
import Testing

/// Scenarios 1, 2, 7 and 8 of the acceptance list, with devices that keep a state.
///
/// Source: `sync-semantics.md` §19.
@Suite("Sync: scenarios of writes and subscriptions")
struct WriteScenarioTests {
    static let message =
        "Client attempted a write that is outside of permissions or query filters; it has been reverted"

    @Test("1. Item example: three writes, client error 231, object gone after compensation")
    func itemExample() async throws {
        let device = try await ItemDevice.subscribed(try await SyncServer.caller())
        let legal = ItemExampleTests.newID()
        try device.create(legal, name: "Learn Realm CRUD stuff", complexity: 3)
        try device.meet()
        #expect(try device.stored(legal, "itemName") == "Learn Realm CRUD stuff")
        #expect(device.client.file.compensated.isEmpty)

        let outside = ItemExampleTests.newID()
        try device.create(outside, name: "Fix the bug with the failing method", complexity: 7)
        let denied = ItemExampleTests.newID()
        #expect(device.holds(outside))
        try device.meet()
        try device.create(
            denied,
            name: "Write code that generates a permission error",
            complexity: 1,
            owner: "This string does not match the user.id"
        )
        #expect(device.holds(denied))
        try device.meet()
        let told = device.client.file.compensated
        #expect(told.map(\.message) == [Self.message, Self.message])
        #expect(told.flatMap(\.updates).map(\.table) == ["Item", "Item"])
        let keys = [outside, denied].map { id in
            Data(ChangesetWriter.bytes(of: ItemExampleTests.object(id).key)).base64EncodedString()
        }
        #expect(told.flatMap(\.updates).map(\.key) == keys)
        #expect(
            told.flatMap(\.updates).map(\.reason) == [
                "write to \"\(outside)\" in table \"Item\" not allowed; "
                    + "object is outside of the current query view",
                "write to \"\(denied)\" in table \"Item\" was denied by write filter in role \"owner-read-write\"",
            ]
        )
        #expect(!device.holds(outside))
        #expect(!device.holds(denied))
        #expect(device.holds(legal))
        #expect(try device.stored(outside, "itemName") == "")
        #expect(try device.stored(denied, "itemName") == "")
        try await expectLog(device, outside, denied)
    }

    /// The app's log has, word for word, what the pages show; nothing else went wrong.
    private func expectLog(_ device: ItemDevice, _ outside: String, _ denied: String) async throws {
        let entries = [
            #"""
            {"Item":{"\#(outside)":"write to \"\#(outside)\" in table \"Item\" not allowed; object is outside of the current query view"}}
            """#,
            #"""
            {"Item":{"\#(denied)":"write to \"\#(denied)\" in table \"Item\" was denied by write filter in role \"owner-read-write\""}}
            """#,
        ]
        try await eventually {
            let found = try Shell.psql(
                device.api.server.database,
                """
                select error from tidegate.logs where type = 'SYNC_ERROR' and code = 'ErrorCompensatingWrite'
                and user_id = '\(device.user.id)' order by at
                """
            )
            return found == entries.joined(separator: "\n")
        }
        let others = try Shell.psql(
            device.api.server.database,
            """
            select count(*) from tidegate.logs where type like 'SYNC%' and user_id = '\(device.user.id)'
            and code is not null and code <> 'ErrorCompensatingWrite'
            """
        )
        #expect(others == "0")
    }

    @Test("2. Client file created offline, two transactions on the object after an illegal one: lost")
    func lost() async throws {
        let api = try await SyncServer.caller()
        let device = ItemDevice(api, try await api.newUser())
        try device.client.subscribe(ItemDevice.query)
        let lost = ItemExampleTests.newID()
        let kept = ItemExampleTests.newID()
        // Before the subscription is in effect nothing is in the view.
        try device.client.connect()
        try device.client.catchUp()
        device.client.disconnect()
        try device.create(lost, name: "illegal", complexity: 9)
        try device.create(kept, name: "legal", complexity: 1)
        // Both would be legal for an object in the view.
        try device.set(lost, "complexity", .int(1))
        try device.set(lost, "itemName", .string(ByteText("legal now")))
        try device.set(kept, "itemName", .string(ByteText("still legal")))
        try device.client.connect()
        try device.meet()
        #expect(!device.holds(lost))
        #expect(try device.stored(lost, "itemName") == "")
        #expect(try device.stored(kept, "itemName") == "still legal")
        #expect(device.value(kept, "itemName") == .plain(.string(ByteText("still legal"))))
        #expect(device.client.file.compensated.flatMap(\.updates).count == 1)

        // What comes after the compensation is a new object.
        try device.create(lost, name: "again", complexity: 2)
        try device.meet()
        #expect(try device.stored(lost, "itemName") == "again")
    }

    @Test("7. Subscription error then good subscription; superseded state; unnamed de-duplication")
    func subscriptions() async throws {
        let device = try await ItemDevice.subscribed(try await SyncServer.caller())
        let client = device.client
        #expect(client.file.subscriptions.state(of: 1) == .complete)
        let bad = try client.subscribe(["Item": #"(itemName == "x")"#])
        try client.catchUp()
        #expect(
            client.file.subscriptions.state(of: bad)
                == .failed(
                    "Client provided query with bad syntax: unsupported query for table \"Item\": "
                        + "key \"itemName\" is not a queryable field"
                )
        )
        #expect(client.file.subscriptions.active.version == 1)
        // The session lives on, with what was good.
        let id = ItemExampleTests.newID()
        try device.create(id, name: "in between")
        try device.meet()
        #expect(try device.stored(id, "itemName") == "in between")

        let twice = ["complexity < 9", "complexity < 3", "complexity < 9"]
        let good = try client.subscribe(["Item": SubscriptionSets.joined(twice)])
        #expect(client.file.subscriptions.newest.queries["Item"] == "(complexity < 3) OR (complexity < 9)")
        try client.catchUp()
        #expect(client.file.subscriptions.state(of: good) == .complete)
        #expect(client.file.subscriptions.state(of: 1) == .superseded)
        try device.create(ItemExampleTests.newID(), name: "seven", complexity: 7)
        try device.meet()
        #expect(client.file.compensated.isEmpty)
    }

    @Test("8. Second process on one file: 108")
    func secondProcess() async throws {
        let device = try await ItemDevice.subscribed(try await SyncServer.caller())
        let body = #"{"schemaVersion":0,"sessionReason":0}"#
        let socket = try WireSocket(
            device.api.server.http,
            app: device.api.app,
            token: device.user.accessToken
        )
        socket.send("bind 1 \(body.utf8.count) 0 0 0\n\(body)")
        let file = device.client.file
        let version = file.serverVersion
        let salt = file.rules.latest.salt
        socket.send(
            "ident 1 \(file.ownFile) \(file.ident?.salt ?? 0) \(version) 0 \(version) \(salt) 0 2\n{}"
        )
        guard case (0, .error(108, _)) = try WireMessage.read(try socket.receive()) else {
            Issue.record("the second process was let in")
            return
        }
        // The first one goes on.
        let id = ItemExampleTests.newID()
        try device.create(id, name: "undisturbed")
        try device.meet()
        #expect(try device.stored(id, "itemName") == "undisturbed")
    }
}

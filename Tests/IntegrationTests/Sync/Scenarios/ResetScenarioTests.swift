import BSON
import Sync
import SyncModel
import TestSupport
import Testing

/// Scenarios 3 and 4 of the acceptance list.
///
/// Source: `sync-semantics.md` §§10, 19.
@Suite("Sync: scenarios of client resets", .serialized)
struct ResetScenarioTests {
    /// Ends the history of the app, and begins another.
    private func terminate(_ api: APICaller) throws {
        try Shell.psql(api.server.database, "select tidegate.terminate_sync('\(api.app)')")
        try Shell.psql(api.server.database, "select tidegate.enable_sync('\(api.app)')")
    }

    /// A device that was told to reset.
    private func interrupted(_ device: ItemDevice) throws -> RealmClient.Ended? {
        do {
            if !device.client.isConnected { try device.client.connect() }
            while true { try device.client.receive() }
        } catch let error as RealmClient.Ended {
            // The server may first close what was open under the old history, or not know yet that it may begin anew.
            if error.code == 200 || error.code == 229 {
                device.client.disconnect()
                return try interrupted(device)
            }
            return error
        }
    }

    @Test("3. Terminate and re-enable: reset in each of four modes", arguments: ResetMode.allCases)
    func modes(mode: ResetMode) async throws {
        let api = try await SyncServer.callerForResets()
        let device = try await ItemDevice.subscribed(api)
        let synced = ItemExampleTests.newID()
        try device.create(synced, name: "synced")
        try device.meet()
        device.client.disconnect()
        let unsynced = ItemExampleTests.newID()
        try device.create(unsynced, name: "unsynced")
        try terminate(api)
        let error = try interrupted(device)
        #expect(error?.code == 208)
        var seenBefore: RealmState?
        var seenAfter: RealmState?
        let outcome = try device.client.reset(mode) {
            seenBefore = $0
        } after: { _, after in
            seenAfter = after
        }
        let object = ItemExampleTests.object(unsynced)
        switch mode {
        case .manual:
            #expect(
                outcome
                    == .manual(
                        original: "default.realm",
                        recovery: "recovered-realms/recovered_realm-default.realm"
                    )
            )
            #expect(seenBefore == nil && seenAfter == nil)
            return
        case .discard:
            #expect(outcome == .discarded)
            #expect(seenAfter?.objects[object] == nil)
        case .recover, .recoverOrDiscard:
            #expect(outcome == .recovered)
            #expect(seenAfter?.objects[object] != nil)
        }
        #expect(seenBefore?.objects[object] != nil)
        #expect(device.holds(synced))
        try device.meet()
        #expect(try device.stored(unsynced, "itemName") == (mode == .discard ? "" : "unsynced"))
        // The file goes on as any other.
        let later = ItemExampleTests.newID()
        try device.create(later, name: "later")
        try device.meet()
        #expect(try device.stored(later, "itemName") == "later")
        #expect(device.client.file.compensated.isEmpty)
    }

    @Test("4. Recovery rules, four cases")
    func recovery() async throws {
        let api = try await SyncServer.callerForResets()
        let device = try await ItemDevice.subscribed(api)
        let other = try await ItemDevice.subscribed(api, device.user)
        let ids = (0..<3).map { _ in ItemExampleTests.newID() }
        for id in ids { try device.create(id, name: "base", complexity: 1) }
        try device.meet()
        try other.meet()
        device.client.disconnect()
        let (gone, erased, contested, made) = (ids[0], ids[1], ids[2], ItemExampleTests.newID())
        try device.create(made, name: "made offline")
        try device.set(gone, "itemName", .string(ByteText("lost")))
        try device.write([.eraseObject(ItemExampleTests.object(erased))])
        try device.set(contested, "itemName", .string(ByteText("the device's")))
        let counter = ValueAddress(object: ItemExampleTests.object(contested), field: ByteText("complexity"))
        try device.write([.addInteger(counter, 1)])
        // Meanwhile the server goes on.
        try other.write([.eraseObject(ItemExampleTests.object(gone))])
        try other.write([
            other.change(contested, "itemName", .string(ByteText("the server's"))),
            .addInteger(counter, 2),
        ])
        try other.meet()
        other.client.disconnect()
        try terminate(api)
        #expect(try interrupted(device)?.code == 208)
        #expect(try device.client.reset(.recover) == .recovered)
        try device.meet()
        #expect(try device.stored(made, "itemName") == "made offline")
        #expect(try device.stored(gone, "itemName") == "")
        #expect(try device.stored(erased, "itemName") == "")
        #expect(try device.stored(contested, "itemName") == "the device's")
        #expect(try device.stored(contested, "complexity").hasPrefix("4"))
        #expect(!device.holds(gone) && !device.holds(erased) && device.holds(made))
        #expect(device.value(contested, "complexity") == .plain(.int(4)))
    }
}

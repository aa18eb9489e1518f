import Foundation
import Sync
import SyncModel
import TestSupport
import Testing

/// The fifth scenario of the acceptance list: copies of realms.
///
/// Source: `sync-semantics.md` §§16.1, 19.
@Suite("Sync: scenario 5, copies")
struct CopyScenarioTests {
    @Test("5. A local realm becomes a synced one: three tasks copied, a fourth in the synced one alone")
    func local() async throws {
        let api = try await PartitionServer.caller()
        let device = PartitionDevice(api, try await api.newUser())
        let names = ["Destroy the ring", "Find Sam", "Leave the shire"]
        for name in names { try device.create(ItemExampleTests.newID(), ["name": .text("Frodo: " + name)]) }
        let local = device.client.file.state
        try device.client.connect()
        try device.meet()
        try device.create(
            ItemExampleTests.newID(),
            ["name": .text("Frodo: Send gift basket to Tom Bombadil")]
        )
        try device.meet()
        #expect(local.objects.count == 3 && device.client.file.state.objects.count == 4)
        #expect(
            try await PartitionServer.sql(
                #"select count(*) from todo."Task" where doc->>'name' like 'Frodo:%' and doc->>'realm_id' = '\#(device.user.id)'"#
            ) == "4"
        )
        device.client.disconnect()
    }

    @Test("5. A bundled copy is another file on the server, and goes on where it was copied")
    func bundled() async throws {
        let first = try await ItemExampleTests.device()
        let query = #"{"Item":"(TRUEPREDICATE)"}"#
        _ = try first.subscribe(1, query)
        func create(_ device: SyncDevice) throws -> String {
            let id = ItemExampleTests.newID()
            device.upload(
                ItemExampleTests.creation(id, owner: first.user.id, name: "copied", complexity: 1)
            )
            return id
        }
        let held = try create(first)
        _ = try first.catchUp(2)
        let later = try create(first)
        let copy = try SyncDevice(first.api, first.user)
        // What came after the copy was made, and nothing of what it holds.
        try copy.begin(asCopyOf: first, 1, query)
        #expect(copy.file.ident != first.file.ident)
        _ = try first.catchUp(3)
        let told = try copy.catchUp(1).flatMap(\.instructions)
        #expect(told.contains(.createObject(ItemExampleTests.object(later))))
        #expect(!told.contains(.createObject(ItemExampleTests.object(held))))
        let own = try create(copy)
        _ = try copy.catchUp(2)
        #expect(try ItemExampleTests.stored(copy, own, "itemName") == "copied")
        #expect(
            try first.catchUp(4).flatMap(\.instructions).contains(
                .createObject(ItemExampleTests.object(own))
            )
        )
        for device in [first, copy] { device.close() }
    }
}

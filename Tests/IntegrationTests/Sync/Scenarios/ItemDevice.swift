import BSON
import Foundation
import Sync
import SyncModel
import TestSupport

/// A device with the class of the SDKs' pages.
struct ItemDevice: StatefulDevice {
    static func object(_ id: String) -> ObjectAddress { ItemExampleTests.object(id) }

    let api: APICaller
    let user: APICaller.User
    let client: RealmClient

    static let query = ["Item": "(complexity < 5)"]

    /// The class as an application declares it.
    static let schema: [Instruction] = {
        let item = ByteText("Item")
        let key = Instruction.KeyColumn(field: ByteText("_id"), type: .objectID, isNullable: false)
        func column(_ field: String, _ type: Payload.Kind) -> Instruction {
            .addColumn(Instruction.Column(table: item, field: ByteText(field), type: type, isNullable: false))
        }
        return [
            .addTable(item, .topLevel(key)), column("complexity", .int), column("itemName", .string),
            column("ownerId", .string),
        ]
    }()

    init(_ api: APICaller, _ user: APICaller.User) {
        self.api = api
        self.user = user
        client = RealmClient(api, user, schema: Self.schema)
    }

    /// A new user's device that holds the simple items.
    static func subscribed(_ api: APICaller, _ user: APICaller.User? = nil) async throws -> ItemDevice {
        let known = if let user { user } else { try await api.newUser() }
        let device = ItemDevice(api, known)
        try device.client.connect()
        try device.client.subscribe(query)
        try device.client.catchUp()
        return device
    }

    static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) - 1_420_070_400_000 }

    func write(_ instructions: [Instruction]) throws {
        try client.file.write(at: Self.now, instructions)
    }

    /// Creates an item of the user's.
    func create(_ id: String, name: String, complexity: Int64 = 3, owner: String? = nil) throws {
        try write(
            ItemExampleTests.creation(id, owner: owner ?? user.id, name: name, complexity: complexity)
        )
    }

    func set(_ id: String, _ field: String, _ value: Payload) throws { try write([change(id, field, value)]) }

    func change(_ id: String, _ field: String, _ value: Payload) -> Instruction {
        let place = ValueAddress(object: ItemExampleTests.object(id), field: ByteText(field))
        return .update(place, value, .value(isDefault: false))
    }

    /// What PostgreSQL holds; empty when there is no such document.
    func stored(_ id: String, _ field: String) throws -> String {
        try Shell.psql(
            api.server.database,
            #"select doc->>'\#(field)' from todo."Item" where doc->'_id'->>'$oid' = '\#(id)'"#
        )
    }
}

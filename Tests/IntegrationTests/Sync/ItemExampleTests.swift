import BSON
import Foundation
import Sync
import TestSupport
import Testing

/// The example of the SDKs' pages, spoken on the wire.
///
/// Source: `sync-semantics.md` §§1.1, 6.
@Suite("Sync: the Item example")
struct ItemExampleTests {
    static func object(_ id: String) -> ObjectAddress {
        ObjectAddress(table: ByteText("Item"), key: ObjectID(hex: id).map { .objectID($0) } ?? .null)
    }

    static func newID() -> String {
        "6b" + UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased().prefix(22)
    }

    static func creation(_ id: String, owner: String, name: String, complexity: Int64) -> [Instruction] {
        let object = object(id)
        func set(_ field: String, _ value: Payload) -> Instruction {
            .update(ValueAddress(object: object, field: ByteText(field)), value, .value(isDefault: false))
        }
        return [
            .createObject(object), set("ownerId", .string(ByteText(owner))),
            set("itemName", .string(ByteText(name))), set("complexity", .int(complexity)),
        ]
    }

    static func device() async throws -> SyncDevice {
        let api = try await SyncServer.caller()
        let device = try SyncDevice(api, try await api.newUser())
        try device.begin()
        return device
    }

    static func stored(_ device: SyncDevice, _ id: String, _ field: String) throws -> String {
        try Shell.psql(
            device.api.server.database,
            #"select doc->>'\#(field)' from todo."Item" where doc->'_id'->>'$oid' = '\#(id)'"#
        )
    }

    static let query = #"{"Item":"(complexity < 5)"}"#

    @Test("opens the socket with the newest protocol of the list")
    func upgrade() async throws {
        let api = try await SyncServer.caller()
        let device = try SyncDevice(
            api,
            try await api.newUser(),
            protocols:
                "com.mongodb.realm-query-sync#99, com.mongodb.realm-query-sync#13, com.mongodb.realm-query-sync#2"
        )
        #expect(device.head.hasPrefix("HTTP/1.1 101 "))
        #expect(device.head.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="))
        #expect(device.head.contains("Sec-WebSocket-Protocol: com.mongodb.realm-query-sync#13"))
        let old = try SyncDevice(api, try await api.newUser(), protocols: "com.mongodb.realm-query-sync#9")
        #expect(old.head.hasPrefix("HTTP/1.1 400 "))
    }

    @Test("stores a legal write, and hands on what others write")
    func legal() async throws {
        let device = try await Self.device()
        _ = try device.subscribe(1, Self.query)
        let id = Self.newID()
        device.upload(Self.creation(id, owner: device.user.id, name: "Learn Realm CRUD stuff", complexity: 3))
        let answer = try device.receive()
        #expect(answer.name == "download")
        #expect(answer.number(6) == device.version)
        #expect(answer.instructions == [])
        #expect(try Self.stored(device, id, "itemName") == "Learn Realm CRUD stuff")

        // A second device of the same user, from the beginning.
        let other = try SyncDevice(device.api, device.user)
        try other.begin()
        let bootstrap = try other.subscribe(1, Self.query)
        let made = bootstrap.flatMap(\.instructions)
        #expect(made.contains(.createObject(Self.object(id))))

        // By SQL, to both.
        try Shell.psql(
            device.api.server.database,
            #"update todo."Item" set doc = doc || '{"itemName": "by hand"}' where doc->'_id'->>'$oid' = '\#(id)'"#
        )
        let place = ValueAddress(object: Self.object(id), field: ByteText("itemName"))
        for device in [device, other] {
            let message = try device.receive()
            let change = Instruction.update(place, .string(ByteText("by hand")), .value(isDefault: false))
            #expect(message.instructions == [change])
        }

        // Out of the view: gone for devices, there for the server.
        try Shell.psql(
            device.api.server.database,
            #"update todo."Item" set doc = doc || '{"complexity": 9}' where doc->'_id'->>'$oid' = '\#(id)'"#
        )
        #expect(try device.receive().instructions == [.eraseObject(Self.object(id))])
        #expect(try Self.stored(device, id, "complexity").hasPrefix("9"))
    }

    @Test("never tells of documents of others")
    func others() async throws {
        let owner = try await Self.device()
        let device = try await Self.device()
        _ = try owner.subscribe(1, #"{"Item":"TRUEPREDICATE"}"#)
        owner.upload(Self.creation(Self.newID(), owner: owner.user.id, name: "mine", complexity: 1))
        #expect(try owner.receive().name == "download")
        let seen = try device.subscribe(1, #"{"Item":"TRUEPREDICATE"}"#).flatMap(\.instructions)
        #expect(seen == [])
        owner.upload(Self.creation(Self.newID(), owner: owner.user.id, name: "mine", complexity: 1))
        #expect(try owner.receive().name == "download")
        #expect(try device.catchUp(2).flatMap(\.instructions) == [])
    }

    static let illegal: [(owner: String?, complexity: Int64, reason: String)] = [
        (nil, 7, "not allowed; object is outside of the current query view"),
        (
            "This string does not match the user.id", 1,
            "was denied by write filter in role \"owner-read-write\""
        ),
    ]

    @Test("undoes an illegal write, and says why", arguments: illegal)
    func undone(owner: String?, complexity: Int64, reason: String) async throws {
        let device = try await Self.device()
        _ = try device.subscribe(1, Self.query)
        let id = Self.newID()
        device.upload(
            Self.creation(id, owner: owner ?? device.user.id, name: "illegal", complexity: complexity)
        )
        let error = try device.receive()
        #expect(error.fields[0...1] == ["json_error", "231"])
        let body = try ExtendedJSON.document(error.text)
        #expect(body["action"]?.string == "Warning")
        #expect(body["rejectedClientVersion"]?.exactInt64 == device.version)
        let rejected = body["rejectedUpdates"]?.array?.first?.document
        #expect(rejected?["table"]?.string == "Item")
        #expect(rejected?["reason"]?.string == "write to \"\(id)\" in table \"Item\" \(reason)")
        let repair = try device.receive()
        // The message may reach further: others write at the same time.
        #expect(repair.entries.map(\.version) == [body["compensatingWriteServerVersion"]?.exactInt64])
        #expect(repair.instructions == [.eraseObject(Self.object(id))])
        #expect(try Self.stored(device, id, "itemName") == "")
    }

    @Test("undoes what the store cannot hold, and goes on")
    func unstorable() async throws {
        let device = try await Self.device()
        _ = try device.subscribe(1, Self.query)
        let id = Self.newID()
        device.upload(Self.creation(id, owner: device.user.id, name: "a\u{0}b", complexity: 1))
        #expect(try device.receive().fields.prefix(2) == ["json_error", "231"])
        #expect(try device.receive().instructions == [.eraseObject(Self.object(id))])
        device.upload(Self.creation(Self.newID(), owner: device.user.id, name: "ab", complexity: 1))
        #expect(try device.receive().number(6) == device.version)
    }

    @Test("refuses a query that it cannot serve, and goes on")
    func badQuery() async throws {
        let device = try await Self.device()
        let messages = try device.subscribe(1, #"{"Item":"(itemName == \"x\")"}"#)
        #expect(messages.map(\.fields)[0].prefix(2) == ["query_error", "226"])
        #expect(
            messages[0].text
                == "Client provided query with bad syntax: unsupported query for table \"Item\": "
                + "key \"itemName\" is not a queryable field"
        )
        #expect(try device.subscribe(2, Self.query).contains { $0.name == "download" })
    }

    @Test("does not answer acknowledgements, which would never end")
    func quiet() async throws {
        let device = try await Self.device()
        _ = try device.subscribe(1, Self.query)
        let server = device.progress.server
        for _ in 0..<3 { device.send("upload 1 0 0 0 \(device.version) \(server) \(server)\n") }
        // Others write at the same time, which this device is not told of.
        let messages = try device.catchUp(9)
        #expect(messages.count <= 1)
        #expect(messages.flatMap(\.instructions) == [])
    }
}

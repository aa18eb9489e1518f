import BSON
import Foundation
import Sync
import SyncModel
import TestSupport
import Testing

/// Classes that devices only write.
///
/// Source: `sync-semantics.md` §15.
@Suite("Sync: data ingest", .serialized)
struct DataIngestTests {
    private static let task = Task { try await RunningServer.start(app: files, name: "sync-ingest") }

    private static let files: [String: String] = SyncServer.files.merging([
        "sync/config.json": """
        {"type": "flexible", "state": "enabled", "service_name": "mongodb-atlas", "database_name": "todo",
         "queryable_fields_names": ["complexity", "ownerId"], "asymmetric_tables": ["Reading"]}
        """,
        "data_sources/mongodb-atlas/todo/Reading/schema.json": """
        {"title": "Reading", "bsonType": "object", "required": ["_id", "ownerId"],
         "properties": {"_id": {"bsonType": "objectId"}, "ownerId": {"bsonType": "string"}}}
        """,
    ]) { _, new in new }

    private func reading(_ id: String, of owner: String) -> [Instruction] {
        let object = ObjectAddress(
            table: ByteText("Reading"),
            key: ObjectID(hex: id).map { .objectID($0) } ?? .null
        )
        let place = ValueAddress(object: object, field: ByteText("ownerId"))
        return [
            .createObject(object), .update(place, .string(ByteText(owner)), .value(isDefault: false)),
        ]
    }

    private func stored(_ id: String) async throws -> String {
        try Shell.psql(
            try await Self.task.value.database,
            #"select count(*) from todo."Reading" where doc->'_id'->>'$oid' = '\#(id)'"#
        )
    }

    @Test("stores what devices write, and skips what they may not with error 230, without undoing it")
    func skipped() async throws {
        let api = APICaller(server: try await Self.task.value, app: "item-abcde")
        let device = try SyncDevice(api, try await api.newUser())
        try device.begin()
        let (good, bad, late) = (ItemExampleTests.newID(), ItemExampleTests.newID(), ItemExampleTests.newID())
        device.upload(reading(good, of: device.user.id) + reading(bad, of: "somebody else"))
        let answer = try device.receive()
        #expect(answer.fields.prefix(2) == ["json_error", "230"])
        let body = try ExtendedJSON.document(answer.text)
        #expect(body["action"]?.string == "Warning")
        #expect(body["tryAgain"]?.bool == true)
        #expect(body["rejectedClientVersion"]?.exactInt64 == device.version)
        #expect(body["compensatingWriteServerVersion"] == nil)
        let rejected = body["rejectedUpdates"]?.array?.compactMap(\.document) ?? []
        #expect(rejected.map { $0["table"]?.string } == ["Reading"])
        #expect(
            rejected.first?["reason"]?.string
                == "write to \"\(bad)\" in table \"Reading\" was denied by write filter in role \"owner-read-write\""
        )
        #expect(try await stored(good) == "1")
        #expect(try await stored(bad) == "0")
        // It comes again, and goes on after what was integrated.
        device.send("unbind 1\n")
        device.rebind(0, "{}")
        let resumed = try device.receive()
        #expect(resumed.name == "download")
        #expect(resumed.number(6) == device.version)
        device.upload(reading(late, of: device.user.id))
        while try device.receive().number(6) != device.version {}
        #expect(try await stored(late) == "1")
    }
}

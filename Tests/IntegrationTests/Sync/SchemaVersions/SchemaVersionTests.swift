import BSON
import Foundation
import Sync
import SyncModel
import TestSupport
import Testing

/// Devices whose applications have a schema of another time.
///
/// Source: `sync-semantics.md` §13.3.
@Suite("Sync: versions of the schema", .serialized)
struct SchemaVersionTests {
    private static func text(_ text: String) -> RealmState.Value { .plain(.text(text)) }

    private static func insert(_ id: String, _ user: APICaller.User, _ fields: String) async throws {
        try await NoteServer.sql(
            #"insert into todo."Note" (doc) values ('{"_id": {"$oid": "\#(id)"}, "ownerId": "\#(user.id)", \#(fields)}')"#
        )
    }

    private static func stored(_ id: String) async throws -> String {
        try await NoteServer.sql(
            #"select doc - '_id' - 'ownerId' from todo."Note" where doc->'_id'->>'$oid' = '\#(id)'"#
        )
    }

    @Test("a breaking change makes a version; devices of the one before go on beside those of the new one")
    func breaking() async throws {
        let api = try await NoteServer.caller()
        let user = try await api.newUser()
        let old = try NoteDevice(api, user, version: 0)
        let (mine, sized, shared, later) = (
            ItemExampleTests.newID(), ItemExampleTests.newID(), ItemExampleTests.newID(),
            ItemExampleTests.newID()
        )
        try old.create(mine, ["title": .text("first"), "size": .int(1)])
        try old.meet()
        try await NoteServer.setSchema(NoteServer.second)
        try await eventually {
            try old.meet()
            return (try? NoteDevice(api, user, version: 1)) != nil
        }
        #expect(
            try await NoteServer.sql(
                "select string_agg(version || ' ' || is_newest, ', ' order by version) from tidegate.sync_schema_versions"
            ) == "0 false, 1 true"
        )
        let new = try NoteDevice(api, user, version: 1)
        // A number is no text: of the new schema the note is none.
        #expect(!new.holds(mine))
        try await eventually {
            try await NoteServer.sql(
                "select reason from tidegate.unsynced_documents where id like '%\(mine)%'"
            )
                == #"the field "size" is not of type string"#
        }

        // What an old device makes is as the old schema has it, though the new one could not say it.
        try old.create(sized, ["title": .text("second"), "size": .int(2)])
        try old.create(shared, ["title": .text("shared")])
        try old.meet()
        #expect(old.value(sized, "size") == .plain(.int(2)))
        #expect(try await Self.stored(sized).contains(#""size": 2"#))
        try await eventually {
            try new.meet()
            return new.holds(shared)
        }
        #expect(!new.holds(sized))
        #expect(
            try await NoteServer.sql(
                "select count(*) from tidegate.unsynced_documents where id like '%\(sized)%'"
            ) == "1"
        )

        // Both change one note, each what it knows of it, and its list without knowing of each other.
        try new.set(shared, "body", .text("text"))
        try new.tag(shared, "new")
        try old.tag(shared, "old")
        try old.set(shared, "title", .text("other"))
        try new.meet()
        try old.meet()
        try new.meet()
        try await new.comes(shared, "tags", old.value(shared, "tags"))
        guard case .list(let tags)? = new.value(shared, "tags") else {
            Issue.record("there are no tags")
            return
        }
        #expect(tags.count == 2 && tags.contains(Self.text("new")) && tags.contains(Self.text("old")))
        let document = try await Self.stored(shared)
        #expect(document.contains(#""body": "text""#) && document.contains(#""title": "other""#))
        let nothing = RealmState.Value.plain(.null)
        #expect(new.value(shared, "title") == nothing && old.value(shared, "body") == nothing)

        // What psql writes goes to those who can have it.
        try await Self.insert(later, user, #""size": "large", "body": "b""#)
        try await new.comes(later, "size", Self.text("large"))
        try old.meet()
        #expect(!old.holds(later))
        try await NoteServer.sql(
            #"update todo."Note" set doc = doc || '{"size": "1"}' where doc->'_id'->>'$oid' = '\#(sized)'"#
        )
        try await new.comes(sized, "size", Self.text("1"))
        try await eventually {
            try old.meet()
            return !old.holds(sized)
        }
        old.client.disconnect()
        new.client.disconnect()
    }

    @Test("a device that comes with another version is told which it had, sends what it has, and begins anew")
    func migration() async throws {
        let api = try await NoteServer.caller()
        let user = try await api.newUser()
        try await NoteServer.setSchema(NoteServer.second)
        let device = try NoteDevice(api, user, version: 0)
        device.client.disconnect()
        let id = ItemExampleTests.newID()
        try device.create(id, ["title": .text("unsent")])
        device.client.schemaVersion = 1
        try device.client.connect()
        #expect(device.client.previousSchemaVersion == 0)
        try device.meet()
        #expect(try await Self.stored(id).contains(#""title": "unsent""#))
        device.client.disconnect()

        let fresh = try NoteDevice(api, user, version: 1)
        #expect(fresh.client.previousSchemaVersion == nil)
        #expect(fresh.holds(id) && fresh.value(id, "title") == .plain(.null))
        // Downwards, too.
        fresh.client.disconnect()
        fresh.client.schemaVersion = 0
        try fresh.client.connect()
        #expect(fresh.client.previousSchemaVersion == 1)
        fresh.client.disconnect()
    }

    @Test("versions have the numbers that devices know, and end when the operator says so")
    func numbers() async throws {
        let api = try await NoteServer.caller()
        let user = try await api.newUser()
        func code(_ version: Int, isFirst: Bool? = nil) throws -> Int64? {
            try RealmClient.code { _ = try NoteDevice(api, user, version: version, isFirst: isFirst) }
        }
        #expect(try code(7) == 235)
        try await NoteServer.sql("select tidegate.set_schema_version('item', 7)")
        try await eventually { try code(7) == nil }
        let device = try NoteDevice(api, user, version: 7)
        device.client.disconnect()
        for (statement, reason) in [
            (
                "select tidegate.set_schema_version('item', 6)",
                "version must not be lower than the newest, which is 7"
            ),
            ("select tidegate.set_schema_version('item', null)", "version must be a number from 0 on"),
            ("select tidegate.drop_schema_version('item', 7)", "version must not be the newest"),
            ("select tidegate.drop_schema_version('item', 4)", "version '4' does not exist"),
        ] {
            let error = await #expect(throws: Shell.Failure.self) { try await NoteServer.sql(statement) }
            #expect(error?.message.contains(reason) == true, "\(statement): \(error?.message ?? "")")
        }

        try await NoteServer.setSchema(NoteServer.first)
        try await eventually { try code(8, isFirst: true) == nil }
        try await NoteServer.sql("select tidegate.drop_schema_version('item', 7)")
        try await eventually { try code(7) == 235 }
        // Its file cannot go on with any schema.
        device.client.schemaVersion = 8
        #expect(try RealmClient.code { try device.client.connect() } == 217)

        // Another epoch has no earlier versions, and the newest goes by its number.
        try await NoteServer.sql(
            "select tidegate.terminate_sync('item'); select tidegate.enable_sync('item')"
        )
        try await eventually { try code(8, isFirst: true) == nil }
        #expect(try code(0) == 235)
        #expect(
            try await NoteServer.sql(
                "select string_agg(version::text, ',') from tidegate.sync_schema_versions"
            )
                == "8"
        )
    }
}

import BSON
import Foundation
import Sync
import SyncModel
import TestSupport
import Testing

/// Roles that hide fields from devices.
///
/// Source: `rules.md` §§9, 10.
@Suite("Sync: hidden fields", .serialized)
struct SyncHiddenFieldTests {
    private static let server = Task {
        var files = SyncServer.files
        files["sync/config.json"] = """
            {"type": "flexible", "state": "enabled", "service_name": "mongodb-atlas", "database_name": "todo",
             "queryable_fields_names": ["ownerId", "size", "title"]}
            """
        files["data_sources/mongodb-atlas/todo/Note/schema.json"] = NoteServer.schema(NoteServer.first)
        return try await RunningServer.start(app: files, name: "sync-hidden-fields")
    }

    private static func sql(_ statement: String) async throws {
        _ = try Shell.psql(try await server.value.database, statement)
    }

    /// What a role grants beside the documents of its user.
    private static func setRole(_ permissions: String) async throws {
        let own = LifecycleServer.own
        try await sql(
            """
            select tidegate.set_rules('item', 'mongodb-atlas', 'todo', 'Note', '{"roles": [{"name": "role",
                "apply_when": {}, "document_filters": {"read": \(own), "write": \(own)}, \(permissions)}]}'::json)
            """
        )
    }

    private static let everything = #""read": true, "write": true, "insert": true, "delete": true"#
    /// `_id` is not named, as it may not be, and `size` and `tags` are hidden.
    private static let titles =
        #""fields": {"title": {"read": true, "write": true}, "ownerId": {"read": true}}"#

    private func device(_ user: APICaller.User) async throws -> RealmClient {
        let note = ByteText("Note")
        let key = Instruction.KeyColumn(field: ByteText("_id"), type: .objectID, isNullable: false)
        let api = APICaller(server: try await Self.server.value, app: "item-abcde")
        return RealmClient(api, user, schema: [.addTable(note, .topLevel(key))])
    }

    /// The sizes and titles of what a device holds.
    private func held(_ device: RealmClient) -> [String] {
        device.file.state.objects.values.map { fields in
            var (size, title) = ("null", "null")
            if case .plain(.int(let number))? = fields[ByteText("size")] { size = "\(number)" }
            if case .plain(.string(let text))? = fields[ByteText("title")] { title = text.text }
            return "\(size) \(title)"
        }.sorted()
    }

    private func waitFor(_ expected: [String], _ device: RealmClient) async throws {
        try await eventually {
            try await device.meet()
            return held(device) == expected
        }
    }

    @Test("come and go with the role, without a reset, and queries find nothing in them")
    func roleChange() async throws {
        let api = APICaller(server: try await Self.server.value, app: "item-abcde")
        let user = try await api.newUser()
        try await Self.setRole(Self.everything)
        let (small, large) = (ItemExampleTests.newID(), ItemExampleTests.newID())
        for (id, size, title) in [(small, 1, "a"), (large, 5, "b")] {
            try await Self.sql(
                #"""
                insert into todo."Note" (doc) values ('{"_id": {"$oid": "\#(id)"}, "ownerId": "\#(user.id)", "size": \#(size),
                    "title": "\#(title)"}')
                """#
            )
        }
        let device = try await device(user)
        try await device.meet()
        try device.subscribe(["Note": "(size < 3)"])
        try await waitFor(["1 a"], device)

        try await Self.setRole(Self.titles)
        try await waitFor([], device)
        try device.subscribe(["Note": "(size == NULL)"])
        try await waitFor(["null a", "null b"], device)
        // What changes in hidden fields says nothing, and what changes in others is told.
        try await Self.sql(
            #"update todo."Note" set doc = doc || '{"size": 2, "title": "c"}' where doc->'_id'->>'$oid' = '\#(small)'"#
        )
        try await waitFor(["null b", "null c"], device)
        // What the role shows may be written, what it hides may not.
        let place = NoteDevice.object(small)
        func set(_ field: String, _ value: Payload) throws {
            try device.file.write(
                at: ItemDevice.now,
                [
                    .update(
                        ValueAddress(object: place, field: ByteText(field)),
                        value,
                        .value(isDefault: false)
                    )
                ]
            )
        }
        try set("title", .string(ByteText("d")))
        try await waitFor(["null b", "null d"], device)
        #expect(device.file.compensated.isEmpty)
        try set("size", .int(9))
        try await device.meet()
        try await waitFor(["null b", "null d"], device)
        #expect(device.file.compensated.count == 1)

        // A document that the device holds by a hidden field leaves, when it is found not to match.
        try await Self.setRole(Self.everything)
        try await waitFor([], device)
        try device.subscribe(["Note": "(size < 3)"])
        try await waitFor(["2 d"], device)
        // Another role that hides something else: what stays is told anew.
        try await Self.setRole(
            #""fields": {"title": {"read": false}}, "additional_fields": {"read": true, "write": false}"#
        )
        try await waitFor(["2 null"], device)
        // What every object must have is empty once it is hidden.
        let owner = { device.file.state.objects[place]?[ByteText("ownerId")] }
        #expect(owner() == .plain(.string(ByteText(user.id))))
        try await Self.setRole(
            #""fields": {"ownerId": {"read": false}}, "additional_fields": {"read": true, "write": true}"#
        )
        try await waitFor(["2 d"], device)
        #expect(owner() == .plain(.string(ByteText(""))))
        try set("title", .string(ByteText("e")))
        try await waitFor(["2 e"], device)
        let stored = try Shell.psql(
            try await Self.server.value.database,
            #"select doc->>'ownerId' from todo."Note" where doc->>'title' = 'e'"#
        )
        #expect(stored == user.id)
        #expect(device.file.ident?.file == device.file.ownFile)
    }

    @Test("are absent for a device that begins with such a role, whatever its query names")
    func fromTheBeginning() async throws {
        let api = APICaller(server: try await Self.server.value, app: "item-abcde")
        let user = try await api.newUser()
        try await Self.setRole(Self.titles)
        let id = ItemExampleTests.newID()
        try await Self.sql(
            #"""
            insert into todo."Note" (doc) values
                ('{"_id": {"$oid": "\#(id)"}, "ownerId": "\#(user.id)", "size": 7, "title": "t"}')
            """#
        )
        let device = try await device(user)
        try await device.meet()
        try device.subscribe(["Note": #"(size > 3) or (title == "t" and size != 7)"#])
        try await waitFor(["null t"], device)
        try device.subscribe(["Note": "(size > 3)"])
        try await waitFor([], device)
        #expect(device.file.subscriptions.state(of: 2) == .complete)

        try await Self.setRole(
            #""fields": {"ownerId": {"read": false}}, "additional_fields": {"read": true, "write": true}"#
        )
        let other = try await self.device(user)
        try await other.meet()
        try other.subscribe(["Note": "(size > 3)"])
        try await waitFor(["7 t"], other)
        let owner = other.file.state.objects[NoteDevice.object(id)]?[ByteText("ownerId")]
        #expect(owner == .plain(.string(ByteText(""))))
        try other.subscribe(["Note": #"(ownerId == "\#(user.id)")"#])
        try await waitFor([], other)
    }
}

import BSON
import Foundation
import Sync
import SyncModel
import TestSupport
import Testing

/// A server whose class `Note` gets other properties, and others of the same name.
enum NoteServer {
    private static let task = Task { try await RunningServer.start(app: files, name: "sync-versions") }

    static func caller() async throws -> APICaller {
        APICaller(server: try await task.value, app: "item-abcde")
    }

    @discardableResult
    static func sql(_ statement: String) async throws -> String {
        try Shell.psql(try await task.value.database, statement)
    }

    private static let common = """
        "_id": {"bsonType": "objectId"}, "ownerId": {"bsonType": "string"},
        "tags": {"bsonType": "array", "items": {"bsonType": "string"}}
        """

    /// The schema of a version.
    static func schema(_ properties: String) -> String {
        """
        {"title": "Note", "bsonType": "object", "required": ["_id", "ownerId"],
         "properties": {\(common), \(properties)}}
        """
    }

    static let first = #""title": {"bsonType": "string"}, "size": {"bsonType": "long"}"#
    /// `title` is gone, `size` is of another type, `body` is new.
    static let second = #""body": {"bsonType": "string"}, "size": {"bsonType": "string"}"#

    static func setSchema(_ properties: String) async throws {
        try await sql(
            "select tidegate.set_schema('item', 'mongodb-atlas', 'todo', 'Note', '\(schema(properties))'::json)"
        )
    }

    private static var files: [String: String] {
        var files = SyncServer.files
        files["data_sources/mongodb-atlas/todo/Note/schema.json"] = schema(first)
        return files
    }
}

/// A device with the notes of its user.
struct NoteDevice: StatefulDevice {
    let api: APICaller
    let user: APICaller.User
    let client: RealmClient

    /// A connected device whose application has the properties of a version: `first` of 0, else `second` unless told.
    init(_ api: APICaller, _ user: APICaller.User, version: Int, isFirst: Bool? = nil) throws {
        self.api = api
        self.user = user
        let note = ByteText("Note")
        func column(
            _ name: String,
            _ type: Payload.Kind,
            isNullable: Bool = true,
            _ collection: CollectionKind = .single
        ) -> Instruction {
            .addColumn(
                Instruction.Column(
                    table: note,
                    field: ByteText(name),
                    type: type,
                    isNullable: isNullable,
                    collection: collection
                )
            )
        }
        let key = Instruction.KeyColumn(field: ByteText("_id"), type: .objectID, isNullable: false)
        let own =
            isFirst ?? (version == 0)
            ? [column("size", .int), column("title", .string)]
            : [column("body", .string), column("size", .string)]
        client = RealmClient(
            api,
            user,
            schema: [.addTable(note, .topLevel(key)), column("ownerId", .string, isNullable: false)] + own
                + [column("tags", .string, isNullable: false, .list)]
        )
        client.schemaVersion = version
        try client.connect()
        try client.subscribe(["Note": "TRUEPREDICATE"])
        try client.catchUp()
    }

    static func object(_ id: String) -> ObjectAddress {
        ObjectAddress(table: ByteText("Note"), key: ObjectID(hex: id).map { .objectID($0) } ?? .null)
    }

    private static func address(_ id: String, _ field: String, _ path: [PathElement] = []) -> ValueAddress {
        ValueAddress(object: object(id), field: ByteText(field), path: path)
    }

    func create(_ id: String, _ fields: [String: Payload]) throws {
        let all = fields.merging(["ownerId": .text(user.id)]) { first, _ in first }
        try client.file.write(
            at: ItemDevice.now,
            [.createObject(Self.object(id))]
                + all.sorted { $0.key < $1.key }.map { field, value in
                    .update(Self.address(id, field), value, .value(isDefault: false))
                }
        )
    }

    func set(_ id: String, _ field: String, _ value: Payload) throws {
        try client.file.write(
            at: ItemDevice.now,
            [.update(Self.address(id, field), value, .value(isDefault: false))]
        )
    }

    /// Adds a tag at the end.
    func tag(_ id: String, _ text: String) throws {
        guard case .list(let tags)? = value(id, "tags") else { throw BrokenRule("there are no tags") }
        let end = UInt32(tags.count)
        try client.file.write(
            at: ItemDevice.now,
            [.arrayInsert(Self.address(id, "tags", [.index(end)]), .text(text), priorSize: end)]
        )
    }

    /// Whether a property comes to be what is expected.
    func comes(_ id: String, _ field: String, _ value: RealmState.Value?) async throws {
        try await eventually {
            try meet()
            return self.value(id, field) == value
        }
    }
}

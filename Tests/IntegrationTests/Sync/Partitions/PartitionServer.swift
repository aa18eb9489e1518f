import BSON
import Foundation
import Sync
import SyncModel
import TestSupport

/// A server whose app syncs by partitions: one for each user, and one that all may read.
enum PartitionServer {
    private static let task = Task { try await RunningServer.start(app: files, name: "sync-partitions") }

    static func caller() async throws -> APICaller {
        APICaller(server: try await task.value, app: "parts-abcde")
    }

    @discardableResult
    static func sql(_ statement: String) async throws -> String {
        try Shell.psql(try await task.value.database, statement)
    }

    static let settings = """
        {"type": "partition", "state": "enabled", "service_name": "mongodb-atlas", "database_name": "todo",
         "partition": {"key": "realm_id", "type": "string", "permissions": {
             "read": {"%or": [{"%%user.id": "%%partition"}, {"%%partition": {"$in": ["PUBLIC", "NEWS"]}}]},
             "write": {"%or": [{"%%user.id": "%%partition"}, {"%%partition": "PUBLIC"}]}}}}
        """

    static let taskSchema = """
        "_id": {"bsonType": "objectId"}, "realm_id": {"bsonType": "string"}, "name": {"bsonType": "string"},
        "count": {"bsonType": "long"}
        """

    static let files: [String: String] = [
        "realm_config.json": #"{"app_id": "parts-abcde", "config_version": 20210101, "name": "parts"}"#,
        "auth/providers.json":
            #"{"anon-user": {"name": "anon-user", "type": "anon-user", "disabled": false}}"#,
        "sync/config.json": settings,
        "data_sources/mongodb-atlas/config.json":
            #"{"name": "mongodb-atlas", "type": "mongodb-atlas", "config": {}, "version": 1}"#,
        "data_sources/mongodb-atlas/default_rule.json":
            #"{"roles": [{"name": "all", "apply_when": {}, "read": true, "write": true}]}"#,
        "data_sources/mongodb-atlas/todo/Task/schema.json": """
        {"title": "Task", "bsonType": "object", "required": ["_id", "name"], "properties": {\(taskSchema)}}
        """,
        "http_endpoints/data_api_config.json":
            #"{"disabled": false, "versions": ["v1"], "return_type": "JSON"}"#,
    ]
}

/// A device with one partition of tasks.
struct PartitionDevice: StatefulDevice {
    let api: APICaller
    let user: APICaller.User
    let client: RealmClient

    /// The class as an application declares it, without the key of the partition.
    static let schema: [Instruction] = {
        let task = ByteText("Task")
        let key = Instruction.KeyColumn(field: ByteText("_id"), type: .objectID, isNullable: false)
        return [
            .addTable(task, .topLevel(key)),
            .addColumn(
                Instruction.Column(table: task, field: ByteText("count"), type: .int, isNullable: true)
            ),
            .addColumn(
                Instruction.Column(table: task, field: ByteText("name"), type: .string, isNullable: false)
            ),
        ]
    }()

    /// A device that is not connected yet.
    init(_ api: APICaller, _ user: APICaller.User, partition: String? = nil) {
        self.api = api
        self.user = user
        client = RealmClient(api, user, schema: Self.schema, partition: partition ?? "\"\(user.id)\"")
    }

    /// A connected device of a new user or of a known one.
    static func open(_ user: APICaller.User? = nil, partition: String? = nil) async throws -> PartitionDevice
    {
        let api = try await PartitionServer.caller()
        let known = if let user { user } else { try await api.newUser() }
        let device = PartitionDevice(api, known, partition: partition)
        try device.client.connect()
        try device.client.catchUp()
        return device
    }

    static func object(_ id: String) -> ObjectAddress {
        ObjectAddress(table: ByteText("Task"), key: ObjectID(hex: id).map { .objectID($0) } ?? .null)
    }

    func create(_ id: String, _ fields: [String: Payload], isDefault: Bool = false) throws {
        let object = Self.object(id)
        try client.file.write(
            at: ItemDevice.now,
            [.createObject(object)]
                + fields.sorted { $0.key < $1.key }.map { field, value in
                    .update(
                        ValueAddress(object: object, field: ByteText(field)),
                        value,
                        .value(isDefault: isDefault)
                    )
                }
        )
    }

    /// What PostgreSQL holds; empty when there is no such document.
    func stored(_ id: String, _ field: String) throws -> String {
        try Shell.psql(
            api.server.database,
            #"select doc->>'\#(field)' from todo."Task" where doc->'_id'->>'$oid' = '\#(id)'"#
        )
    }
}

extension RealmClient {
    /// The error of the server that something ends with; nil when it ends well.
    static func code(_ body: () throws -> Void) throws -> Int64? {
        do {
            try body()
            return nil
        } catch let error as Ended {
            return error.code
        }
    }
}

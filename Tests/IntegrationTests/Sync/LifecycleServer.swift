import BSON
import Foundation
import Sync
import SyncModel
import TestSupport
import Testing

/// A server of its own, since what is tested changes the app for all devices.
enum LifecycleServer {
    private static let task = Task { try await RunningServer.start(app: files, name: "sync-lifecycle") }

    static func caller() async throws -> APICaller {
        APICaller(server: try await task.value, app: "item-abcde")
    }

    /// A new user's device that has the schema.
    static func device(protocolVersion: Int = 14) async throws -> SyncDevice {
        let api = try await caller()
        let device = try SyncDevice(
            api,
            try await api.newUser(),
            protocols: "com.mongodb.realm-query-sync#\(protocolVersion)"
        )
        try device.begin()
        return device
    }

    @discardableResult
    static func sql(_ statement: String) async throws -> String {
        try Shell.psql(try await task.value.database, statement)
    }

    private static let files: [String: String] = SyncServer.files.merging([
        "auth/custom_user_data.json": """
        {"enabled": true, "mongo_service_name": "mongodb-atlas", "database_name": "todo",
         "collection_name": "Profile", "user_id_field": "user"}
        """,
        "data_sources/mongodb-atlas/todo/Note/rules.json": """
        {"database": "todo", "collection": "Note", "roles": [{"name": "team", "apply_when": {}, "read": true,
         "write": true, "insert": true, "delete": true,
         "document_filters": {"read": {"ownerId": "%%user.custom_data.team"},
                              "write": {"ownerId": "%%user.custom_data.team"}}}]}
        """,
        "data_sources/mongodb-atlas/todo/Note/schema.json": """
        {"title": "Note", "bsonType": "object", "required": ["_id", "ownerId"],
         "properties": {"_id": {"bsonType": "objectId"}, "ownerId": {"bsonType": "string"}}}
        """,
    ]) { _, new in new }

    /// The rules of all classes but `Note`, with these filters.
    static func setRules(read: String, write: String) async throws {
        try await sql(
            """
            select tidegate.set_default_rules('item', 'mongodb-atlas', '{"roles": [{"name": "owner-read-write",
                "apply_when": {}, "read": true, "write": true, "insert": true, "delete": true,
                "document_filters": {"read": \(read), "write": \(write)}}]}')
            """
        )
    }

    static let own = #"{"ownerId": "%%user.id"}"#
}

extension SyncDevice {
    static let items = #"{"Item":"(TRUEPREDICATE)"}"#

    /// Another connection of this device, after the server has noticed the end of this one.
    func reconnected(_ queryVersion: Int, _ query: String) async throws -> (SyncDevice, SyncDevice.Message) {
        close()
        var answer: (SyncDevice, SyncDevice.Message)?
        try await eventually {
            let device = try SyncDevice(self.api, self.user, protocols: self.protocols)
            device.resume(self, queryVersion, query)
            let message = try device.receive()
            if message.fields.prefix(2) == ["json_error", "108"] { return false }
            answer = (device, message)
            return true
        }
        guard let answer else { throw Closed() }
        return answer
    }

    /// The code of the error that comes next, or nil.
    func nextError() throws -> String? {
        let message = try receive()
        return message.name == "json_error" ? message.fields[1] : nil
    }

    /// What the server closes the socket with.
    func closure() -> Int? {
        while true {
            do {
                _ = try receive()
            } catch {
                return (error as? Closed)?.code
            }
        }
    }

    /// Writes an item of its user, and takes the acknowledgement.
    func write(_ id: String, complexity: Int64 = 1, owner: String? = nil) throws {
        upload(
            ItemExampleTests.creation(id, owner: owner ?? user.id, name: "written", complexity: complexity)
        )
        while try receive().number(6) != version {}
    }
}

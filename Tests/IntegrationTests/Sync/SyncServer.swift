import Foundation
import TestSupport

/// A server whose app syncs the class of the SDKs' pages.
///
/// Source: `sync-semantics.md` §1.1.
enum SyncServer {
    private static let task = Task { try await RunningServer.start(app: files, name: "sync") }

    static func caller() async throws -> APICaller {
        APICaller(server: try await task.value, app: "item-abcde")
    }

    /// A server for tests that end the history of the app.
    private static let resets = Task { try await RunningServer.start(app: files, name: "sync-resets") }

    static func callerForResets() async throws -> APICaller {
        APICaller(server: try await resets.value, app: "item-abcde")
    }

    static let files: [String: String] = [
        "realm_config.json": #"{"app_id": "item-abcde", "config_version": 20210101, "name": "item"}"#,
        "auth/providers.json":
            #"{"anon-user": {"name": "anon-user", "type": "anon-user", "disabled": false}}"#,
        "sync/config.json": """
        {"type": "flexible", "state": "enabled", "service_name": "mongodb-atlas", "database_name": "todo",
         "queryable_fields_names": ["complexity", "ownerId"]}
        """,
        "http_endpoints/data_api_config.json":
            #"{"disabled": false, "versions": ["v1"], "return_type": "JSON"}"#,
        "data_sources/mongodb-atlas/config.json":
            #"{"name": "mongodb-atlas", "type": "mongodb-atlas", "config": {}, "version": 1}"#,
        "data_sources/mongodb-atlas/default_rule.json": """
        {"roles": [{"name": "owner-read-write", "apply_when": {}, "read": true, "write": true, "insert": true,
                    "delete": true, "document_filters": {"read": {"ownerId": "%%user.id"},
                                                         "write": {"ownerId": "%%user.id"}}}]}
        """,
        "data_sources/mongodb-atlas/todo/Item/schema.json": """
        {"title": "Item", "bsonType": "object", "required": ["_id", "ownerId", "itemName", "complexity"],
         "properties": {"_id": {"bsonType": "objectId"}, "ownerId": {"bsonType": "string"},
                        "itemName": {"bsonType": "string"}, "complexity": {"bsonType": "long"}}}
        """,
        "data_sources/mongodb-atlas/todo/Memo/schema.json": """
        {"title": "Memo", "bsonType": "object", "required": ["_id", "ownerId"],
         "properties": {"_id": {"bsonType": "objectId"}, "ownerId": {"bsonType": "string"},
                        "text": {"bsonType": "string", "maxLength": 20}, "size": {"bsonType": "long"},
                        "kind": {"bsonType": "string", "enum": ["plain", "rich"], "default": "plain"},
                        "remark": {"bsonType": ["string", "null"]},
                        "place": {"title": "MemoPlace", "bsonType": "object",
                                  "properties": {"room": {"bsonType": "string"}}}}}
        """,
    ]
}

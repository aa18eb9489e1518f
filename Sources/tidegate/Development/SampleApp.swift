/// The app that `tidegate dev` serves when it is given none: items that belong to their owner, with
/// the role `owner-read-write` (the example of the Swift SDK's pages on writing to a synced realm).
enum SampleApp {
    static let clientAppID = "sample-tidal"
    static let email = "sample@example.com"

    /// The app's directory: paths and contents.
    static let files: [String: String] = [
        "realm_config.json": """
        {
            "app_id": "sample-tidal",
            "config_version": 20210101,
            "name": "sample",
            "location": "US-VA",
            "provider_region": "aws-us-east-1",
            "deployment_model": "GLOBAL"
        }

        """,
        "auth/providers.json": """
        {
            "anon-user": { "name": "anon-user", "type": "anon-user", "disabled": false },
            "api-key": { "name": "api-key", "type": "api-key", "disabled": false },
            "local-userpass": {
                "name": "local-userpass",
                "type": "local-userpass",
                "config": { "autoConfirm": true },
                "disabled": false
            }
        }

        """,
        "data_sources/mongodb-atlas/config.json": """
        {
            "name": "mongodb-atlas",
            "type": "mongodb-atlas",
            "config": { "clusterName": "Cluster0", "readPreference": "primary", "wireProtocolEnabled": false },
            "version": 1
        }

        """,
        "data_sources/mongodb-atlas/todo/Item/rules.json": """
        {
            "database": "todo",
            "collection": "Item",
            "roles": [
                {
                    "name": "owner-read-write",
                    "apply_when": {},
                    "document_filters": {
                        "read": { "ownerId": "%%user.id" },
                        "write": { "ownerId": "%%user.id" }
                    },
                    "read": true,
                    "write": true
                }
            ]
        }

        """,
        "data_sources/mongodb-atlas/todo/Item/schema.json": """
        {
            "title": "Item",
            "bsonType": "object",
            "required": ["_id", "ownerId", "itemName", "complexity"],
            "properties": {
                "_id": { "bsonType": "objectId" },
                "ownerId": { "bsonType": "string" },
                "itemName": { "bsonType": "string" },
                "complexity": { "bsonType": "int" }
            }
        }

        """,
        "http_endpoints/config.json": "[]\n",
        "http_endpoints/data_api_config.json": """
        {
            "disabled": false,
            "versions": ["v1"],
            "return_type": "JSON",
            "create_user_on_auth": false
        }

        """,
        "sync/config.json": """
        {
            "type": "flexible",
            "state": "enabled",
            "development_mode_enabled": false,
            "service_name": "mongodb-atlas",
            "database_name": "todo",
            "client_max_offline_days": 30,
            "is_recovery_mode_disabled": false,
            "queryable_fields_names": ["complexity", "ownerId"]
        }

        """,
    ]

    /// What the sample user owns, and what someone else does.
    static func items(owner: String) -> [String] {
        let rows = [
            ("Learn Realm CRUD stuff", 3, owner), ("Read the rules reference", 2, owner),
            ("Fix the bug with the failing method", 7, owner),
            ("Write code that generates a permission error", 1, "This string does not match the user.id"),
        ]
        return rows.enumerated().map { index, row in
            """
            {"_id":{"$oid":"6553f1d4d4997400000000\(index)0"},"ownerId":"\(row.2)",\
            "itemName":"\(row.0)","complexity":\(row.1)}
            """
        }
    }
}

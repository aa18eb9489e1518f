/// The app that the integration tests serve: a collection per rule that they look at.
public enum TestApp {
    /// The app's name in paths.
    public static let clientAppID = "tests-abcde"

    /// Paths and contents of the app's directory.
    public static let files: [String: String] = [
        "realm_config.json": #"{"app_id": "tests-abcde", "config_version": 20210101, "name": "tests"}"#,
        "auth/providers.json": """
        {"anon-user": {"name": "anon-user", "type": "anon-user", "disabled": false},
         "api-key": {"name": "api-key", "type": "api-key", "disabled": false},
         "local-userpass": {"name": "local-userpass", "type": "local-userpass", "disabled": false,
                            "config": {"autoConfirm": true}},
         "custom-token": {"name": "custom-token", "type": "custom-token", "disabled": false,
                          "config": {"audience": [], "signingAlgorithm": "HS256", "useJWKURI": false},
                          "secret_config": {"signingKeys": ["jwt_key"]}}}
        """,
        "data_sources/mongodb-atlas/config.json":
            #"{"name": "mongodb-atlas", "type": "mongodb-atlas", "config": {}, "version": 1}"#,
        "http_endpoints/data_api_config.json":
            #"{"disabled": false, "versions": ["v1"], "return_type": "JSON", "create_user_on_auth": true}"#,
        rules("Item"): role(
            #""document_filters": {"read": {"ownerId": "%%user.id"}, "write": {"ownerId": "%%user.id"}}, "read": true, "write": true"#
        ),
        rules("Bytes"): role(
            #""document_filters": {"read": true, "write": true}, "read": true, "write": true"#
        ),
        rules("Open"): role(
            #""document_filters": {"read": true, "write": true}, "read": true, "write": true"#
        ),
        rules("Late"): role(
            #""document_filters": {"read": true, "write": true}, "read": true, "write": true"#
        ),
        rules("Late2"): role(
            #""document_filters": {"read": true, "write": true}, "read": true, "write": true"#
        ),
        rules("Late3"): role(
            #""document_filters": {"read": true, "write": true}, "read": true, "write": true"#
        ),
        rules("Turning"): role(
            #""document_filters": {"read": true, "write": true}, "read": true, "write": true"#
        ),
        rules("Feed"): role(
            #""document_filters": {"read": true, "write": {"ownerId": "%%user.id"}}, "read": true, "write": true"#
        ),
        rules("ReadOnly"): role(
            #""document_filters": {"read": true, "write": false}, "read": true, "write": false"#
        ),
        rules("Checked"): role(
            #""document_filters": {"read": true, "write": true}, "read": true, "write": true"#
        ),
        "data_sources/mongodb-atlas/todo/Checked/schema.json": """
        {"title": "Checked", "bsonType": "object", "required": ["_id", "name"],
         "properties": {"_id": {"bsonType": "objectId"}, "name": {"bsonType": "string", "minLength": 2},
                        "count": {"bsonType": "int", "minimum": 0}}}
        """,
        rules("Fields"): role(
            #""fields": {"_id": {"read": true, "write": true}, "shown": {"read": true, "write": true}, "fixed": {"read": true, "write": false}, "nested": {"fields": {"open": {"read": true, "write": true}}}}, "additional_fields": {}"#
        ),
        rules("Tiered"): """
        {"database": "todo", "collection": "Tiered", "roles": [
          {"name": "admin", "apply_when": {"%%user.data.email": {"%in": "%%values.admins"}},
           "document_filters": {"read": true, "write": true}, "read": true, "write": true},
          {"name": "member", "apply_when": {"team": "red"},
           "document_filters": {"read": true, "write": false}, "read": true, "write": false}]}
        """,
        rules("Filtered"): """
        {"database": "todo", "collection": "Filtered",
         "roles": [{"name": "all", "apply_when": {}, "document_filters": {"read": true, "write": true},
                    "read": true, "write": true}],
         "filters": [{"name": "live", "apply_when": true, "query": {"deleted": {"$ne": true}},
                      "projection": {"secret": 0}}]}
        """,
        "values/admins.json": #"{"name": "admins", "value": ["root@example.com"], "from_secret": false}"#,
    ]

    private static func rules(_ collection: String) -> String {
        "data_sources/mongodb-atlas/todo/\(collection)/rules.json"
    }

    /// A rules file with one role; the importer takes the namespace from the path.
    private static func role(_ permissions: String) -> String {
        #"{"roles": [{"name": "only", "apply_when": {}, \#(permissions)}]}"#
    }
}

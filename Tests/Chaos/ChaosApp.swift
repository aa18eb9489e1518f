/// The app of a run: one collection that every API key may read and write.
enum ChaosApp {
    static let clientAppID = "chaos-abcde"

    static let files: [String: String] = [
        "realm_config.json": #"{"app_id": "chaos-abcde", "config_version": 20210101, "name": "chaos"}"#,
        "auth/providers.json":
            #"{"api-key": {"name": "api-key", "type": "api-key", "disabled": false}}"#,
        "data_sources/mongodb-atlas/config.json":
            #"{"name": "mongodb-atlas", "type": "mongodb-atlas", "config": {}, "version": 1}"#,
        "http_endpoints/data_api_config.json":
            #"{"disabled": false, "versions": ["v1"], "return_type": "JSON"}"#,
        "data_sources/mongodb-atlas/chaos/Items/rules.json": """
        {"database": "chaos", "collection": "Items", "roles": [{"name": "all", "apply_when": {},
          "document_filters": {"read": true, "write": true}, "read": true, "write": true}]}
        """,
    ]
}

import BSON
import MQL
import Schemas
package import Sync

/// The app of random scripts: one class with every kind of property, and who may see its objects.
package enum SyncModelApp {
    package static let clientAppID = "model-abcde"

    /// A user sees and writes objects of his own, and those of all.
    package static let files: [String: String] = [
        "realm_config.json": #"{"app_id": "model-abcde", "config_version": 20210101, "name": "model"}"#,
        "auth/providers.json":
            #"{"anon-user": {"name": "anon-user", "type": "anon-user", "disabled": false}}"#,
        "sync/config.json": """
        {"type": "flexible", "state": "enabled", "service_name": "mongodb-atlas", "database_name": "todo",
         "queryable_fields_names": ["g", "who", "i"]}
        """,
        "data_sources/mongodb-atlas/config.json":
            #"{"name": "mongodb-atlas", "type": "mongodb-atlas", "config": {}, "version": 1}"#,
        "data_sources/mongodb-atlas/default_rule.json": """
        {"roles": [{"name": "members", "apply_when": {}, "read": true, "write": true, "insert": true,
                    "delete": true, "search": true,
                    "document_filters": {"read": {"who": {"$in": ["%%user.id", "all"]}},
                                         "write": {"who": {"$in": ["%%user.id", "all"]}}}}]}
        """,
        "data_sources/mongodb-atlas/todo/T/schema.json": schemaText,
        "http_endpoints/data_api_config.json":
            #"{"disabled": false, "versions": ["v1"], "return_type": "JSON"}"#,
    ]

    /// The same classes by partitions: `g` is the key, and everybody may open any.
    package static let partitionedFiles = files.merging([
        "sync/config.json": """
        {"type": "partition", "state": "enabled", "service_name": "mongodb-atlas", "database_name": "todo",
         "partition": {"key": "g", "type": "string", "required": true, "permissions": {"read": true, "write": true}}}
        """
    ]) { _, new in new }

    private static func part(_ title: String, _ inner: String) -> String {
        """
        {"title": "\(title)", "bsonType": "object", "properties": {
          "x": {"bsonType": "mixed"}, "i": {"bsonType": "long"}, "m": {"bsonType": "mixed"}\(inner),
          "li": {"bsonType": "array", "items": {"bsonType": "mixed"}},
          "d": {"bsonType": "object", "additionalProperties": {"bsonType": "mixed"}}}}
        """
    }

    private static let inner = part("Part", ", \"e\": " + part("Particle", ""))

    /// The properties of `RealmState`, with embedded objects two deep.
    private static let schemaText = """
        {"title": "T", "bsonType": "object", "required": ["_id", "g", "who"], "properties": {
          "_id": {"bsonType": "long"}, "g": {"bsonType": "string"}, "who": {"bsonType": "string"},
          "s": {"bsonType": "mixed"}, "i": {"bsonType": "long"}, "m": {"bsonType": "mixed"},
          "e": \(inner),
          "li": {"bsonType": "array", "items": {"bsonType": "mixed"}},
          "le": {"bsonType": "array", "items": \(inner)},
          "lm": {"bsonType": "array", "items": {"bsonType": "mixed"}},
          "st": {"bsonType": "array", "uniqueItems": true, "items": {"bsonType": "long"}},
          "d": {"bsonType": "object", "additionalProperties": {"bsonType": "mixed"}},
          "de": {"bsonType": "object", "additionalProperties": \(inner)},
          "dm": {"bsonType": "object", "additionalProperties": {"bsonType": "mixed"}}}}
        """

    package static let embeddingLimit = 2

    /// What a device's own schema is: all classes and properties.
    package static func schema() throws -> [Instruction] {
        let namespace = Namespace(dataSource: "mongodb-atlas", database: "todo", collection: "T")
        let parsed = try SchemaParser.parse(try ExtendedJSON.document(schemaText))
        let made = SyncSchema.make([SyncSchema.Source(namespace: namespace, schema: parsed)])
        guard made.faults.isEmpty else {
            throw BrokenRule(made.faults.map(\.description).joined(separator: "\n"))
        }
        return made.schema.instructions
    }
}

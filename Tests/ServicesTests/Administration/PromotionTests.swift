import AppDefinition
import Foundation
import Postgres
import SQL
import TestSupport
import Testing

@testable import Services

extension AdministrationSuites {
    @Suite("Fields promoted by SQL")
    struct PromotionTests {
        private static let schema = """
            {"title": "t", "bsonType": "object", "properties": {
                "_id": {"bsonType": "objectId"}, "name": {"bsonType": "string"}, "count": {"bsonType": ["int", "null"]},
                "either": {"bsonType": ["int", "long"]}, "flag": {"bsonType": "boolean"}, "size": {"bsonType": "float"},
                "list": {"bsonType": "array", "items": {"bsonType": "string"}}, "any": {},
                "deep": {"bsonType": "object", "properties": {"at": {"bsonType": "date"}, "id": {"bsonType": "uuid"}}},
                "bare": {"properties": {"x": {"bsonType": "decimal"}}}, "one": {"properties": {"two": {"properties":
                {"three": {"properties": {"four": {"properties": {"five": {"properties": {"six": {"properties":
                {"seven": {"properties": {"eight": {"bsonType": "int"},
                                          "down": {"properties": {"nine": {"bsonType": "int"}}}}}}}}}}}}}}}}},
                "$odd": {"bsonType": "string"}, "dotted.name": {"bsonType": "string"}, "5": {"bsonType": "int"}}}
            """
        private static let rules = """
            {"roles": [
              {"name": "a", "apply_when": {"%%user.data.email": {"$in": "%%root.editors"}, "team": "red"},
               "document_filters": {"read": {"$or": [{"owner": "%%user.id"}, {"%not": {"%%root.state.kind": "draft"}},
                   {"%%prevRoot.before": {"$exists": true}}]}, "write": {"%and": [{"name": "x"}, {"tags.0": "y"}]}},
               "read": true, "write": {"%%root.limit": {"$gt": "%%root.used"}}, "insert": {"%%true": true},
               "delete": {"_id": "%%user.id"}, "search": false,
               "fields": {"salary": {"read": {"%%this": {"$gt": 1}}, "write": {"%%prev": "%%root.old"},
                   "fields": {"part": {"read": {"%%this.inner": 1}, "write": false}}}},
               "additional_fields": {"read": {"%%this.unknown": 1}, "write": {"%%root.known": 1}}},
              {"name": "b", "apply_when": {}, "read": {"%or": [{"a.b.c": {"$not": {"$eq": 1}}},
                  {"%nor": [{"d": {"%oidToString": "%%root.e"}}]}]}, "write": false}],
             "filters": [
              {"name": "f", "apply_when": true, "query": {"deleted": {"$ne": "%%user.id"}, "$or": [{"public": true},
                  {"$and": [{"deep.at": {"$gt": 1}}, {"g.h": "%%user.id"}]}], "$expr": {"$eq": ["$i", 1]}}}]}
            """

        private static let cases: [(String, [String: String])] = [
            ("both", ["rules": rules, "schema": schema]), ("rules alone", ["rules": rules]),
            ("schema alone", ["schema": schema]), ("default rules", ["default": rules]),
            ("default rules and a schema", ["default": rules, "schema": schema]),
        ]

        private func promoted(_ database: Database, _ name: String) async throws -> [String] {
            let rows = try await database.run(
                """
                SELECT concat_ws(' ', e ->> 'path', e ->> 'type') FROM tidegate.collections c,
                    jsonb_array_elements(c.promoted) e WHERE c.database = \(bind: .text(name)) ORDER BY 1
                """
            )
            return (0..<rows.rowCount).map { rows.text($0, 0) ?? "" }
        }

        private func `import`(_ parts: [String: String], _ database: Database) async throws {
            var files = [
                "realm_config.json": #"{"config_version": 20210101, "name": "imported"}"#,
                "data_sources/mongodb-atlas/config.json":
                    #"{"name": "mongodb-atlas", "type": "mongodb-atlas"}"#,
            ]
            let folder = "data_sources/mongodb-atlas/by_import/things/"
            files[folder + "rules.json"] = parts["rules"]
            files[folder + "schema.json"] = parts["schema"]
            files["data_sources/mongodb-atlas/default_rule.json"] = parts["default"]
            if parts["rules"] == nil, parts["schema"] == nil { files[folder + "relationships.json"] = "{}" }
            let read = ConfigurationTreeReader.read(FileTree(files: files.mapValues { Array($0.utf8) }))
            let tree = try #require(read.tree, "\(read.findings.errors)")
            let parsed = AppConfigurationParser.parse(tree)
            _ = try await AppStore(database: database).import(
                tree,
                try #require(parsed.app, "\(parsed.findings.errors)")
            )
        }

        @Test("are those that an import promotes", .postgres, arguments: cases)
        func same(_ title: String, _ parts: [String: String]) async throws {
            let database = TestDatabase.current.database
            try await `import`(parts, database)
            _ = try await database.run("SELECT tidegate.create_app('typed')")
            if parts["rules"] == nil, parts["schema"] == nil {
                _ = try await database.run(
                    "SELECT tidegate.set_relationships('typed', 'mongodb-atlas', 'by_sql', 'things', '{}'::text)"
                )
            }
            if let schema = parts["schema"] {
                _ = try await database.run(
                    "SELECT tidegate.set_schema('typed', 'mongodb-atlas', 'by_sql', 'things', \(bind: .text(schema))::text)"
                )
            }
            if let rules = parts["rules"] {
                _ = try await database.run(
                    "SELECT tidegate.set_rules('typed', 'mongodb-atlas', 'by_sql', 'things', \(bind: .text(rules))::text)"
                )
            }
            if let rules = parts["default"] {
                _ = try await database.run(
                    "SELECT tidegate.set_default_rules('typed', 'mongodb-atlas', \(bind: .text(rules))::text)"
                )
            }
            let imported = try await promoted(database, "by_import")
            #expect(imported.count > 5, "\(title)")
            #expect(try await promoted(database, "by_sql") == imported, "\(title)")
        }

        @Test("leave a large table alone, and say how", .postgres)
        func large() async throws {
            let setRules = """
                select tidegate.set_rules('shop', 'mongodb-atlas', 'store', 'items',
                    '{"roles": [{"name": "a", "apply_when": {"owner": "%%user.id"}, "read": true}]}');
                select 'columns ' || (promoted #>> '{}') from tidegate.list_collections();
                """
            let script = """
                select tidegate.create_app('shop');
                select tidegate.create_collection('store', 'items');
                insert into store.items (doc)
                    select jsonb_build_object('_id', n, 'owner', 'ann') from generate_series(1, 20000) n;
                set tidegate.promote_up_to = '1 kB';
                \(setRules)
                reset tidegate.promote_up_to;
                \(setRules)
                """
            let result = try Shell.run(
                URL(fileURLWithPath: "/usr/bin/psql"),
                ["-X", "-d", TestDatabase.current.connectionString, "-f", "-"],
                input: Data(script.utf8)
            )
            #expect(result.errors.contains("its field owner gets no column now"), "\(result.errors)")
            let hint = "SELECT tidegate.promote_field('store', 'items', 'owner', 'string')"
            #expect(result.errors.contains(hint), "\(result.errors)")
            #expect(result.errors.contains("is rewritten"), "\(result.errors)")
            #expect(result.output.contains("columns []"), "\(result.output)")
            #expect(result.output.contains(#"columns [{"path": "owner""#), "\(result.output)")
        }
    }
}

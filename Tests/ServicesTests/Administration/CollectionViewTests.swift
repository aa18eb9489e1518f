import Postgres
import SQL
import TestSupport
import Testing

extension AdministrationSuites {
    @Suite("Views of collections")
    struct CollectionViewTests {
        private func columns(_ fixture: AdministrationFixture, _ view: String) async throws -> [String] {
            try await fixture.rows(
                """
                SELECT attname || ' ' || format_type(atttypid, NULL) FROM pg_attribute
                WHERE attrelid = (SELECT c.oid FROM pg_class c WHERE c.relnamespace = 'tidegate_views'::regnamespace
                                  AND c.relname = $name$\(view)$name$) AND attnum > 0 AND NOT attisdropped ORDER BY attnum
                """
            )
        }

        @Test("have a column per field of the schema, in its order, and the document last", .postgres)
        func schema() async throws {
            let fixture = try await AdministrationFixture()
            #expect(try await columns(fixture, "store.empty") == ["_id text", "doc jsonb"])
            _ = try await fixture.rows(
                """
                SELECT tidegate.set_schema('shop', 'other', 'store', 'empty', '{"properties": {
                    "_id": {"bsonType": "objectId"}, "when": {"bsonType": "date"}, "tags": {"bsonType": "array"},
                    "at": {"bsonType": "object", "properties": {"city": {"bsonType": "string"}}},
                    "doc": {"bsonType": "bool"}, "say \\"it''s\\"": {"bsonType": "uuid"}}}')
                """
            )
            #expect(
                try await columns(fixture, "store.empty") == [
                    "_id text", "when timestamp with time zone", "tags jsonb", "at.city text",
                    "doc (bool) boolean", "say \"it's\" uuid", "doc jsonb",
                ]
            )
            _ = try await fixture.rows(
                """
                INSERT INTO store.empty (doc) VALUES
                    ('{"_id": {"$oid": "65f0c0ffee00000000000001"}, "at": {"city": "Ghent"}}'),
                    ('{"_id": "text"}'), ('{"_id": 7}'), ('{"_id": {"$date": 0}}')
                """
            )
            #expect(
                try await fixture.rows(
                    #"SELECT _id, "at.city" FROM tidegate_views."store.empty" ORDER BY _id COLLATE "C""#
                ) == ["1970-01-01T00:00:00.000Z|", "65f0c0ffee00000000000001|Ghent", "7|", "text|"]
            )
        }

        @Test("follow promoted fields, and their end", .postgres)
        func promotion() async throws {
            let fixture = try await AdministrationFixture()
            _ = try await fixture.rows("SELECT tidegate.promote_field('store', 'empty', 'n', 'number')")
            _ = try await fixture.rows("SELECT tidegate.promote_field('store', 'empty', 'n', 'string')")
            #expect(
                try await columns(fixture, "store.empty")
                    == ["_id text", "n numeric", "n (string) text", "doc jsonb"]
            )
            _ = try await fixture.rows("SELECT tidegate.demote_field('store', 'empty', 'n')")
            #expect(try await columns(fixture, "store.empty") == ["_id text", "doc jsonb"])
            _ = try await fixture.rows("SELECT tidegate.drop_collection('store', 'empty')")
            #expect(try await columns(fixture, "store.empty") == [])
        }

        @Test("stay as they are while others depend on them, and nothing fails for it", .postgres)
        func dependents() async throws {
            let fixture = try await AdministrationFixture()
            _ = try await fixture.rows(
                "CREATE VIEW public.report AS SELECT * FROM tidegate_views.\"store.items\""
            )
            let before = try await columns(fixture, "store.items")
            _ = try await fixture.rows(
                """
                SELECT tidegate.set_schema('shop', 'mongodb-atlas', 'store', 'items',
                    '{"properties": {"other": {"bsonType": "string"}}}')
                """
            )
            #expect(try await columns(fixture, "store.items") == before)
            _ = try await fixture.rows("DROP VIEW public.report")
            _ = try await fixture.rows("SELECT tidegate.refresh_view('store', 'items')")
            #expect(try await columns(fixture, "store.items").contains("other text"))
        }

        @Test("keep apart collections of any name", .postgres)
        func names() async throws {
            let fixture = try await AdministrationFixture()
            let long = String(repeating: "x", count: 200)
            let names = [
                ("a", "b.c"), ("a.b", "c"), ("a", "it's \"quoted\""), ("a", long), ("a", long + "y"),
                ("tidegate", "apps"), ("tidegate_views", "store.items"), ("public", "x"),
                ("pg_catalog", "pg_class"), ("ä", "🙂"),
            ]
            for (database, collection) in names {
                let made = try await fixture.database.run(
                    "SELECT tidegate.ensure_collection(\(bind: .text(database)), \(bind: .text(collection)))"
                )
                #expect(made.int(0, 0) != nil)
            }
            let views = try await fixture.rows(
                "SELECT count(*) FROM pg_class WHERE relnamespace = 'tidegate_views'::regnamespace AND relkind = 'v'"
            )
            // The fixture has two more collections, and a mapped table, which needs no view.
            #expect(views == ["\(names.count + 2)"])
            let tables = try await fixture.rows(
                "SELECT count(DISTINCT table_name) FROM tidegate.list_collections() WHERE table_name IS NOT NULL"
            )
            #expect(tables == ["\(names.count + 3)"])
        }
    }
}

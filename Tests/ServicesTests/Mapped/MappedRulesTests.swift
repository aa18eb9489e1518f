import Accounts
import Errors
import MQL
import Postgres
import SQL
import TestSupport
import Testing

@testable import Services

@Suite("Mapped relations under rules")
struct MappedRulesTests {
    @Test("nobody reads, counts or changes what rules keep from him")
    func owners() async throws {
        let maps = try await MappedFixture(as: "Item")
        let ann = DataFixture.id(DataFixture.ann)
        #expect(
            try await maps.answer(
                "insertMany",
                "Item",
                #"{"documents":[{"_id":1,"ownerId":"\#(ann)","qty":1},{"_id":2,"ownerId":"other","qty":2}]}"#
            ) == "inserted"
        )
        #expect(
            try await maps.answer("find", "Item", "{}", as: DataFixture.ann)
                == #"{"_id":1,"qty":1,"ownerId":"\#(ann)"}"#
        )
        #expect(try await maps.answer("countDocuments", "Item", "{}", as: DataFixture.bob) == "0")
        #expect(
            try await maps.answer(
                "updateMany",
                "Item",
                #"{"filter":{},"update":{"$inc":{"qty":1}}}"#,
                as: DataFixture.ann
            )
                == "1 1"
        )
        for (action, members) in [
            ("updateOne", #"{"filter":{"_id":1},"update":{"$set":{"ownerId":"other"}}}"#),
            ("insertOne", #"{"document":{"_id":3,"ownerId":"other"}}"#),
        ] {
            let error = await #expect(throws: ServiceError.self) {
                _ = try await maps.fixture.perform(action, "Item", members, as: DataFixture.ann)
            }
            #expect(error?.cause is WriteDenial, "\(action)")
        }
        #expect(try await maps.answer("deleteMany", "Item", #"{"filter":{}}"#, as: DataFixture.bob) == "0")
        #expect(
            try await maps.answer(
                "aggregate",
                "Item",
                #"{"pipeline":[{"$group":{"_id":null,"n":{"$sum":"$qty"}}}]}"#,
                as: DataFixture.ann
            )
                == #"{"_id":null,"n":2}"#
        )
        #expect(try await maps.answer("deleteMany", "Item", #"{"filter":{}}"#, as: DataFixture.ann) == "1")
        #expect(try await maps.answer("find", "Item", #"{"projection":{"_id":1}}"#) == #"{"_id":2}"#)
        await maps.fixture.database.close()
    }

    @Test("hidden columns are neither shown nor written")
    func fields() async throws {
        let maps = try await MappedFixture(
            "id integer PRIMARY KEY, shown integer, fixed integer, secret integer",
            as: "Fields"
        )
        _ = try await maps.answer(
            "insertOne",
            "Fields",
            #"{"document":{"_id":1,"shown":1,"fixed":2,"secret":3}}"#
        )
        #expect(
            try await maps.answer("find", "Fields", "{}", as: DataFixture.ann)
                == #"{"_id":1,"shown":1,"fixed":2}"#
        )
        #expect(
            try await maps.answer(
                "updateOne",
                "Fields",
                #"{"filter":{"_id":1},"update":{"$inc":{"shown":1}}}"#,
                as: DataFixture.ann
            )
                == "1 1"
        )
        for field in ["fixed", "secret"] {
            await #expect(throws: ServiceError.self) {
                _ = try await maps.fixture.perform(
                    "updateOne",
                    "Fields",
                    #"{"filter":{"_id":1},"update":{"$set":{"\#(field)":9}}}"#,
                    as: DataFixture.ann
                )
            }
        }
        #expect(try await maps.answer("find", "Fields", "{}") == #"{"_id":1,"shown":2,"fixed":2,"secret":3}"#)
        await maps.fixture.database.close()
    }

    @Test("a counter loses no increment to writers at the same moment")
    func contention() async throws {
        let maps = try await MappedFixture()
        _ = try await maps.answer("insertOne", "Mapped", #"{"document":{"_id":1,"qty":0,"big":0}}"#)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<6 {
                group.addTask {
                    for _ in 1...10 {
                        // One statement, and one that is computed by the gateway.
                        let update =
                            worker % 2 == 0
                            ? #"{"$inc":{"qty":1}}"# : #"[{"$set":{"big":{"$add":["$big",1]}}}]"#
                        let done = try await maps.answer(
                            "updateOne",
                            "Mapped",
                            #"{"filter":{"_id":1},"update":\#(update)}"#
                        )
                        #expect(done == "1 1")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await maps.answer("find", "Mapped", "{}") == #"{"_id":1,"qty":30,"big":30}"#)
        await maps.fixture.database.close()
    }

    @Test("views and relations that may not be written are read only, by name")
    func readOnly() async throws {
        let maps = try await MappedFixture()
        try await maps.fixture.database.script(
            """
            INSERT INTO public.things (id, name) VALUES (1, 'a'), (2, 'a'), (3, 'b');
            CREATE VIEW public.names AS SELECT name, count(*) AS n FROM public.things GROUP BY name;
            GRANT SELECT ON public.names TO tidegate_owner
            """
        )
        try await maps.map("Names", #"{"fields":{"_id":"name","n":"n"}}"#, relation: "public.names")
        #expect(
            try await maps.answer("find", "Names", #"{"filter":{"n":{"$gt":1}}}"#) == #"{"_id":"a","n":2}"#
        )
        for (action, members) in [
            ("insertOne", #"{"document":{"_id":"c"}}"#), ("deleteMany", #"{"filter":{}}"#),
            ("updateOne", #"{"filter":{"_id":"a"},"update":{"$set":{"n":1}}}"#),
            ("findOneAndDelete", #"{"filter":{}}"#),
            ("bulkWrite", #"{"operations":[{"deleteMany":{"filter":{}}}]}"#),
        ] {
            #expect(try await maps.answer(action, "Names", members) == "error 166", "\(action)")
        }
        await maps.fixture.database.close()
    }

    @Test("shapes that are not served are refused by name")
    func refusals() async throws {
        let maps = try await MappedFixture()
        try await maps.fixture.database.script(
            """
            CREATE TABLE public.keyless (a integer); CREATE TABLE public.shapes (id integer PRIMARY KEY, p point);
            CREATE TABLE public.dated (id date PRIMARY KEY); CREATE TABLE public.secured (id integer PRIMARY KEY);
            ALTER TABLE public.secured ENABLE ROW LEVEL SECURITY; CREATE TABLE public.closed (id integer PRIMARY KEY);
            GRANT ALL ON public.keyless, public.shapes, public.dated, public.secured TO tidegate_owner
            """
        )
        for (relation, mapping, reason) in [
            ("public.keyless", "{}", "mapping.fields._id must name the column that is the key"),
            ("public.keyless", #"{"fields":{"_id":"a"}}"#, "mapping.fields._id needs a unique index on a"),
            ("public.shapes", "{}", "mapping.fields.p has a type that is not served: point"),
            (
                "public.shapes", #"{"fields":{"_id":"id","x":"y"}}"#,
                "mapping.fields.x names a column that public.shapes has not: y"
            ),
            (
                "public.shapes", #"{"fields":{"_id":"id","x.y":"p"}}"#,
                "mapping.fields.x.y must be the name of a field"
            ),
            ("public.shapes", #"{"fields":{"_id":"id"},"other":1}"#, "mapping.other is not a known key"),
            (
                "public.shapes", #"{"fields":{"_id":"id"},"overflow":"p"}"#,
                "mapping.overflow must be a jsonb column"
            ),
            (
                "public.shapes", #"{"fields":{"_id":"id","b":"id"}}"#,
                "mapping.fields must not name a column twice"
            ),
            (
                "public.shapes", #"{"fields":{"_id":"id","b":5}}"#,
                "mapping.fields.b must be the name of a column"
            ),
            ("public.dated", "{}", "mapping.fields._id must be an integer, text or uuid column"),
            ("public.secured", "{}", "relation has row-level security"),
            ("public.closed", "{}", "relation public.closed may not be read by tidegate_owner"),
            ("public.nothing", "{}", "relation 'public.nothing' does not exist"),
            ("tidegate.secrets", "{}", "relation belongs to PostgreSQL or to tidegate"),
            ("pg_catalog.pg_authid", "{}", "relation belongs to PostgreSQL or to tidegate"),
        ] {
            let refusal = try await maps.refusal(mapping, relation: relation)
            #expect(refusal?.hasPrefix("22023 " + reason) == true, "\(relation): \(refusal ?? "taken")")
        }
        for statement in [
            "SELECT tidegate.promote_field('todo', 'Mapped', 'x', 'string')",
            "SELECT tidegate.create_index('maps', 'todo', 'Mapped', '{\"x\": 1}')",
            "SELECT tidegate.drop_collection('todo', 'Mapped')",
            "SELECT tidegate.enable_change_log('todo', 'Mapped')",
        ] as [SQLFragment] {
            let error = await #expect(throws: ServiceError.self) {
                try await maps.fixture.database.run(statement)
            }
            #expect(
                error?.postgresFailure?.message.hasPrefix("collection 'Mapped' is a mapped relation") == true
            )
        }
        _ = try await maps.fixture.database.run("SELECT tidegate.unmap_table('maps', 'todo', 'Mapped')")
        maps.fixture.catalog.forgetAll()
        #expect(try await maps.answer("find", "Mapped", "{}") == "")
        #expect(
            try await maps.fixture.database.run("SELECT to_regclass('public.things') IS NOT NULL").text(0, 0)
                == "t"
        )
        await maps.fixture.database.close()
    }
}

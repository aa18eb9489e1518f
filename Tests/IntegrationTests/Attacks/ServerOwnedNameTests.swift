import Foundation
import TestSupport
import Testing

/// Sessions, users, rules and the database's own catalogue by data routes; `peers.md` §6.2.
///
/// The attacked app has default rules that open every namespace.
@Suite("Attack: what belongs to the server")
struct ServerOwnedNameTests {
    private static let databases = [
        "tidegate", "tidegate_views", "pg_catalog", "information_schema", "pg_toast", "pg_temp", "public",
        "_tidegate",
        "Tidegate", "TIDEGATE", "pg_temp_1", "admin", "local", "config",
    ]
    private static let collections = [
        "users", "identities", "sessions", "password_hashes", "secrets", "api_keys", "signing_keys", "apps",
        "collection_rules", "logs", "pg_authid", "pg_shadow", "pg_proc", "tables", "system.users",
        "schema_migrations",
    ]

    @Test("no name of a database reaches a table of the server", arguments: databases)
    func tables(database: String) async throws {
        let (api, user) = try await AttackApp.user()
        let secret = "secret-\(UUID().uuidString)"
        try await AttackApp.sql("select tidegate.set_secret('\(api.app)', 'bait', '\(secret)')")
        // Other tests make logins of their own meanwhile.
        let counts = """
            select (select count(*) from tidegate.secrets where name = 'bait') || '|'
              || (select count(*) from pg_authid where rolname in ('postgres', 'tidegate_owner', 'tidegate_gateway'))
              || '|' || (select count(*) from tidegate.apps where client_app_id = '\(api.app)')
            """
        let before = try await AttackApp.sql(counts)
        for collection in Self.collections {
            let tag = UUID().uuidString
            let inserted = try await api.act(
                "insertOne",
                collection,
                #""document":{"_id":"\#(tag)","name":"planted"}"#,
                as: user.bearer,
                database: database
            )
            #expect([201, 400].contains(inserted.status), "\(database).\(collection): \(inserted.text)")
            let found = try await api.act("find", collection, as: user.bearer, database: database)
            #expect([200, 400].contains(found.status), "\(database).\(collection): \(found.text)")
            // Only what users put there themselves: a table of documents of that name, somewhere else.
            let documents = found.object["documents"] as? [[String: Any]] ?? []
            #expect(documents.allSatisfy { Set($0.keys).isSubset(of: ["_id", "name"]) }, "\(found.text)")
            for word in [secret, "scrypt", "rolpassword", "client_app_id", "prosrc"] {
                #expect(!found.text.contains(word), "\(database).\(collection)")
            }
            for (action, members) in [
                ("updateMany", #""filter":{},"update":{"$set":{"name":"taken over"}}"#),
                ("deleteMany", #""filter":{}"#),
                ("aggregate", #""pipeline":[{"$match":{}}]"#),
            ] {
                let answer = try await api.act(
                    action,
                    collection,
                    members,
                    as: user.bearer,
                    database: database
                )
                #expect(
                    [200, 400].contains(answer.status),
                    "\(database).\(collection) \(action): \(answer.text)"
                )
            }
        }
        #expect(try await AttackApp.sql(counts) == before)
        #expect(
            try await api.send("GET", "/api/client/v2.0/auth/profile", headers: user.bearer).status == 200
        )
        let planted = try await AttackApp.sql(
            """
            select count(*) from pg_tables t where t.schemaname in ('tidegate', 'pg_catalog', 'information_schema')
              and exists (select from tidegate.collections c where c.schema_name = t.schemaname and c.table_name = t.tablename)
            """
        )
        #expect(planted == "0")
    }

    /// Every way to give a document another `_id`.
    private static let changesOfID = [
        ("updateOne", #""update":{"$set":{"_id":"other"}}"#),
        ("updateOne", #""update":{"$unset":{"_id":""}}"#),
        ("updateOne", #""update":{"$rename":{"_id":"x"}}"#),
        ("updateOne", #""update":{"$rename":{"x":"_id"}}"#),
        ("updateOne", #""update":{"$inc":{"_id":1}}"#), ("updateOne", #""update":{"$set":{"_id.a":1}}"#),
        ("updateOne", #""update":{"$min":{"_id":"0"}}"#), ("updateOne", #""update":{"$push":{"_id":1}}"#),
        ("updateOne", #""update":[{"$set":{"_id":"other"}}]"#),
        ("updateOne", #""update":[{"$replaceWith":{"_id":"other"}}]"#),
        ("updateMany", #""update":{"$set":{"_id":"other"}}"#),
        ("replaceOne", #""replacement":{"_id":"other"}"#),
    ]

    @Test("no operator changes an _id")
    func immutableID() async throws {
        let (api, user) = try await AttackApp.user()
        let id = UUID().uuidString
        _ = try await api.attack(
            "insertOne",
            "Open",
            #""document":{"_id":"\#(id)","x":"y"}"#,
            as: user.bearer
        )
        for (action, change) in Self.changesOfID {
            let answer = try await api.attack(
                action,
                "Open",
                #""filter":{"_id":"\#(id)"},\#(change)"#,
                as: user.bearer
            )
            #expect(answer.status == 400, "\(change): \(answer.text)")
        }
        let found = try await api.attack("findOne", "Open", #""filter":{"_id":"\#(id)"}"#, as: user.bearer)
        #expect(found.text == #"{"document":{"_id":"\#(id)","x":"y"}}"#)
    }
}

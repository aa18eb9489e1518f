import Accounts
import BSON
import Errors
import Postgres
import SQL
import Services
import TestSupport
import Testing

@Suite("explain")
struct ExplainTests {
    private func explain(
        _ fixture: DataFixture,
        _ action: String,
        _ members: String,
        in collection: String = "Open"
    ) async throws -> BSONDocument {
        let separator = members.isEmpty ? "" : ","
        let answer = try await fixture.perform(
            action,
            collection,
            "{\"explain\":true\(separator)\(members)}",
            as: .system
        )
        guard case .document(let documents) = answer else {
            throw ServiceError(.internalServerError, "no document")
        }
        return try #require(try documents.values().first)
    }

    private func text(_ value: BSONValue?) -> String {
        var text: [UInt8] = []
        PlainJSON.write(value ?? .null, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    @Test(
        "it grades each condition, names what is left to the gateway, and shows statement and plan without values"
    )
    func grades() async throws {
        let fixture = try await DataFixture()
        #expect(try await explain(fixture, "find", "")["exists"] == .bool(false))
        try await fixture.insert("Open", #"{"_id":1,"a":1}"#)
        let found = try await explain(
            fixture,
            "find",
            #""filter":{"a":"needle","$and":[{"b":{"$regex":"x(?=y)"}},{"$expr":{"$eq":["$c",1]}}]},"sort":{"a":1},"limit":3"#
        )
        #expect(
            text(found["conjuncts"])
                == #"[{"filter":{"a":"needle"},"grade":"exact"},{"filter":{"b":{"$regex":"x(?=y)"}},"grade":"none"},{"filter":{"$expr":{"$eq":["$c",1]}},"grade":"none"}]"#
        )
        #expect(found["grade"] == "superset")
        #expect(found["sort"] == "sql" && found["limit"] == "gateway")
        let statement = try #require(found["statement"]?.string)
        #expect(statement.contains(#"FROM "todo"."Open" WHERE doc @@ $1"#))
        #expect(!statement.contains("needle"))
        #expect(text(found["plan"]).contains(#""Node Type""#))
        let one = try await explain(fixture, "findOne", #""filter":{"_id":1}"#)
        #expect(one["grade"] == "exact" && one["limit"] == "sql")
        let grouped = try await explain(
            fixture,
            "aggregate",
            #""pipeline":[{"$match":{"a":1}},{"$limit":5},{"$project":{"a":{"$add":["$a",1]}}}]"#
        )
        #expect(
            text(grouped["stages"])
                == #"[{"stage":"$match","in":"sql"},{"stage":"$limit","in":"sql"},{"stage":"$project","in":"gateway"}]"#
        )
        await fixture.database.close()
    }

    @Test("users are refused by name")
    func users() async throws {
        let fixture = try await DataFixture()
        for (action, members) in [
            ("find", #""filter":{}"#), ("findOne", #""filter":{}"#), ("aggregate", #""pipeline":[]"#),
        ] {
            let error = await #expect(throws: ServiceError.self) {
                _ = try await fixture.perform(
                    action,
                    "Open",
                    "{\"explain\":true,\(members)}",
                    as: DataFixture.ann
                )
            }
            #expect(error?.code == .invalidParameter && error?.details["explain"] != nil)
        }
        await fixture.database.close()
    }
}

import Accounts
import Errors
import Postgres
import SQL
import TestSupport
import Testing

@testable import Services

@Suite("Indexes made by SQL")
struct IndexTests {
    private func insert(_ indexes: IndexFixture, _ documents: String...) async -> Int? {
        do throws(ServiceError) {
            for document in documents { try await indexes.fixture.insert("Open", document) }
            return nil
        } catch {
            return error.serverCode.map { Int($0.number) }
        }
    }

    @Test("a unique partial one refuses equal values among the documents of its condition only")
    func partial() async throws {
        let indexes = try await IndexFixture()
        try await indexes.fixture.insert("Open", #"{"_id":1,"mail":"a","state":"on","n":5}"#)
        try await indexes.create(
            #"{"mail":1}"#,
            #"{"unique":true,"partialFilterExpression":{"state":"on","n":{"$gte":5},"mail":{"$exists":true}}}"#
        )
        for (document, code) in [
            (#"{"_id":2,"mail":"a","state":"off","n":5}"#, nil),
            (#"{"_id":3,"mail":"a","state":"on","n":4}"#, nil),
            (#"{"_id":4,"mail":"a","state":"on"}"#, nil),
            (#"{"_id":5,"mail":"a","state":["off","on"],"n":[1,9]}"#, 11000),
            (#"{"_id":6,"mail":"a","state":"on","n":5.5}"#, 11000),
            (#"{"_id":7,"mail":"b","state":"on","n":7}"#, nil),
            (#"{"_id":8,"state":"on","n":7}"#, nil), (#"{"_id":9,"state":"on","n":7}"#, nil),
        ] as [(String, Int?)] {
            #expect(await insert(indexes, document) == code, "\(document)")
        }
        await indexes.fixture.database.close()
    }

    @Test("a sparse unique one leaves out documents without the field, not those with null")
    func sparse() async throws {
        let indexes = try await IndexFixture()
        try await indexes.fixture.insert("Open", #"{"_id":1}"#, #"{"_id":2,"a":{"b":null}}"#)
        try await indexes.create(#"{"a.b":1}"#, #"{"unique":true,"sparse":true,"types":{"a.b":"number"}}"#)
        for (document, code) in [
            (#"{"_id":3,"a":{}}"#, nil), (#"{"_id":4,"a":{"b":null}}"#, 11000),
            (#"{"_id":5,"a":{"b":1}}"#, nil), (#"{"_id":6,"a":{"b":1.0}}"#, 11000),
            (#"{"_id":7,"a":{"b":"text"}}"#, nil), (#"{"_id":8,"a":{"b":"text"}}"#, 11000),
        ] as [(String, Int?)] {
            #expect(await insert(indexes, document) == code, "\(document)")
        }
        await indexes.fixture.database.close()
    }

    @Test(
        "documents expire by the earliest of their dates, and by two gateways at once no more than one time"
    )
    func expiry() async throws {
        let indexes = try await IndexFixture()
        let future = #"{"$date":{"$numberLong":"99999999999999"}}"#
        let past = #"{"$date":{"$numberLong":"1000"}}"#
        let ancient = #"{"$date":{"$numberLong":"-99999999999999"}}"#
        try await indexes.fixture.insert(
            "Open",
            #"{"_id":1,"at":\#(past)}"#,
            #"{"_id":2,"at":\#(future)}"#,
            #"{"_id":3,"at":[\#(future),\#(past)]}"#,
            #"{"_id":4,"at":"1970"}"#,
            #"{"_id":5}"#,
            #"{"_id":6,"at":\#(ancient)}"#,
            #"{"_id":7,"at":1000}"#,
            #"{"_id":8,"at":\#(past),"keep":true}"#
        )
        try await indexes.create(
            #"{"at":1}"#,
            #"{"expireAfterSeconds":3600,"partialFilterExpression":{"keep":false}}"#
        )
        #expect(try await indexes.maintenance.expireBatch() == 0)
        _ = try await indexes.fixture.perform(
            "updateMany",
            "Open",
            #"{"filter":{"keep":{"$exists":false}},"update":{"$set":{"keep":false}}}"#,
            as: .system
        )
        async let one = indexes.maintenance.expireBatch()
        async let other = indexes.maintenance.expireBatch()
        let removed = try await one + other
        #expect(removed == 3)
        #expect(try await indexes.ids("") == "2,4,5,7,8")
        await indexes.fixture.database.close()
    }

    @Test("one that is built beside writers waits, is built, and tells why it could not be")
    func concurrent() async throws {
        let indexes = try await IndexFixture()
        try await indexes.fixture.insert("Open", #"{"_id":1,"n":1}"#, #"{"_id":2,"n":1}"#)
        let name = try await indexes.create(#"{"n":-1}"#, #"{"concurrently":true}"#)
        #expect(name == "Open_n_-1")
        #expect(try await indexes.state(name) == "waiting")
        #expect(await indexes.maintenance.buildAll() == 1)
        #expect(try await indexes.state(name) == "ready")
        let unique = try await indexes.create(#"{"n":1}"#, #"{"concurrently":true,"unique":true}"#)
        #expect(await indexes.maintenance.buildAll() == 1)
        #expect(try await indexes.state(unique).hasPrefix("failed could not create unique index"))
        #expect(await insert(indexes, #"{"_id":3,"n":1}"#) == nil)
        _ = try await indexes.fixture.database.run(
            "SELECT tidegate.drop_index('indexes', 'todo', 'Open', \(bind: .text(unique)))"
        )
        #expect(try await indexes.state(unique) == "none")
        #expect(try await indexes.refusal(#"{"n":-1}"#)?.contains("keys have an index already") == true)
        #expect(
            try await indexes.refusal(#"{"n":1}"#, #"{"unique":true}"#)
                == "22023 keys hold the same values in several documents already"
        )
        #expect(await indexes.maintenance.buildAll() == 0)
        await indexes.fixture.database.close()
    }

    @Test("an index that a gone builder left behind is built by another")
    func abandoned() async throws {
        let indexes = try await IndexFixture()
        try await indexes.fixture.insert("Open", #"{"_id":1,"n":1}"#)
        let name = try await indexes.create(#"{"n":1}"#, #"{"concurrently":true}"#)
        _ = try await indexes.fixture.database.run("SELECT tidegate.claim_index()")
        #expect(await indexes.maintenance.buildAll() == 0)
        #expect(try await indexes.state(name) == "building")
        _ = try await indexes.fixture.database.run(
            "UPDATE tidegate.indexes SET changed_at = changed_at - interval '2 minutes'"
        )
        #expect(await indexes.maintenance.buildAll() == 1)
        #expect(try await indexes.state(name) == "ready")
        await indexes.fixture.database.close()
    }

    @Test("with the column of a field go the indexes on it")
    func demotion() async throws {
        let indexes = try await IndexFixture()
        try await indexes.fixture.insert("Open", #"{"_id":1,"n":2}"#, #"{"_id":2,"n":1}"#)
        let name = try await indexes.create(#"{"n":1}"#)
        #expect(try await indexes.ids(#""sort":{"n":1}"#) == "2,1")
        _ = try await indexes.fixture.database.run("SELECT tidegate.demote_field('todo', 'Open', 'n')")
        #expect(try await indexes.state(name) == "none")
        indexes.fixture.catalog.forgetAll()
        #expect(try await indexes.ids(#""sort":{"n":1}"#) == "2,1")
        await indexes.fixture.database.close()
    }

    @Test(
        "bad keys and options are refused by name",
        arguments: [
            (#"{}"#, "{}", "keys must name a field"), (#"[1]"#, "{}", "keys must be an object, or an array"),
            (#"{"a":2}"#, "{}", "keys.a must be 1 or -1"), (#"{"a":null}"#, "{}", "keys.a must be 1 or -1"),
            (#"{"a":"hashed"}"#, "{}", "keys.a names a kind of index that is not served: hashed"),
            (#"{"a":"2dsphere"}"#, "{}", "keys.a names a kind of index that is not served: 2dsphere"),
            (#"{"a":1,"a":-1}"#, "{}", "keys.a appears twice"),
            (#"{"a..b":1}"#, "{}", "keys.a..b cannot be indexed"),
            (#"{"$a":1}"#, "{}", "keys.$a cannot be indexed"),
            (#"{"$**":1,"a":1}"#, "{}", "keys.$** must stand alone"),
            (#"{"$**":1}"#, #"{"unique":true}"#, "keys.$** cannot be unique"),
            (#"{"a":1}"#, #"{"collation":{}}"#, "options.collation is not a known key"),
            (#"{"a":1}"#, #"{"unique":1}"#, "options.unique must be boolean"),
            (#"{"a":1}"#, #"{"expireAfterSeconds":-1}"#, "options.expireAfterSeconds must be from 0"),
            (#"{"a":1}"#, #"{"expireAfterSeconds":"1"}"#, "options.expireAfterSeconds must be number"),
            (
                #"{"a":1,"b":1}"#, #"{"expireAfterSeconds":1}"#,
                "options.expireAfterSeconds needs an index on one field"
            ),
            (
                #"{"_id":1}"#, #"{"expireAfterSeconds":1}"#,
                "options.expireAfterSeconds needs an index on one field"
            ),
            (#"{"a":1}"#, #"{"name":""}"#, "options.name must have 1 to 63 bytes"),
            (#"{"a":1}"#, #"{"types":{"a":"int"}}"#, "options.types.a must be one of"),
            (
                #"{"a":1}"#, #"{"sparse":true,"partialFilterExpression":{"b":1}}"#,
                "options.sparse does not go with"
            ),
            (
                #"{"a":1}"#, #"{"partialFilterExpression":{}}"#,
                "options.partialFilterExpression must not be empty"
            ),
            (
                #"{"a":1}"#, #"{"partialFilterExpression":{"$or":[]}}"#,
                "options.partialFilterExpression.$or is not"
            ),
            (
                #"{"a":1}"#, #"{"partialFilterExpression":{"b":{"$in":[]}}}"#,
                "options.partialFilterExpression.b.$in must be a list"
            ),
            (
                #"{"a":1}"#, #"{"partialFilterExpression":{"b":{"$exists":false}}}"#,
                "options.partialFilterExpression.b.$exists must be true"
            ),
            (
                #"{"a":1}"#, #"{"partialFilterExpression":{"b":{"$gt":true}}}"#,
                "options.partialFilterExpression.b.$gt does not go"
            ),
            (
                #"{"a":1}"#, #"{"partialFilterExpression":{"b":null}}"#,
                "options.partialFilterExpression.b must be compared"
            ),
        ]
    )
    func refusals(_ keys: String, _ options: String, _ reason: String) async throws {
        let indexes = try await IndexFixture()
        try await indexes.fixture.insert("Open", #"{"_id":1}"#)
        let refusal = try await indexes.refusal(keys, options)
        #expect(refusal?.hasPrefix("22023 " + reason) == true, "\(refusal ?? "taken")")
        let rows = try await indexes.fixture.database.run("SELECT count(*) FROM tidegate.indexes")
        #expect(rows.int(0, 0) == 0)
        await indexes.fixture.database.close()
    }

    @Test("a hint that names a sparse index asks for what the index holds")
    func sparseHint() async throws {
        let indexes = try await IndexFixture()
        let fixture = indexes.fixture
        try await fixture.insert("Open", #"{"_id":1,"s":1}"#, #"{"_id":2}"#, #"{"_id":3,"s":null}"#)
        try await indexes.create(#"{"s":1}"#, #"{"sparse":true,"name":"held"}"#)
        #expect(try await indexes.ids(#""hint":"held""#) == "1,3")
        #expect(try await indexes.ids(#""hint":{"s":1},"filter":{"_id":{"$gt":1}}"#) == "3")
        #expect(try await indexes.ids(#""hint":"_id_""#) == "1,2,3")
        #expect(
            try await fixture.documents("aggregate", "Open", #"{"pipeline":[{"$count":"n"}],"hint":"held"}"#)
                == #"{"n":2}"#
        )
        let update = #"{"filter":{},"update":{"$set":{"x":1}},"hint":"held"}"#
        #expect(try await fixture.update("updateMany", "Open", update) == [2, 2])
        await fixture.database.close()
    }
}

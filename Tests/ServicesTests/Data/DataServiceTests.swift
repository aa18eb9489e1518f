import Accounts
import BSON
import Errors
import Postgres
import SQL
import Services
import TestSupport
import Testing

@Suite("Data service")
struct DataServiceTests {
    @Test("it returns documents in the order they were written, changed ones too")
    func order() async throws {
        let fixture = try await DataFixture()
        try await fixture.insert("Open", #"{"_id":1,"zeta":1,"a":{"y":1,"x":[{"q":1,"b":2}]},"m":2.0}"#)
        #expect(
            try await fixture.documents("find", "Open", "{}")
                == #"{"_id":1,"zeta":1,"a":{"y":1,"x":[{"q":1,"b":2}]},"m":2}"#
        )
        for value in 1...3 {
            #expect(
                try await fixture.update(
                    "updateOne",
                    "Open",
                    #"{"filter":{"_id":1},"update":{"$set":{"new":\#(value),"a.c":{"k":1,"j":2}},"$inc":{"zeta":1}}}"#
                )
                    == [1, 1]
            )
        }
        #expect(
            try await fixture.documents("find", "Open", "{}")
                == #"{"_id":1,"zeta":4,"a":{"y":1,"x":[{"q":1,"b":2}],"c":{"k":1,"j":2}},"m":2,"new":3}"#
        )
        _ = try await fixture.update(
            "updateOne",
            "Open",
            #"{"filter":{"_id":1},"update":{"$unset":{"zeta":""}}}"#
        )
        _ = try await fixture.update(
            "updateOne",
            "Open",
            #"{"filter":{"_id":1},"update":{"$set":{"zeta":9}}}"#
        )
        #expect(try await fixture.documents("find", "Open", "{}").hasSuffix(#""new":3,"zeta":9}"#))
        // An update that changes nothing matches without modifying.
        #expect(
            try await fixture.update(
                "updateOne",
                "Open",
                #"{"filter":{"_id":1},"update":{"$set":{"zeta":9}}}"#
            )
                == [1, 0]
        )
        await fixture.database.close()
    }

    @Test("it lets nobody but the owner see, change, take over or remove a document")
    func owner() async throws {
        let fixture = try await DataFixture()
        let ann = DataFixture.id(DataFixture.ann)
        let bob = DataFixture.id(DataFixture.bob)
        _ = try await fixture.perform(
            "insertOne",
            "Item",
            #"{"document":{"_id":1,"ownerId":"\#(ann)","n":1}}"#,
            as: DataFixture.ann
        )
        let before = try await fixture.documents("find", "Item", "{}")
        #expect(try await fixture.documents("find", "Item", "{}", as: DataFixture.ann) == before)
        #expect(try await fixture.documents("find", "Item", "{}", as: DataFixture.bob) == "")
        #expect(
            try await fixture.documents("findOne", "Item", #"{"filter":{"_id":1}}"#, as: DataFixture.bob)
                == "null"
        )
        let attempts: [(action: String, members: String, caller: Principal)] = [
            ("updateOne", #"{"filter":{"_id":1},"update":{"$set":{"ownerId":"\#(bob)"}}}"#, DataFixture.ann),
            ("updateOne", #"{"filter":{"_id":1},"update":{"$unset":{"ownerId":""}}}"#, DataFixture.ann),
            ("updateOne", #"{"filter":{"_id":1},"update":{"$rename":{"ownerId":"x"}}}"#, DataFixture.ann),
            (
                "updateOne", #"{"filter":{"_id":1},"update":[{"$set":{"ownerId":"\#(bob)"}}]}"#,
                DataFixture.ann
            ),
            ("replaceOne", #"{"filter":{"_id":1},"replacement":{"n":2}}"#, DataFixture.ann),
            (
                "updateOne", #"{"filter":{"_id":2},"update":{"$set":{"ownerId":"\#(ann)"}},"upsert":true}"#,
                DataFixture.bob
            ),
            ("insertOne", #"{"document":{"ownerId":"\#(ann)"}}"#, DataFixture.bob),
            ("insertMany", #"{"documents":[{"ownerId":"\#(bob)"},{"ownerId":"\#(ann)"}]}"#, DataFixture.bob),
        ]
        for attempt in attempts {
            let error = await #expect(throws: ServiceError.self, "\(attempt)") {
                _ = try await fixture.perform(attempt.action, "Item", attempt.members, as: attempt.caller)
            }
            #expect(
                error?.message.hasSuffix(" not permitted") == true,
                "\(attempt) \(String(describing: error))"
            )
            #expect(error?.cause is WriteDenial)
        }
        // To Bob the document is not there: nothing matches, and no refusal tells of it.
        for (action, change) in [
            ("updateOne", #""update":{"$set":{"n":2}}"#),
            ("updateOne", #""update":{"$set":{"ownerId":"\#(bob)"}}"#),
            ("replaceOne", #""replacement":{"ownerId":"\#(bob)"}"#),
            ("updateMany", #""update":[{"$set":{"n":2}}]"#),
            ("updateMany", #""update":{"$set":{"n":2}}"#),
        ] {
            #expect(
                try await fixture.update(action, "Item", "{\"filter\":{},\(change)}", as: DataFixture.bob)
                    == [0, 0]
            )
        }
        for action in ["deleteOne", "deleteMany"] {
            guard
                case .deleted(let count) = try await fixture.perform(
                    action,
                    "Item",
                    #"{"filter":{}}"#,
                    as: DataFixture.bob
                )
            else {
                Issue.record("no count")
                return
            }
            #expect(count == 0)
        }
        #expect(try await fixture.documents("find", "Item", "{}") == before)
        #expect(
            try await fixture.update(
                "updateOne",
                "Item",
                #"{"filter":{"_id":1},"update":{"$set":{"n":2}}}"#,
                as: DataFixture.ann
            ) == [1, 1]
        )
        await fixture.database.close()
    }

    @Test("it changes nothing when one of many documents may not be changed")
    func allOrNothing() async throws {
        let fixture = try await DataFixture()
        let ann = DataFixture.id(DataFixture.ann)
        try await fixture.insert(
            "Feed",
            #"{"_id":1,"ownerId":"\#(ann)","n":1}"#,
            #"{"_id":2,"ownerId":"x","n":1}"#,
            #"{"_id":3,"ownerId":"\#(ann)","n":1}"#
        )
        let all = #"{"sort":{"_id":1}}"#
        let before = try await fixture.documents("find", "Feed", all)
        for update in [#"{"$inc":{"n":1}}"#, #"[{"$set":{"n":2}}]"#] {
            await #expect(throws: ServiceError.self) {
                _ = try await fixture.update(
                    "updateMany",
                    "Feed",
                    #"{"filter":{},"update":\#(update)}"#,
                    as: DataFixture.ann
                )
            }
            #expect(try await fixture.documents("find", "Feed", all) == before)
            #expect(
                try await fixture.update(
                    "updateMany",
                    "Feed",
                    #"{"filter":{"ownerId":"\#(ann)"},"update":\#(update)}"#,
                    as: DataFixture.ann
                ) == [2, 2]
            )
            _ = try await fixture.update("updateMany", "Feed", #"{"filter":{},"update":{"$set":{"n":1}}}"#)
        }
        await #expect(throws: ServiceError.self) {
            _ = try await fixture.perform("deleteMany", "Feed", #"{"filter":{"n":1}}"#, as: DataFixture.ann)
        }
        #expect(try await fixture.documents("find", "Feed", "{}").contains(#""_id":3"#))
        await fixture.database.close()
    }

    @Test("it keeps the documents before a duplicate key, and none when one is denied")
    func insertMany() async throws {
        let fixture = try await DataFixture()
        try await fixture.insert("Open", #"{"_id":"b"}"#)
        let error = await #expect(throws: ServiceError.self) {
            try await fixture.insert("Open", #"{"_id":"a"}"#, #"{"_id":"b"}"#, #"{"_id":"c"}"#)
        }
        #expect(error?.serverCode == .duplicateKey)
        #expect(
            error?.message
                == #"E11000 duplicate key error collection: todo.Open index: _id_ dup key: { _id: "b" }"#
        )
        await #expect(throws: ServiceError.self) {
            try await fixture.insert(
                "Open",
                #"{"_id":1}"#,
                #"{"_id":2}"#,
                #"{"_id":{"$numberDouble":"1.0"}}"#
            )
        }
        #expect(
            try await fixture.documents("find", "Open", #"{"sort":{"_id":1}}"#)
                == #"{"_id":1},{"_id":2},{"_id":"a"},{"_id":"b"}"#
        )
        await fixture.database.close()
    }

    @Test("it makes no collection for a read, and answers as an empty one")
    func absent() async throws {
        let fixture = try await DataFixture()
        #expect(try await fixture.documents("find", "Open", "{}", as: DataFixture.ann) == "")
        #expect(try await fixture.documents("findOne", "Open", "{}") == "null")
        #expect(try await fixture.documents("aggregate", "Open", #"{"pipeline":[{"$count":"n"}]}"#) == "")
        #expect(
            try await fixture.update("updateMany", "Open", #"{"filter":{},"update":{"$set":{"a":1}}}"#) == [
                0, 0,
            ]
        )
        guard
            case .deleted(0) = try await fixture.perform("deleteMany", "Open", #"{"filter":{}}"#, as: .system)
        else {
            Issue.record("deleted something")
            return
        }
        #expect(try await fixture.database.run("SELECT count(*) FROM tidegate.collections").int(0, 0) == 0)
        let error = await #expect(throws: ServiceError.self) {
            _ = try await fixture.documents("find", "Unruled", "{}", as: DataFixture.ann)
        }
        #expect(error?.code == .noMatchingRuleFound)
        #expect(error?.message == "no rule exists for namespace 'todo.Unruled'")
        await fixture.database.close()
    }

    @Test("it checks schemas on writes of every kind")
    func schemas() async throws {
        let fixture = try await DataFixture()
        let id = #"{"$oid":"65f0c0ffee0000000000aaaa"}"#
        _ = try await fixture.perform(
            "insertOne",
            "Checked",
            #"{"document":{"_id":\#(id),"name":"ab","count":1}}"#,
            as: DataFixture.ann
        )
        for (action, members) in [
            ("insertOne", #"{"document":{"name":"a"}}"#),
            ("updateOne", #"{"filter":{},"update":{"$set":{"name":1}}}"#),
            ("updateMany", #"{"filter":{},"update":{"$inc":{"count":-5}}}"#),
            ("replaceOne", #"{"filter":{},"replacement":{"x":1}}"#),
            ("updateOne", #"{"filter":{"count":99},"update":{"$set":{"x":1}},"upsert":true}"#),
        ] {
            let error = await #expect(throws: ServiceError.self, "\(action) \(members)") {
                _ = try await fixture.perform(action, "Checked", members, as: DataFixture.ann)
            }
            #expect(error?.code == .schemaValidationFailedWrite, "\(action)")
        }
        #expect(
            try await fixture.update(
                "updateOne",
                "Checked",
                #"{"filter":{},"update":{"$inc":{"count":1}}}"#,
                as: DataFixture.ann
            )
                == [1, 1]
        )
        let left = try await fixture.documents("find", "Checked", "{}")
        #expect(left == #"{"_id":"65f0c0ffee0000000000aaaa","name":"ab","count":2}"#)
        await fixture.database.close()
    }

    @Test("it hides fields, also from pipelines, and joins rule filters")
    func hiding() async throws {
        let fixture = try await DataFixture()
        try await fixture.insert("Fields", #"{"_id":1,"shown":1,"hidden":2,"nested":{"open":1,"shut":2}}"#)
        #expect(
            try await fixture.documents("find", "Fields", "{}", as: DataFixture.ann)
                == #"{"_id":1,"shown":1,"nested":{"open":1}}"#
        )
        #expect(
            try await fixture.documents(
                "aggregate",
                "Fields",
                #"{"pipeline":[{"$match":{"hidden":{"$exists":false}}},{"$project":{"hidden":1}}]}"#,
                as: DataFixture.ann
            ) == #"{"_id":1}"#
        )
        #expect(
            try await fixture.documents(
                "aggregate",
                "Fields",
                #"{"pipeline":[{"$group":{"_id":"$hidden","n":{"$sum":1}}}]}"#,
                as: DataFixture.ann
            ) == #"{"_id":null,"n":1}"#
        )
        try await fixture.insert(
            "Filtered",
            #"{"_id":1,"a":1,"secret":1}"#,
            #"{"_id":2,"deleted":true}"#
        )
        #expect(
            try await fixture.documents("find", "Filtered", "{}", as: DataFixture.ann) == #"{"_id":1,"a":1}"#
        )
        #expect(
            try await fixture.update(
                "updateMany",
                "Filtered",
                #"{"filter":{},"update":{"$set":{"b":1}}}"#,
                as: DataFixture.ann
            ) == [1, 1]
        )
        await fixture.database.close()
    }

    @Test("it sees what psql wrote, and psql what it wrote")
    func administrator() async throws {
        let fixture = try await DataFixture()
        try await fixture.insert("Open", #"{"_id":"a","n":1}"#)
        try await fixture.database.script(
            """
            UPDATE todo."Open" SET doc = doc || '{"n":5,"by":"psql"}';
            INSERT INTO todo."Open" (doc) VALUES ('{"n":7}'), ('{"_id":12.5}'), ('{"_id":{"$date":5},"n":8}');
            """
        )
        #expect(
            try await fixture.documents("findOne", "Open", #"{"filter":{"_id":"a"}}"#)
                == #"{"_id":"a","n":5,"by":"psql"}"#
        )
        #expect(
            try await fixture.documents("findOne", "Open", #"{"filter":{"_id":12.5}}"#) == #"{"_id":12.5}"#
        )
        #expect(
            try await fixture.documents("find", "Open", #"{"filter":{"_id":{"$date":{"$numberLong":"5"}}}}"#)
                .contains("8")
        )
        #expect(
            try await fixture.documents("find", "Open", #"{"filter":{"_id":{"$type":"objectId"}}}"#)
                .hasSuffix(#","n":7}"#)
        )
        try await fixture.database.script("SELECT tidegate.promote_field('todo', 'Open', 'n', 'number')")
        #expect(try await fixture.database.run(#"SELECT sum(n) FROM todo."Open""#).text(0, 0) == "20")
        await fixture.database.close()
    }

    @Test("it aggregates the same in PostgreSQL and here")
    func aggregate() async throws {
        let fixture = try await DataFixture()
        let ann = DataFixture.id(DataFixture.ann)
        try await fixture.insert(
            "Item",
            #"{"_id":1,"ownerId":"\#(ann)","s":"a","n":1}"#,
            #"{"_id":2,"ownerId":"\#(ann)","s":"b","n":2}"#,
            #"{"_id":3,"ownerId":"\#(ann)","s":"a","n":3}"#,
            #"{"_id":4,"ownerId":"x","s":"a","n":4}"#,
            #"{"_id":5,"ownerId":"\#(ann)","n":5}"#,
            #"{"_id":6,"ownerId":"\#(ann)","s":null,"n":5}"#,
            #"{"_id":7,"ownerId":"\#(ann)","s":{"x":1,"y":2}}"#,
            #"{"_id":8,"ownerId":"\#(ann)","s":{"y":2,"x":1}}"#
        )
        func run(_ stages: String) async throws -> String {
            try await fixture.documents(
                "aggregate",
                "Item",
                #"{"pipeline":[\#(stages)]}"#,
                as: DataFixture.ann
            )
        }
        #expect(
            try await run(
                #"{"$match":{"n":{"$gt":0}}},{"$group":{"_id":"$s","count":{"$sum":1}}},{"$sort":{"_id":1}}"#
            )
                == #"{"_id":null,"count":2},{"_id":"a","count":2},{"_id":"b","count":1}"#
        )
        #expect(
            try await run(#"{"$group":{"_id":"$s","count":{"$sum":1}}},{"$sort":{"_id":-1}},{"$limit":2}"#)
                == #"{"_id":{"y":2,"x":1},"count":1},{"_id":{"x":1,"y":2},"count":1}"#
        )
        #expect(try await run(#"{"$match":{"s":"a"}},{"$count":"n"}"#) == #"{"n":2}"#)
        #expect(
            try await run(#"{"$sort":{"n":-1}},{"$skip":1},{"$limit":2},{"$project":{"n":1}}"#).hasSuffix(
                #"{"_id":3,"n":3}"#
            )
        )
        #expect(try await run(#"{"$sort":{"s":-1}},{"$limit":1}"#).hasPrefix(#"{"_id":8"#))
        #expect(
            try await run(#"{"$match":{"n":{"$mod":[2,1]}}},{"$group":{"_id":null,"t":{"$sum":"$n"}}}"#)
                == #"{"_id":null,"t":14}"#
        )
        await fixture.database.close()
    }

    @Test("it streams what SQL can only narrow, and cuts it here")
    func streaming() async throws {
        let fixture = try await DataFixture()
        let documents = (0..<4500).map { #"{"_id":\#($0),"n":\#($0),"tag":"t\#($0 % 3)"}"# }.joined(
            separator: ","
        )
        _ = try await fixture.perform("insertMany", "Open", #"{"documents":[\#(documents)]}"#, as: .system)
        let page = try await fixture.documents(
            "find",
            "Open",
            #"{"filter":{"n":{"$mod":[2,1]}},"sort":{"n":-1},"skip":1,"limit":2}"#
        )
        #expect(page == #"{"_id":4497,"n":4497,"tag":"t0"},{"_id":4495,"n":4495,"tag":"t1"}"#)
        #expect(
            try await fixture.update(
                "updateMany",
                "Open",
                #"{"filter":{"n":{"$mod":[2,1]}},"update":[{"$set":{"odd":true}}]}"#
            ) == [2250, 2250]
        )
        #expect(
            try await fixture.documents(
                "aggregate",
                "Open",
                #"{"pipeline":[{"$match":{"odd":true}},{"$count":"c"}]}"#
            ) == #"{"c":2250}"#
        )
        guard
            case .deleted(2250) = try await fixture.perform(
                "deleteMany",
                "Open",
                #"{"filter":{"n":{"$mod":[2,0]}}}"#,
                as: .system
            )
        else {
            Issue.record("deleted another number")
            return
        }
        await fixture.database.close()
    }

    @Test("it loses no update and makes one document when many write at once")
    func concurrency() async throws {
        let fixture = try await DataFixture()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<40 {
                group.addTask {
                    // Both ways of writing, on a collection that the first of them makes.
                    let update =
                        index.isMultiple(of: 2)
                        ? #"{"$inc":{"n":1}}"# : #"[{"$set":{"n":{"$add":[{"$ifNull":["$n",0]},1]}}}]"#
                    _ = try await fixture.perform(
                        "updateOne",
                        "Open",
                        #"{"filter":{"_id":1},"update":\#(update),"upsert":true}"#,
                        as: .system
                    )
                }
            }
            try await group.waitForAll()
        }
        #expect(try await fixture.documents("find", "Open", "{}") == #"{"_id":1,"n":40}"#)
        await fixture.database.close()
    }
}

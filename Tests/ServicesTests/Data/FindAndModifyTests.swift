import Accounts
import BSON
import Errors
import Postgres
import Services
import TestSupport
import Testing

@Suite("findOneAndUpdate, findOneAndReplace, findOneAndDelete")
struct FindAndModifyTests {
    @Test("they change the first of an order and return it, before or after")
    func change() async throws {
        let fixture = try await DataFixture()
        func act(_ action: String, _ members: String) async throws -> String {
            try await fixture.documents(action, "Open", members)
        }
        #expect(try await act("findOneAndUpdate", #"{"filter":{},"update":{"$set":{"n":1}}}"#) == "null")
        try await fixture.insert(
            "Open",
            #"{"_id":1,"n":1,"t":[1,2]}"#,
            #"{"_id":2,"n":3}"#,
            #"{"_id":3,"n":2}"#
        )
        #expect(
            try await act("findOneAndUpdate", #"{"filter":{},"sort":{"n":-1},"update":{"$inc":{"n":1}}}"#)
                == #"{"_id":2,"n":3}"#
        )
        #expect(
            try await act(
                "findOneAndUpdate",
                #"{"filter":{"n":4},"update":{"$set":{"new":true}},"returnDocument":"after","projection":{"new":1}}"#
            ) == #"{"_id":2,"new":true}"#
        )
        // An update that changes nothing, one that SQL cannot say, a filter that SQL cannot decide.
        #expect(
            try await act(
                "findOneAndUpdate",
                #"{"filter":{"_id":3},"update":{"$set":{"n":2}},"returnNewDocument":true}"#
            )
                == #"{"_id":3,"n":2}"#
        )
        #expect(
            try await act(
                "findOneAndUpdate",
                #"{"filter":{"t":2},"update":{"$set":{"t.$":9}},"returnNewDocument":true}"#
            ) == #"{"_id":1,"n":1,"t":[1,9]}"#
        )
        #expect(
            try await act(
                "findOneAndUpdate",
                #"{"filter":{"$expr":{"$gt":["$n",1]}},"sort":{"n":1},"update":[{"$set":{"n":{"$add":["$n",10]}}}],"returnNewDocument":true}"#
            ) == #"{"_id":3,"n":12}"#
        )
        #expect(
            try await act(
                "findOneAndReplace",
                #"{"filter":{"_id":3},"replacement":{"z":1,"a":2},"returnNewDocument":true}"#
            )
                == #"{"_id":3,"z":1,"a":2}"#
        )
        #expect(
            try await act("findOneAndDelete", #"{"filter":{},"sort":{"_id":-1}}"#)
                == #"{"_id":3,"z":1,"a":2}"#
        )
        #expect(try await act("findOneAndDelete", #"{"filter":{"_id":3}}"#) == "null")
        #expect(try await act("find", #"{"projection":{"_id":1}}"#) == #"{"_id":1},{"_id":2}"#)
        await fixture.database.close()
    }

    @Test("an upsert returns null, or the document that it inserted")
    func upsert() async throws {
        let fixture = try await DataFixture()
        #expect(
            try await fixture.documents(
                "findOneAndUpdate",
                "Open",
                #"{"filter":{"_id":1},"update":{"$inc":{"n":1}},"upsert":true}"#
            ) == "null"
        )
        #expect(
            try await fixture.documents(
                "findOneAndUpdate",
                "Open",
                #"{"filter":{"_id":2,"k":5},"update":{"$inc":{"n":1}},"upsert":true,"returnNewDocument":true}"#
            ) == #"{"_id":2,"k":5,"n":1}"#
        )
        #expect(
            try await fixture.documents(
                "findOneAndReplace",
                "Open",
                #"{"filter":{"_id":3},"replacement":{"n":1},"upsert":true,"returnDocument":"after"}"#
            ) == #"{"_id":3,"n":1}"#
        )
        #expect(
            try await fixture.documents("find", "Open", #"{"projection":{"_id":1}}"#)
                == #"{"_id":1},{"_id":2},{"_id":3}"#
        )
        await fixture.database.close()
    }

    @Test("rules judge the change and what of the document is shown")
    func rules() async throws {
        let fixture = try await DataFixture(hiddenFieldQueries: false)
        let ann = DataFixture.id(DataFixture.ann)
        try await fixture.insert("Item", #"{"_id":1,"ownerId":"\#(ann)","n":1}"#)
        let changes = [
            ("findOneAndUpdate", #""update":{"$set":{"ownerId":"x"}}"#),
            ("findOneAndReplace", #""replacement":{"n":2}"#),
        ]
        for (action, change) in changes {
            let error = await #expect(throws: ServiceError.self) {
                _ = try await fixture.perform(
                    action,
                    "Item",
                    "{\"filter\":{},\(change)}",
                    as: DataFixture.ann
                )
            }
            #expect(error?.cause is WriteDenial)
        }
        // To Bob the document is not there.
        for (action, change) in changes + [("findOneAndDelete", #""sort":{"n":1}"#)] {
            #expect(
                try await fixture.documents(action, "Item", "{\"filter\":{},\(change)}", as: DataFixture.bob)
                    == "null"
            )
        }
        #expect(
            try await fixture.documents(
                "findOneAndUpdate",
                "Item",
                #"{"filter":{"_id":1},"update":{"$inc":{"n":1}},"returnNewDocument":true}"#,
                as: DataFixture.ann
            ) == #"{"_id":1,"ownerId":"\#(ann)","n":2}"#
        )
        // Fields: what is hidden is neither shown nor sorted by, and what is fixed is not written.
        try await fixture.insert("Fields", #"{"_id":1,"shown":1,"fixed":2,"secret":3}"#)
        #expect(
            try await fixture.documents(
                "findOneAndUpdate",
                "Fields",
                #"{"filter":{"_id":1},"update":{"$inc":{"shown":1}},"returnNewDocument":true}"#,
                as: DataFixture.ann
            ) == #"{"_id":1,"shown":2,"fixed":2}"#
        )
        for members in [
            #"{"filter":{"_id":1},"update":{"$inc":{"fixed":1}}}"#,
            #"{"filter":{"_id":1},"update":{"$inc":{"secret":1}}}"#,
            #"{"filter":{"secret":3},"update":{"$inc":{"shown":1}}}"#,
            #"{"filter":{},"sort":{"secret":1},"update":{"$inc":{"shown":1}}}"#,
        ] {
            await #expect(throws: ServiceError.self, "\(members)") {
                _ = try await fixture.perform("findOneAndUpdate", "Fields", members, as: DataFixture.ann)
            }
        }
        #expect(
            try await fixture.documents("find", "Fields", "{}")
                == #"{"_id":1,"shown":2,"fixed":2,"secret":3}"#
        )
        await fixture.database.close()
    }

    @Test("many at once take each document once, and lose no increment")
    func contention() async throws {
        let fixture = try await DataFixture()
        try await fixture.insert("Open", #"{"_id":"counter","n":0}"#)
        for id in 1...40 { try await fixture.insert("Open", #"{"_id":\#(id),"state":"new","place":\#(id)}"#) }
        let taken = try await withThrowingTaskGroup(of: [String].self) { group in
            for worker in 1...8 {
                group.addTask {
                    var taken: [String] = []
                    for _ in 1...5 {
                        _ = try await fixture.perform(
                            "findOneAndUpdate",
                            "Open",
                            #"{"filter":{"_id":"counter"},"update":{"$inc":{"n":1}}}"#,
                            as: .system
                        )
                        taken.append(
                            try await fixture.documents(
                                "findOneAndUpdate",
                                "Open",
                                #"{"filter":{"state":"new"},"sort":{"place":1},"update":{"$set":{"state":"taken","by":\#(worker)}},"projection":{"_id":1}}"#
                            )
                        )
                    }
                    return taken
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(Set(taken).count == 40)
        #expect(!taken.contains("null"))
        #expect(
            try await fixture.documents("findOne", "Open", #"{"filter":{"_id":"counter"}}"#)
                == #"{"_id":"counter","n":40}"#
        )
        await fixture.database.close()
    }
}

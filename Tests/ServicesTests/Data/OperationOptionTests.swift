import Accounts
import BSON
import Errors
import Postgres
import TestSupport
import Testing

@testable import Services

@Suite("Options of operations")
struct OperationOptionTests {
    @Test("`let` is known to expressions of every operation, and of every pipeline inside")
    func variables() async throws {
        let fixture = try await DataFixture()
        try await fixture.insert("A", #"{"_id":1,"n":1}"#, #"{"_id":2,"n":2}"#, #"{"_id":3,"n":3}"#)
        let known = #""let":{"least":2,"twice":{"$multiply":["$$least",2]}}"#
        let filter = #"{"$expr":{"$gte":["$n","$$least"]}}"#
        #expect(
            try await fixture.documents(
                "find",
                "A",
                #"{"filter":\#(filter),"projection":{"_id":1,"t":"$$twice"},"sort":{"_id":1},\#(known)}"#
            ) == #"{"_id":2,"t":4},{"_id":3,"t":4}"#
        )
        #expect(
            try await fixture.documents(
                "aggregate",
                "A",
                #"{"pipeline":[{"$match":\#(filter)},{"$lookup":{"from":"A","pipeline":[{"$match":\#(filter)},{"$project":{"_id":1}}],"as":"x"}},{"$limit":1}],\#(known)}"#
            ) == #"{"_id":2,"n":2,"x":[{"_id":2},{"_id":3}]}"#
        )
        #expect(
            try await fixture.update(
                "updateMany",
                "A",
                #"{"filter":\#(filter),"update":[{"$set":{"n":"$$twice"}}],\#(known)}"#
            ) == [2, 2]
        )
        let deleted = try await fixture.perform(
            "deleteMany",
            "A",
            #"{"filter":{"$expr":{"$eq":["$n","$$twice"]}},\#(known)}"#,
            as: .system
        )
        guard case .deleted(2) = deleted else {
            Issue.record("\(deleted)")
            return
        }
        await fixture.database.close()
    }

    @Test("an operation that takes longer than its own limit ends with MongoDB's code")
    func timeLimit() async throws {
        let fixture = try await DataFixture()
        try await fixture.insert("A", #"{"_id":1}"#)
        let endless = #"{"$map":{"input":{"$range":[0,100000]},"in":{"$size":{"$range":[0,100000]}}}}"#
        let error = await #expect(throws: ServiceError.self) {
            _ = try await fixture.documents(
                "aggregate",
                "A",
                #"{"pipeline":[{"$project":{"x":\#(endless)}}],"maxTimeMS":1}"#
            )
        }
        #expect(error?.serverCode == .maxTimeMSExpired)
        #expect(
            try await fixture.documents("find", "A", #"{"maxTimeMS":60000,"hint":"_id_","comment":[1]}"#)
                == #"{"_id":1}"#
        )
        await fixture.database.close()
    }

    @Test("a collation is refused to users by name")
    func collation() async throws {
        let fixture = try await DataFixture()
        let members = #"{"filter":{},"collation":{"locale":"en","strength":2}}"#
        let user = await #expect(throws: ServiceError.self) {
            _ = try await fixture.documents("find", "Open", members, as: DataFixture.ann)
        }
        #expect(user?.code == .invalidParameter)
        #expect(user?.message.contains("'collation'") == true)
        #expect(
            try await fixture.documents(
                "find",
                "Open",
                #"{"collation":{"locale":"simple"}}"#,
                as: DataFixture.ann
            ) == ""
        )
        await fixture.database.close()
    }
}

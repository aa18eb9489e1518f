import Accounts
import BSON
import Errors
import Postgres
import TestSupport
import Testing

@testable import Services

@Suite("How large a document may be that a pipeline answers")
struct AnswerSizeTests {
    /// Two texts of 8 MiB, one of them stored, and one that brings the document to `bytes` in all.
    private static func stages(_ bytes: Int) -> String {
        // What the fields take besides their texts, and the document itself.
        let rest = bytes - (16 << 20) - 4 - 9 - 3 * 8 - 1
        return #"[{"$set":{"b":"$a","c":"\#(String(repeating: "y", count: rest))"}}]"#
    }

    @Test("16 KiB more than one that is stored, as in MongoDB")
    func answers() async throws {
        let fixture = try await DataFixture()
        let half = String(repeating: "x", count: 8 << 20)
        try await fixture.insert("Open", #"{"_id":1,"a":"\#(half)"}"#)
        let most = (16 << 20) + (16 << 10)
        for bytes in [most - (16 << 10) + 1000, most] {
            let answer = try await fixture.documents(
                "aggregate",
                "Open",
                #"{"pipeline":\#(Self.stages(bytes))}"#
            )
            #expect(answer.utf8.count > 16 << 20)
        }
        let error = await #expect(throws: ServiceError.self) {
            _ = try await fixture.documents(
                "aggregate",
                "Open",
                #"{"pipeline":\#(Self.stages(most + 1))}"#
            )
        }
        #expect(error?.serverCode == .bsonObjectTooLarge)
        #expect(error?.message.contains("\(most)") == true)
        // Stored is no more than 16 MiB.
        let stored = await #expect(throws: ServiceError.self) {
            _ = try await fixture.update(
                "updateOne",
                "Open",
                #"{"filter":{"_id":1},"update":\#(Self.stages(most - (16 << 10) + 1000))}"#
            )
        }
        #expect(stored?.serverCode == .bsonObjectTooLarge || stored?.serverCode?.number == 17419)
        await fixture.database.close()
    }
}

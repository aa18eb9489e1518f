import BSON
import Errors
import Testing

@testable import Services

@Suite("What changed, and where in the log")
struct ChangeTests {
    @Test(
        "is told field by field, and as a whole where a path would not be clear",
        arguments: [
            (#"{"a":1}"#, #"{"a":1}"#, #"{}"#, "[]"),
            (#"{"a":1,"b":2}"#, #"{"b":3}"#, #"{"b":3}"#, #"["a"]"#),
            (#"{"a":{"b":1,"c":1}}"#, #"{"a":{"b":2,"d":1}}"#, #"{"a.b":2,"a.d":1}"#, #"["a.c"]"#),
            (#"{"a":{"b":1}}"#, #"{"a":{}}"#, #"{"a":{}}"#, "[]"),
            (#"{"a":[1,2]}"#, #"{"a":[1,3,4]}"#, #"{"a.1":3,"a.2":4}"#, "[]"),
            (#"{"a":[1,2]}"#, #"{"a":[2]}"#, #"{"a":[2]}"#, "[]"),
            (#"{"a":[{"b":1}]}"#, #"{"a":[{"b":2}]}"#, #"{"a.0.b":2}"#, "[]"),
            (#"{"a":{"x.y":1}}"#, #"{"a":{"x.y":2}}"#, #"{"a":{"x.y":2}}"#, "[]"),
            (#"{"a":1}"#, #"{"a":{"$numberLong":"1"}}"#, #"{"a":{"$numberLong":"1"}}"#, "[]"),
        ]
    )
    func descriptions(before: String, after: String, updated: String, removed: String) throws {
        let description = UpdateDescription(
            before: try ExtendedJSON.readDocument(Array(before.utf8)),
            after: try ExtendedJSON.readDocument(Array(after.utf8))
        )
        let expected = try ExtendedJSON.readDocument(
            Array(#"{"updatedFields":\#(updated),"removedFields":\#(removed)}"#.utf8)
        )
        #expect(description.document == expected)
    }

    @Test("is a token that comes back as it was, and nothing else")
    func tokens() throws {
        let token = ResumeToken(log: "9cb496bd943e4550", collection: 7, sequence: 1 << 40)
        #expect(token.text == "9cb496bd943e4550" + "00000007" + "0000010000000000")
        #expect(try ResumeToken(token.text) == token)
        for text in [
            "", "x", token.text + "0", String(token.text.dropLast()) + "g", "ä" + token.text.dropLast(),
        ] {
            let error = #expect(throws: ServiceError.self) { try ResumeToken(text) }
            #expect(error?.serverCode?.number == 260)
        }
    }

    @Test("has ended by a snapshot or not")
    func snapshots() throws {
        let snapshot = try #require(TransactionSnapshot("10:20:12,15"))
        #expect([9, 11, 19].allSatisfy { snapshot.includes($0) })
        #expect([12, 15, 20, 21].allSatisfy { !snapshot.includes($0) })
        #expect(try #require(TransactionSnapshot("10:10:")).includes(9))
        #expect(TransactionSnapshot("10") == nil)
    }
}

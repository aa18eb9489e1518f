import BSON
import Errors
import MQL
import Testing

@Suite("What an evaluation may cost")
struct EvaluationCostTests {
    /// Evaluates with so few steps that only work in proportion to its result gets through.
    private func evaluate(_ expression: BSONValue, steps: Int) throws -> BSONValue? {
        try ExpressionParser.parse(expression)
            .evaluate(["_id": 1], EvaluationContext(now: 0, meter: EvaluationMeter(limit: steps)))
    }

    private func reduce(_ count: Int32, from initial: BSONValue, _ body: BSONValue) -> BSONValue {
        ["$reduce": ["input": ["$range": [0, .int32(count)]], "initialValue": initial, "in": body]]
    }

    @Test("a text of 100,000 pieces takes steps in proportion")
    func text() throws {
        let piece = BSONValue.string(String(repeating: "x", count: 100))
        let text = try evaluate(reduce(100_000, from: "", ["$concat": ["$$value", piece]]), steps: 2_000_000)
        #expect(text == .string(String(repeating: "x", count: 10_000_000)))
    }

    @Test("an array of 100,000 pieces takes steps in proportion")
    func array() throws {
        let body: BSONValue = ["$concatArrays": ["$$value", ["$$this"]]]
        let array = try evaluate(reduce(100_000, from: [], body), steps: 2_000_000)
        #expect(array?.array?.count == 100_000)
        #expect(array?.array?.last == 99_999)
    }

    @Test("appending in place means what appending means")
    func meaning() throws {
        let words: BSONValue = ["a", "b", "c"]
        func fold(_ input: BSONValue, _ initial: BSONValue, _ body: BSONValue) throws -> BSONValue? {
            try evaluate(["$reduce": ["input": input, "initialValue": initial, "in": body]], steps: 10_000)
        }
        #expect(try fold(words, "", ["$concat": ["$$value", "$$this", "-"]]) == "a-b-c-")
        #expect(try fold(["a", .null, "c"], "", ["$concat": ["$$value", "$$this"]]) == .null)
        #expect(try fold(words, .null, ["$concat": ["$$value", "$$this"]]) == .null)
        #expect(MQLText.code { _ = try fold([1], "", ["$concat": ["$$value", "$$this"]]) } == 16702)
        #expect(try fold([[1], [2, 3]], [0], ["$concatArrays": ["$$value", "$$this"]]) == [0, 1, 2, 3])
        #expect(try fold([[1], .null], [0], ["$concatArrays": ["$$value", "$$this"]]) == .null)
        #expect(MQLText.code { _ = try fold([1], [], ["$concatArrays": ["$$value", "$$this"]]) } == 28664)
        // The value itself among what is appended, and in front.
        #expect(try fold(["x", "y"], "a", ["$concat": ["$$value", "$$value", "$$this"]]) == "aaxaaxy")
        #expect(try fold(words, "", ["$concat": ["$$this", "$$value"]]) == "cba")
    }

    @Test("copying a text again and again is counted by its bytes, and ends by name")
    func counted() throws {
        let piece = BSONValue.string(String(repeating: "x", count: 100))
        let body = reduce(100_000, from: "", ["$concat": [piece, "$$value"]])
        let error = #expect(throws: ServiceError.self) { _ = try evaluate(body, steps: 2_000_000) }
        #expect(error?.serverCode == .maxTimeMSExpired)
        #expect(error?.message.contains("(limit max-evaluation-steps)") == true)
    }
}

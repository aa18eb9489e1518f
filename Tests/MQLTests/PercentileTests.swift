import BSON
import Errors
import MQL
import Testing

/// Source: `reference/mql.md` §8.1; MongoDB manual, `$median` and `$percentile`.
@Suite("Medians and percentiles")
struct PercentileTests {
    static let cases: [ExpressionCase] = [
        ExpressionCase(
            #"{"$median": {"input": "$a", "method": "approximate"}}"#,
            #"{"a": [10, 40, 20, 30]}"#,
            "20.0"
        ),
        ExpressionCase(
            #"{"$median": {"input": "$a", "method": "approximate"}}"#,
            #"{"a": ["x", null]}"#,
            "null"
        ),
        ExpressionCase(#"{"$median": {"input": 7, "method": "approximate"}}"#, "7.0"),
        ExpressionCase(
            #"{"$percentile": {"input": "$a", "p": [0, 0.5, 0.9, 1], "method": "approximate"}}"#,
            #"{"a": [5, 4.5, 3, {"$numberDecimal": "2"}, 1, "x", {"$numberDouble": "NaN"}]}"#,
            "[1.0, 3.0, 5.0, 5.0]"
        ),
        ExpressionCase(
            #"{"$percentile": {"input": "$a", "p": [0.5, 1], "method": "approximate"}}"#,
            "[null, null]"
        ),
    ]

    @Test("answer with one of the numbers, as a double", arguments: cases)
    func value(_ example: ExpressionCase) throws {
        let value = try example.evaluate()
        let expected = try example.expected.map { try ExtendedJSON.readValue(Array($0.utf8)) }
        #expect(value.map { ExtendedJSON.canonical($0) } == expected.map { ExtendedJSON.canonical($0) })
    }

    static let refusals: [(String, Int)] = [
        (#"{"$median": 1}"#, 7_436_100), (#"{"$percentile": 1}"#, 7_429_703),
        (#"{"$median": {"input": 1}}"#, 40414),
        (#"{"$median": {"input": 1, "method": "approximate", "p": [1]}}"#, 40415),
        (#"{"$median": {"input": 1, "method": 1}}"#, 14),
        (#"{"$median": {"input": 1, "method": "exact"}}"#, 2),
        (#"{"$percentile": {"input": 1, "p": [], "method": "approximate"}}"#, 7_750_301),
        (#"{"$percentile": {"input": 1, "p": "$a", "method": "approximate"}}"#, 7_750_301),
        (#"{"$percentile": {"input": 1, "p": ["x"], "method": "approximate"}}"#, 7_750_302),
        (#"{"$percentile": {"input": 1, "p": [1.5], "method": "approximate"}}"#, 7_750_303),
        (#"{"$sigmoid": [1]}"#, 14), (#"{"$rand": [1]}"#, 3_040_501),
    ]

    @Test("refuse with MongoDB's code", arguments: refusals)
    func refusal(_ expression: String, _ code: Int) throws {
        let error = #expect(throws: ServiceError.self) { try ExpressionCase(expression, nil).evaluate() }
        #expect(error?.serverCode?.number == code)
    }
}

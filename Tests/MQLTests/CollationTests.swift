import BSON
import Errors
import Testing

@testable import MQL

@Suite("Collations")
struct CollationTests {
    private func collation(_ text: String) throws -> Collation {
        try #require(try CollationParser.parse(ExtendedJSON.readValue(Array(text.utf8))))
    }

    /// Texts in ascending order.
    static let orders: [(collation: String, texts: [String])] = [
        (
            #"{"locale":"en"}"#,
            [
                "", " ", "-", "$", "0", "10", "9", "a", "A", "\u{e1}", "\u{c1}", "ab", "b", "\u{3b1}",
                "\u{43a}",
            ]
        ),
        (#"{"locale":"en","caseFirst":"upper"}"#, ["A", "a", "B", "b"]),
        (#"{"locale":"en","numericOrdering":true}"#, ["9", "10", "a", "a2", "a10", "a10b", "a11"]),
        (#"{"locale":"en","strength":2}"#, ["e", "e\u{301}", "f"]),
        (#"{"locale":"sv"}"#, ["a", "z", "\u{e5}", "\u{e4}", "\u{f6}"]),
        (#"{"locale":"de"}"#, ["a", "\u{e4}", "b", "o", "\u{f6}", "z"]),
        (#"{"locale":"fr","backwards":true}"#, ["cote", "c\u{f4}te", "cot\u{e9}", "c\u{f4}t\u{e9}"]),
        (#"{"locale":"fr"}"#, ["cote", "cot\u{e9}", "c\u{f4}te", "c\u{f4}t\u{e9}"]),
        (#"{"locale":"de@collation=phonebook"}"#, ["ad", "\u{e4}", "af"]),
    ]

    @Test("keys stand in the language's order", arguments: orders)
    func order(text: String, texts: [String]) throws {
        let collation = try collation(text)
        for (first, second) in zip(texts, texts.dropFirst()) {
            let order = BSONOrdering.compare(.string(collation.key(first)), .string(collation.key(second)))
            #expect(order < 0, "\(text) \(first) \(second)")
        }
    }

    /// Two texts, and whether they are equal.
    static let equalities: [(collation: String, first: String, second: String, equal: Bool)] = [
        (#"{"locale":"en","strength":1}"#, "R\u{e9}sum\u{e9}", "resume", true),
        (#"{"locale":"en","strength":2}"#, "R\u{e9}sum\u{e9}", "re\u{301}sume\u{301}", true),
        (#"{"locale":"en","strength":2}"#, "R\u{e9}sum\u{e9}", "resume", false),
        (#"{"locale":"en","strength":3}"#, "\u{e9}", "e\u{301}", true),
        (#"{"locale":"en","strength":3}"#, "a", "A", false),
        (#"{"locale":"en","strength":1,"caseLevel":true}"#, "a", "A", false),
        (#"{"locale":"en","strength":1,"caseLevel":true}"#, "a", "\u{e1}", true),
        (#"{"locale":"en","strength":1,"numericOrdering":true}"#, "a007", "A7", true),
        (#"{"locale":"en","alternate":"shifted"}"#, "a-b c", "abc", true),
        (#"{"locale":"en","alternate":"shifted","maxVariable":"space"}"#, "a-bc", "abc", false),
        (#"{"locale":"en","alternate":"shifted","maxVariable":"space"}"#, "ab c", "abc", true),
        (#"{"locale":"tr","strength":1}"#, "i", "\u{131}", false),
        (#"{"locale":"en","strength":1}"#, "\u{1f600}", "\u{1f601}", false),
    ]

    @Test("texts are equal as far as the strength reaches", arguments: equalities)
    func equality(text: String, first: String, second: String, equal: Bool) throws {
        let collation = try collation(text)
        #expect((collation.key(first) == collation.key(second)) == equal, "\(text) \(first) \(second)")
    }

    @Test("keys reach into arrays and documents, and leave names and other values alone")
    func keyed() throws {
        let collation = try collation(#"{"locale":"en","strength":1}"#)
        let first: BSONValue = ["A": ["x", 1], "n": .null]
        #expect(collation.keyed(first) == collation.keyed(["A": ["X", 1], "n": .null]))
        #expect(collation.keyed(first) != collation.keyed(["a": ["X", 1], "n": .null]))
        #expect(collation.keyed(.symbol("x")) == collation.keyed(.string("X")))
    }
}

import BSON
import Errors
import MQL
import Testing

@Suite("Regular expressions of filters")
struct RegexTests {
    @Test(
        "matches as PCRE does",
        arguments: [
            ("Hello", "^h", "i", true), ("Hello", "^h", "", false), ("a\nb", "^b", "", false),
            ("a\nb", "^b", "m", true),
            ("a\nb", "a.b", "", false), ("a\nb", "a.b", "s", true), ("ab", "a b # c", "x", true),
            ("ab\n", "b$", "", true),
            ("one two", "\\btwo\\b", "", true), ("é", "^.$", "", true), ("É", "é", "i", true),
            ("é", "\\w", "", false),
            ("é", "\\w", "u", false), ("é", "(*UCP)\\w", "", true), ("aXb", "a(?i:x)b", "", true),
            ("foobar", "foo(?=bar)", "", true),
            ("abab", "(ab)\\1", "", true), ("naïve", "\\p{L}{5}", "", true), ("x", "", "", true),
        ]
    )
    func semantics(text: String, pattern: String, options: String, expected: Bool) throws {
        let filter = try FilterParser.parse(["a": ["$regex": .string(pattern), "$options": .string(options)]])
        #expect(try filter.matches(["a": .string(text)], MQLText.context) == expected)
        #expect(try filter.matches(["a": [1, .string(text)]], MQLText.context) == expected)
        let literal = try FilterParser.parse(
            ["a": .regex(BSONRegularExpression(pattern: pattern, options: options))])
        #expect(try literal.matches(["a": .string(text)], MQLText.context) == expected)
    }

    @Test("matches an identical stored pattern, and $eq nothing else")
    func stored() throws {
        let stored = BSONValue.regex(BSONRegularExpression(pattern: "a", options: "mi"))
        let same = try FilterParser.parse(["a": ["$regex": "a", "$options": "im"]])
        #expect(try same.matches(["a": stored], MQLText.context))
        let equal = try FilterParser.parse(["a": ["$eq": stored]])
        #expect(try equal.matches(["a": stored], MQLText.context))
        #expect(try !equal.matches(["a": "a"], MQLText.context))
    }

    @Test("refuses what is too long, has a NUL or could read invalid UTF-8")
    func refusals() {
        #expect(
            MQLText.code {
                _ = try FilterParser.parse(["a": ["$regex": .string(String(repeating: "a", count: 32765))]])
            } == 51091
        )
        #expect(MQLText.code { _ = try FilterParser.parse(["a": ["$regex": "a\0b"]]) } == 2)
        #expect(MQLText.code { _ = try FilterParser.parse(["a": ["$regex": "\\C"]]) } == 51091)
        #expect(
            MQLText.code { _ = try FilterParser.parse(["a": ["$regex": "((((a{999}){999}){999}){999})"]]) }
                == 51091
        )
        #expect(
            MQLText.code {
                _ = try FilterParser.parse(["a": ["$regex": .string(String(repeating: "(", count: 5000))]])
            } == 51091
        )
    }

    @Test("ends a catastrophic match with an error, soon", .timeLimit(.minutes(30)))
    func bounded() throws {
        let filter = try FilterParser.parse(["a": ["$regex": "^(a+)+$"]])
        #expect(
            MQLText.code {
                _ = try filter.matches(
                    ["a": .string(String(repeating: "a", count: 40) + "!")],
                    MQLText.context
                )
            } == 51156
        )
        let deep = try FilterParser.parse(["a": ["$regex": "^(?:a|b)*c"]])
        let text = String(repeating: "ab", count: 2_000_000)
        #expect(
            [51156, nil].contains(
                MQLText.code { _ = try deep.matches(["a": .string(text)], MQLText.context) }
            )
        )
    }

    @Test("keeps answering while the cache turns over")
    func cache() throws {
        for number in 0..<1500 {
            let filter = try FilterParser.parse(["a": ["$regex": .string("^x\(number)$")]])
            #expect(try filter.matches(["a": .string("x\(number)")], MQLText.context))
        }
    }
}

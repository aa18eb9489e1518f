import SQL
import Testing

@Suite("SQL fragments")
struct SQLFragmentTests {
    @Test("numbers binds in the order in which they stand")
    func numbersBinds() {
        let table = SQLIdentifier(schema: "app", "Item")
        let fragment: SQLFragment =
            "SELECT doc FROM \(table) WHERE _id = \(bind: .text("a")) AND n > \(bind: .int(3))"
        let (text, binds) = fragment.rendered()
        #expect(text == #"SELECT doc FROM "app"."Item" WHERE _id = $1 AND n > $2"#)
        #expect(binds == [.text("a"), .int(3)])
    }

    @Test("renumbers the binds of nested fragments")
    func nests() {
        let first: SQLFragment = "a = \(bind: .int(1))"
        let second: SQLFragment = "b = \(bind: .int(2))"
        let both: SQLFragment = "WHERE \(.joined([first, second], separator: " AND ")) LIMIT \(bind: .int(3))"
        #expect(both.rendered().text == "WHERE a = $1 AND b = $2 LIMIT $3")
        #expect(both.rendered().binds == [.int(1), .int(2), .int(3)])
    }

    @Test("keeps a value out of the text, whatever it holds")
    func keepsValuesOut() {
        let hostile = "'; DROP TABLE users; --"
        let fragment: SQLFragment = "SELECT \(bind: .text(hostile))"
        #expect(fragment.rendered().text == "SELECT $1")
    }

    @Test("merges neighbouring text, so that equal statements are equal values")
    func mergesText() {
        let built = ("SELECT " as SQLFragment) + "1" + " + 1"
        #expect(built == "SELECT 1 + 1")
        #expect(SQLFragment().isEmpty)
        #expect(SQLFragment.joined([], separator: ", ").isEmpty)
    }

    @Test(
        "quotes names",
        arguments: [
            ("Item", #""Item""#), ("a\"b", #""a""b""#), ("a b;--", #""a b;--""#), ("na\u{0}me", #""name""#),
            ("größe", #""größe""#),
        ]
    )
    func quotesNames(name: String, quoted: String) {
        #expect(SQLIdentifier(name).quoted == quoted)
    }
}

import BSON
import MQL
import Sync
import TestSupport
import Testing

@Suite("The queries of subscriptions")
struct SubscriptionTests {
    static let reader = QueryMeaningTests.reader
    static let head = "Client provided query with bad syntax: unsupported query for table \"Person\": "

    @Test("reads the body of a message")
    func body() throws {
        let queries = try Self.reader.read(#"{"Person": "(age < 5) OR (name == \"x\")"}"#)
        #expect(queries.keys.map(\.text) == ["Person"])
        #expect(queries[ByteText("Person")]?.text == #"(age < 5) OR (name == "x")"#)
        #expect(try Self.reader.read("{}").isEmpty)
    }

    static let bodies: [(String, String)] = [
        ("", "the subscriptions are not a JSON object"), ("[]", "the subscriptions are not a JSON object"),
        (#"{"Person": "TRUEPREDICATE""#, "the subscriptions are not a JSON object"),
        (#"{"Person": 1}"#, "the query for table \"Person\" is not a string"),
        (
            #"{"Nope": "TRUEPREDICATE"}"#,
            "unsupported query for table \"Nope\": the table is not in the app's schema"
        ),
        (
            #"{"Person_home": "TRUEPREDICATE"}"#,
            "unsupported query for table \"Person_home\": objects of an embedded table come with their parents"
        ),
    ]

    @Test("refuses a body that is none", arguments: bodies)
    func badBody(body: String, message: String) {
        let fault = #expect(throws: SyncFault.self) { try Self.reader.read(body) }
        #expect(fault?.code == .badQuery)
        #expect(fault?.message == "Client provided query with bad syntax: " + message)
    }

    static let refused: [(String, String)] = [
        ("hidden == 'x'", "key \"hidden\" is not a queryable field"),
        ("nope == 1", "key \"nope\" is not a queryable field"),
        ("home.city == 'x'", "key \"home.city\" is not a queryable field"),
        ("home == NULL", "key \"home\" is not a queryable field"),
        ("map == 1", "key \"map\" is not a queryable field"),
        ("friend.age == 1", "key \"friend.age\" is not a queryable field"),
        ("@links.Person.friend.@count > 1", "key \"@links.Person.friend\" is not a queryable field"),
        ("TRUEPREDICATE SORT(age ASC)", "SORT is not supported in subscriptions"),
        ("TRUEPREDICATE DISTINCT(age)", "DISTINCT is not supported in subscriptions"),
        ("TRUEPREDICATE LIMIT(5)", "LIMIT is not supported in subscriptions"),
        ("SUBQUERY(tags, $x, $x == 1).@count > 1", "SUBQUERY is not supported in subscriptions"),
        ("numbers.@sum > 1", "@sum is not supported in subscriptions"),
        ("numbers.@avg > 1", "@avg is not supported in subscriptions"),
        ("numbers.@min > 1", "@min is not supported in subscriptions"),
        ("numbers.@max > 1", "@max is not supported in subscriptions"),
        ("anything.@type == 'int'", "@type is not supported in subscriptions"),
        ("name.@size > 3", "@count needs a list, and \"name\" is none"),
        ("tags.@count > 'x'", "@count is compared with a number"),
        ("ANY tags.@count > 1", "@count stands without ANY, ALL and NONE"),
        ("tags.@count > age", "two properties cannot be compared"),
        ("{'comedy', 'horror'} IN tags", "two lists cannot be compared"),
        ("ANY {'a'} != ANY tags", "two lists cannot be compared"),
        ("tags == {'a'}", "two lists cannot be compared"), ("tags IN {'a'}", "two lists cannot be compared"),
        ("ANY tags != {'a'}", "two lists cannot be compared"),
        ("age == in", "two properties cannot be compared"), ("1 == 1", "a comparison needs a property"),
        ("age + 1 == 2", "arithmetic is not supported in subscriptions"),
        ("age == $0", "the value of $0 is missing"),
        ("tags[0] == 'x'", "elements by index or key are not supported in subscriptions"),
        ("name TEXT 'x'", "TEXT is not supported in subscriptions"),
        ("home GEOWITHIN geoBox([1,2],[3,4])", "GEOWITHIN is not supported in subscriptions"),
        ("age == 'x'", "== does not compare int \"age\" with string"),
        ("name < 5", "< does not compare string \"name\" with number"),
        ("data < binary(\"x\")", "< does not compare binary \"data\" with binary"),
        ("age BEGINSWITH 'x'", "BEGINSWITH does not compare int \"age\" with string"),
        ("name BEGINSWITH 5", "BEGINSWITH needs a string"),
        ("age <[c] 5", "<[c] is not supported in subscriptions"),
        ("ANY age == 4", "ANY, ALL and NONE need a list, and \"age\" is none"),
        ("4 IN age", "what follows IN must be a list, and \"age\" is none"),
        ("age BETWEEN {1}", "BETWEEN needs a list of 2 values"), ("age BETWEEN 1", "BETWEEN needs a list"),
        ("numbers BETWEEN {1, 2}", "BETWEEN on a list needs ALL"),
        ("friend == obj(\"class_Other\", 1)", "== does not compare link to \"Person\" \"friend\" with link"),
        ("", "the query ends too soon"), ("age", "the query ends too soon"),
        ("age ==", "the query ends too soon"),
        ("(age == 1", "the query ends too soon"), ("age == 1)", "unexpected text at byte 8"),
        ("age == 1 age == 2", "unexpected text at byte 9"), ("age == 'x", "a string without end at byte 9"),
        ("age == B64\"*\"", "bad Base64"), ("age == T1:-5", "bad timestamp"),
        ("born == 2024-13-01@00:00:00", "bad date"),
        ("age ? 1", "invalid character at byte 4"), ("age == 'a\\x'", "bad escape in a string"),
        ("_id == oid(123)", "unexpected text at byte 10"),
    ]

    @Test("refuses what a subscription cannot say, by name", arguments: refused)
    func refusals(query: String, message: String) {
        let fault = #expect(throws: SyncFault.self) { try Self.reader.query(query, of: ByteText("Person")) }
        #expect(fault?.code == .badQuery)
        #expect(
            fault?.message.hasPrefix(Self.head) == true && fault?.message.contains(message) == true,
            "\(fault?.message ?? "")"
        )
    }

    @Test("the words for a field that is not queryable are those of the hosted service")
    func exactWords() {
        let fault = #expect(throws: SyncFault.self) {
            try Self.reader.read(#"{"Person": "nonQueryable == 1"}"#)
        }
        #expect(
            fault?.message == """
                Client provided query with bad syntax: unsupported query for table "Person": \
                key "nonQueryable" is not a queryable field
                """
        )
    }

    @Test("development mode lets every field be asked for that can be")
    func development() throws {
        let reader = SubscriptionReader(
            schema: QueryMeaningTests.schema,
            queryable: QueryableFields(byClass: nil)
        )
        let query = try reader.query("hidden == 'x'", of: ByteText("Person"))
        #expect(query.fields == [ByteText("hidden")])
        #expect(throws: SyncFault.self) { try reader.query("home.city == 'x'", of: ByteText("Person")) }
    }

    // MARK: The indexed field

    static let indexed: [(String, Bool)] = [
        ("age IN {1,2,3} AND name == \"Northeast\"", true),
        ("age == 1 AND (score < 5 OR price < 10)", true), ("1 == age", true),
        ("(age == 1) OR (age == 2 AND name == 'x')", true), ("age == ANY {1, 2}", true),
        ("age IN {1,2,3} OR name==\"Northeast\"", false), ("age == 1 AND score < 5 OR price < 10", false),
        ("age > 2 AND name == \"Northeast\"", false), ("name == \"Northeast\"", false),
        ("truepredicate", false),
        ("NOT age == 1", false), ("age != 1", false),
    ]

    @Test("every query must say which values of the indexed field it wants", arguments: indexed)
    func indexedField(query: String, isValid: Bool) {
        let reader = SubscriptionReader(
            schema: QueryMeaningTests.schema,
            queryable: QueryableFields(byClass: nil, indexed: ByteText("age"))
        )
        if isValid {
            #expect(throws: Never.self) { try reader.query(query, of: ByteText("Person")) }
        } else {
            let fault = #expect(throws: SyncFault.self) { try reader.query(query, of: ByteText("Person")) }
            #expect(fault?.message.contains("indexed queryable field \"age\"") == true)
        }
    }

    // MARK: Bounds

    @Test("refuses a query above 256 kB, and takes one just below it")
    func size() throws {
        let clause = "age == 1 or "
        let count = SubscriptionReader.queryLimit / clause.utf8.count - 1
        let long = String(repeating: clause, count: count) + "age == 2"
        let query = try Self.reader.query(long, of: ByteText("Person"))
        guard case .or(let members) = query.filter else {
            Issue.record("no disjunction")
            return
        }
        #expect(members.count == count + 1)
        let fault = #expect(throws: SyncFault.self) {
            try Self.reader.query(long + String(repeating: " ", count: 100), of: ByteText("Person"))
        }
        #expect(fault?.message == Self.head + "a query has at most 256 kB")
    }

    @Test("bounds how deep conditions nest", arguments: ["(", "NOT ", "!("])
    func depth(opening: String) throws {
        func nested(_ depth: Int) -> String {
            String(repeating: opening, count: depth) + "age == 1"
                + String(repeating: opening.contains("(") ? ")" : "", count: depth)
        }
        #expect(throws: Never.self) { try Self.reader.query(nested(40), of: ByteText("Person")) }
        let fault = #expect(throws: SyncFault.self) {
            try Self.reader.query(nested(50_000), of: ByteText("Person"))
        }
        #expect(fault?.message == Self.head + "conditions nest at most 100 levels")
    }

    @Test("no text makes it crash", arguments: 0..<10 as Range<UInt64>)
    func randomTexts(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let words =
            QueryMeaningTests.rows.map(\.0).flatMap { $0.split(separator: " ").map(String.init) }
            + Self.refused.map(\.0) + [
                "(", ")", "{", "}", ",", "\u{0}", "\"", "'", "\\", "é", "-", "+", ".", "@", "T", "B64\"",
            ]
        for _ in 0..<300 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                bytes += Array((words.randomElement(using: &random) ?? "").utf8)
                if Bool.random(using: &random) { bytes.append(0x20) }
            }
            for _ in 0..<Int.random(in: 0...2, using: &random) where !bytes.isEmpty {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(
                    in: 0...255,
                    using: &random
                )
            }
            let text = String(decoding: bytes, as: UTF8.self)
            guard let query = try? Self.reader.query(text, of: ByteText("Person")) else { continue }
            _ = try? query.filter.matches(QueryMeaningTests.person, EvaluationContext(now: 0))
        }
    }
}

import Accounts
import BSON
import Errors
import Postgres
import TestSupport
import Testing

@testable import Services

@Suite("Collations of operations")
struct CollationTests {
    /// What finds which of the documents below; `en2` and so on name the collation.
    private static let reads: [(collation: String, action: String, members: String, expected: String)] = [
        (#"{"locale":"en","strength":2}"#, "find", #""filter":{"s":"ABC"}"#, "1,2"),
        (#"{"locale":"en","strength":1}"#, "find", #""filter":{"s":"abc"}"#, "1,2,3"),
        (#"{"locale":"en","strength":1,"caseLevel":true}"#, "find", #""filter":{"s":"abc"}"#, "1,3"),
        (#"{"locale":"en"}"#, "find", #""filter":{"s":"abc"}"#, "1"),
        (#"{"locale":"en","strength":2}"#, "find", #""filter":{"s":{"$in":["ABC","X10"]}}"#, "1,2,5"),
        (#"{"locale":"en","strength":2}"#, "find", #""filter":{"s":{"$nin":["ABC","X10","tag"]}}"#, "3,4"),
        (#"{"locale":"en","strength":2}"#, "find", #""filter":{"s":{"$ne":"ABC"},"_id":{"$lt":5}}"#, "3,4"),
        (#"{"locale":"en","strength":2}"#, "find", #""filter":{"s":{"$regex":"^ABC"}}"#, "2"),
        (#"{"locale":"en","strength":2}"#, "find", #""filter":{"$expr":{"$eq":["$s","aBc"]}}"#, "1,2"),
        (#"{"locale":"en","strength":2}"#, "find", #""filter":{"$expr":{"$in":["$s",["aBc"]]}}"#, "1,2"),
        (#"{"locale":"en","strength":2}"#, "find", #""filter":{"s":{"$elemMatch":{"$eq":"TAG"}}}"#, "6"),
        (#"{"locale":"en","strength":2}"#, "find", #""filter":{"s":{"$all":["TAG"]}}"#, "6"),
        (#"{"locale":"en","strength":2}"#, "find", #""filter":{"s":{"$gte":"ABC","$lt":"B"}}"#, "1,2,3"),
        (#"{"locale":"en","strength":2}"#, "find", #""filter":{"d":{"k":"ABC"}}"#, "1"),
        (#"{"locale":"en","strength":2}"#, "find", #""filter":{"d":{"K":"abc"}}"#, ""),
        (#"{"locale":"en"}"#, "find", #""filter":{"_id":{"$lt":6}},"sort":{"s":1}"#, "1,2,3,5,4"),
        (#"{"locale":"simple"}"#, "find", #""filter":{"_id":{"$lt":6}},"sort":{"s":1}"#, "2,1,5,4,3"),
        (
            #"{"locale":"en","numericOrdering":true}"#, "find",
            #""filter":{"_id":{"$lt":6}},"sort":{"s":-1},"limit":3"#, "5,4,3"
        ),
        (#"{"locale":"simple"}"#, "find", #""filter":{"s":"ABC"}"#, "2"),
        (
            #"{"locale":"en","strength":1}"#, "aggregate",
            #""pipeline":[{"$match":{"_id":{"$lt":4}}},{"$group":{"_id":"$s","_":{"$first":"$_id"}}},{"$project":{"_id":"$_"}}]"#,
            "1"
        ),
        (
            #"{"locale":"en","strength":1}"#, "aggregate",
            #""pipeline":[{"$sortByCount":"$s"},{"$limit":1},{"$project":{"_id":"$count"}}]"#, "3"
        ),
        (
            #"{"locale":"en","strength":1}"#, "aggregate",
            #""pipeline":[{"$match":{"_id":2}},{"$lookup":{"from":"C","localField":"s","foreignField":"s","as":"x"}},{"$unwind":"$x"},{"$project":{"_id":"$x._id"}}]"#,
            "1,2,3"
        ),
        (
            #"{"locale":"en","strength":1}"#, "aggregate",
            #""pipeline":[{"$match":{"_id":2}},{"$graphLookup":{"from":"C","startWith":"$s","connectFromField":"s","connectToField":"s","as":"x"}},{"$unwind":"$x"},{"$sort":{"x._id":1}},{"$project":{"_id":"$x._id"}}]"#,
            "1,2,3"
        ),
        (
            #"{"locale":"en","numericOrdering":true}"#, "aggregate",
            #""pipeline":[{"$match":{"_id":{"$in":[4,5]}}},{"$group":{"_id":null,"m":{"$max":"$s"}}},{"$project":{"_id":{"$toInt":{"$substrCP":["$m",1,5]}}}}]"#,
            "10"
        ),
        (
            #"{"locale":"en","strength":1}"#, "aggregate",
            #""pipeline":[{"$match":{"_id":1}},{"$project":{"_id":{"$size":{"$setUnion":[["a","A"],["\u00e1","b"]]}}}}]"#,
            "2"
        ),
        (
            #"{"locale":"en","strength":1}"#, "aggregate",
            #""pipeline":[{"$match":{"_id":{"$lt":4}}},{"$setWindowFields":{"partitionBy":"$s","sortBy":{"_id":1},"output":{"n":{"$documentNumber":{}}}}},{"$project":{"_id":"$n"}}]"#,
            "1,2,3"
        ),
        (
            #"{"locale":"en","strength":1}"#, "aggregate",
            #""pipeline":[{"$bucket":{"groupBy":{"$toString":"$_id"},"boundaries":["1","3","9"],"output":{"n":{"$sum":1}}}},{"$project":{"_id":"$n"}}]"#,
            "2,4"
        ),
    ]

    private func fixture() async throws -> DataFixture {
        let fixture = try await DataFixture()
        try await fixture.insert(
            "C",
            #"{"_id":1,"s":"abc","d":{"k":"Abc"}}"#,
            #"{"_id":2,"s":"ABC"}"#,
            #"{"_id":3,"s":"\u00e1bc"}"#,
            #"{"_id":4,"s":"x9"}"#,
            #"{"_id":5,"s":"x10"}"#,
            #"{"_id":6,"s":["tag"]}"#
        )
        return fixture
    }

    @Test("a collation decides what texts are equal and how they are sorted")
    func reads() async throws {
        let fixture = try await fixture()
        for (collation, action, members, expected) in Self.reads {
            let shown = action == "find" ? #","projection":{"_id":1}"# : ""
            let text = try await fixture.documents(
                action,
                "C",
                #"{\#(members)\#(shown),"collation":\#(collation)}"#
            )
            let ids = text.split(separator: ",").map { $0.filter(\.isNumber) }.joined(separator: ",")
            #expect(ids == expected, "\(collation) \(members): \(text)")
        }
        await fixture.database.close()
    }

    @Test("updates and deletions ask by the collation, and compare elements by it")
    func writes() async throws {
        let fixture = try await fixture()
        let known = #""collation":{"locale":"en","strength":2}"#
        let updates: [(members: String, matched: [Int])] = [
            (#""filter":{"s":"aBC"},"update":{"$set":{"n":1}}"#, [2, 2]),
            (#""filter":{"s":"TAG"},"update":{"$addToSet":{"s":"TaG"}}"#, [1, 0]),
            (#""filter":{"s":"TAG"},"update":{"$push":{"s":{"$each":["B","a"],"$sort":1}}}"#, [1, 1]),
            (#""filter":{"s":"TAG"},"update":{"$set":{"s.$":"tagged"}}"#, [1, 1]),
            (#""filter":{"_id":6},"update":{"$pull":{"s":"A"}}"#, [1, 1]),
            (#""filter":{"_id":6},"update":{"$pullAll":{"s":["b"]}}"#, [1, 1]),
            (
                #""filter":{"_id":6},"update":{"$set":{"s.$[e]":"end"}},"arrayFilters":[{"e":"TAGGED"}]"#,
                [1, 1]
            ),
            (#""filter":{"_id":4},"update":{"$min":{"s":"X9"}}"#, [1, 0]),
        ]
        for (members, matched) in updates {
            #expect(
                try await fixture.update("updateMany", "C", "{\(members),\(known)}") == matched,
                "\(members)"
            )
        }
        #expect(
            try await fixture.documents("find", "C", #"{"filter":{"_id":6}}"#) == #"{"_id":6,"s":["end"]}"#
        )
        let counted = try await fixture.perform(
            "countDocuments",
            "C",
            #"{"filter":{"s":"aBC"},\#(known)}"#,
            as: .system
        )
        guard case .counted(2) = counted else {
            Issue.record("\(counted)")
            return
        }
        let values = try await fixture.perform("distinct", "C", #"{"key":"s",\#(known)}"#, as: .system)
        guard case .values(let distinct) = values else {
            Issue.record("\(values)")
            return
        }
        #expect(distinct == ["abc", "\u{e1}bc", "end", "x10", "x9"])
        let deleted = try await fixture.perform(
            "deleteMany",
            "C",
            #"{"filter":{"s":"aBC"},\#(known)}"#,
            as: .system
        )
        guard case .deleted(2) = deleted else {
            Issue.record("\(deleted)")
            return
        }
        await fixture.database.close()
    }

    @Test("SQL decides what compares no texts, and nothing else")
    func grades() async throws {
        let fixture = try await fixture()
        for (filter, grade) in [
            (#"{"n":5}"#, "exact"), (#"{"s":"abc"}"#, "none"), (#"{"n":5,"s":"a"}"#, "superset"),
        ] {
            let text = try await fixture.perform(
                "find",
                "C",
                #"{"filter":\#(filter),"explain":true,"collation":{"locale":"en","strength":2}}"#,
                as: .system
            )
            guard case .document(let answer) = text else {
                Issue.record("\(text)")
                return
            }
            #expect(try answer.values().first?["grade"] == .string(grade), "\(filter)")
        }
        await fixture.database.close()
    }
}

import BSON
import MQL
import Sync
import Testing

@testable import Services

@Suite("Whom a change concerns")
struct SyncInterestTests {
    private static let filters = [
        #"{}"#, #"{"o":"x"}"#, #"{"o":{"$in":["x","y"]}}"#, #"{"$or":[{"o":"x"},{"o":"z"}]}"#,
        #"{"$or":[{"o":"x"},{"p":"z"}]}"#, #"{"$and":[{"n":{"$gt":1}},{"o":"y"}]}"#, #"{"n":1}"#,
        #"{"o":null}"#,
        #"{"o":{"$ne":"x"}}"#, #"{"$nor":[{"o":"x"}]}"#, #"{"a.b":"x"}"#, #"{"o":{"$in":["x",null]}}"#,
        #"{"o":{"$in":[]}}"#, #"{"o":{"$regex":"x"}}"#, #"{"o":{"$symbol":"x"}}"#,
        #"{"p":{"$oid":"0123456789abcdef01234567"}}"#, #"{"p":true}"#, #"{"o":["x"]}"#,
        #"{"o":"x","p":true}"#,
    ]
    private static let documents = [
        #"{}"#, #"{"o":"x"}"#, #"{"o":"y","n":2}"#, #"{"o":["x","y"]}"#, #"{"o":[["x"]]}"#, #"{"o":null}"#,
        #"{"o":{"$symbol":"x"}}"#, #"{"n":1}"#, #"{"n":{"$numberLong":"1"}}"#, #"{"a":{"b":"x"}}"#,
        #"{"a":[{"b":"x"}]}"#, #"{"p":true,"o":"x"}"#, #"{"p":{"$oid":"0123456789abcdef01234567"}}"#,
        #"{"p":"z"}"#,
    ]

    @Test("finds everyone whose conditions a document satisfies, before or after")
    func whole() throws {
        let table = ByteText("T")
        var interests = SyncInterests()
        var conditions: [UInt64: [Filter]] = [:]
        for first in Self.filters {
            for second in Self.filters {
                let id = UInt64(conditions.count)
                conditions[id] = try [first, second].map {
                    try FilterParser.parse(ExtendedJSON.readDocument(Array($0.utf8)))
                }
                interests.insert(SyncInterest([table: conditions[id] ?? []]), of: id)
            }
        }
        let context = EvaluationContext(now: 0, meter: EvaluationMeter(limit: .max))
        for text in Self.documents {
            let document = try ExtendedJSON.readDocument(Array(text.utf8))
            var concerned: Set<UInt64> = []
            for (id, filters) in conditions
            where try filters.allSatisfy({ try $0.matches(document, context) }) {
                concerned.insert(id)
            }
            let objects = [
                Self.object(table, document, nil), Self.object(table, nil, document),
                Self.object(table, document, BSONDocument()),
            ]
            for object in objects {
                var found: Set<UInt64> = []
                interests.collect(object, into: &found)
                #expect(found.isSuperset(of: concerned), "\(text)")
            }
        }
    }

    @Test("leaves out those who ask for another value, and those who left")
    func narrow() throws {
        let table = ByteText("T")
        var interests = SyncInterests()
        let all = (0..<100).map { number in
            SyncInterest([table: [.field(FieldPath("o"), .compare(.equal, .string("owner \(number)")))]])
        }
        for (id, interest) in all.enumerated() { interests.insert(interest, of: UInt64(id)) }
        let object = Self.object(table, ["o": "owner 7"], ["o": "owner 8"])
        var found: Set<UInt64> = []
        interests.collect(object, into: &found)
        #expect(found == [7, 8])
        interests.remove(all[7], of: 7)
        found = []
        interests.collect(object, into: &found)
        #expect(found == [8])
        interests.collect(Self.object(ByteText("U"), ["o": "owner 9"], nil), into: &found)
        #expect(found == [8])
    }

    private static func object(_ table: ByteText, _ before: BSONDocument?, _ after: BSONDocument?)
        -> SyncHistoryEntry.Object
    {
        SyncHistoryEntry.Object(
            address: ObjectAddress(table: table, key: .int(1)),
            before: before,
            after: after
        )
    }
}

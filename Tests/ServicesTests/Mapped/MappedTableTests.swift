import Accounts
import BSON
import Errors
import MQL
import Postgres
import SQL
import TestSupport
import Testing

@testable import Services

@Suite("Mapped relations")
struct MappedTableTests {
    private static func document(_ id: Int) -> String {
        var members = [#""_id":\#(id)"#]
        if id % 4 > 0 { members.append(#""name":"n\#(id % 3)""#) }
        members.append(#""qty":\#(id % 5)"#)
        if id % 3 > 0 { members.append(#""big":\#(id * 3_000_000_000)"#) }
        members.append(#""weight":\#(Double(id) / 4 + 0.25)"#)
        if id % 5 > 0 { members.append(#""at":{"$date":{"$numberLong":"\#(id * 1001)"}}"#) }
        members.append(#""exact":{"$date":{"$numberLong":"\#(id * 7)"}}"#)
        members.append(#""ref":{"$uuid":"00112233-4455-6677-8899-aabbccddee\#(10 + id)"}"#)
        members.append(#""done":\#(id % 2 == 0)"#)
        if id % 2 > 0 { members.append(#""tags":["t\#(id % 4)","u"]"#) }
        members.append(#""extra":{"a":\#(id),"b":[1,{"c":\#(id % 3)}]}"#)
        members.append(#""price":{"$numberDecimal":"\#(id).50"}"#)
        members.append(#""ownerId":"\#(id % 2 == 0 ? "even" : "odd")""#)
        return "{\(members.joined(separator: ","))}"
    }

    private func filled() async throws -> MappedFixture {
        let maps = try await MappedFixture()
        let documents = (1...24).map(Self.document).joined(separator: ",")
        for collection in ["Own", "Mapped"] {
            #expect(
                try await maps.answer("insertMany", collection, "{\"documents\":[\(documents)]}")
                    == "inserted"
            )
        }
        return maps
    }

    private func same(_ maps: MappedFixture, _ action: String, _ members: String) async throws {
        let own = try Self.ordered(await maps.answer(action, "Own", members))
        #expect(try Self.ordered(await maps.answer(action, "Mapped", members)) == own, "\(action) \(members)")
    }

    /// Documents with their fields in the order of their names: a relation has an order of its own.
    private static func ordered(_ answer: String) throws -> String {
        guard answer.hasPrefix("{") else { return answer }
        let documents = try ExtendedJSON.readValue(Array("[\(answer)]".utf8)).array ?? []
        let sorted = documents.map { value -> BSONValue in
            guard case .document(let document) = value else { return value }
            return .document(BSONDocument(document.fields.sorted { $0.key < $1.key }))
        }
        var text: [UInt8] = []
        PlainJSON.write(.array(sorted), to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    private static let filters = [
        "{}", #"{"_id":7}"#, #"{"_id":7.0}"#, #"{"_id":{"$in":[1,2.5,99,"x"]}}"#, #"{"_id":{"$gt":20}}"#,
        #"{"_id":{"$lte":2.5}}"#, #"{"_id":"x"}"#, #"{"name":"n1"}"#, #"{"name":{"$gte":"n1"}}"#,
        #"{"name":null}"#, #"{"name":{"$exists":false}}"#, #"{"name":{"$ne":"n1"}}"#,
        #"{"name":{"$in":["n0","n2",null]}}"#,
        #"{"name":5}"#, #"{"qty":3}"#, #"{"qty":{"$gt":1.5,"$lt":4}}"#, #"{"qty":{"$in":[1,2.5,3]}}"#,
        #"{"qty":{"$not":{"$gt":2}}}"#, #"{"big":9000000000}"#,
        #"{"big":{"$gte":{"$numberLong":"30000000000"}}}"#,
        #"{"weight":1.5}"#, #"{"weight":{"$lt":2}}"#, #"{"at":{"$date":{"$numberLong":"7007"}}}"#,
        #"{"at":{"$gte":{"$date":{"$numberLong":"9009"}}}}"#,
        #"{"exact":{"$lt":{"$date":{"$numberLong":"50"}}}}"#,
        #"{"ref":{"$uuid":"00112233-4455-6677-8899-aabbccddee15"}}"#, #"{"done":true}"#, #"{"tags":"t3"}"#,
        #"{"tags":{"$all":["t1","u"]}}"#, #"{"tags":{"$size":2}}"#, #"{"extra.b.c":2}"#,
        #"{"extra.a":{"$mod":[5,0]}}"#,
        #"{"price":{"$gt":{"$numberDecimal":"20"}}}"#, #"{"price":3.5}"#,
        #"{"$or":[{"qty":0},{"done":true,"name":"n2"}]}"#,
        #"{"$expr":{"$gt":["$qty","$weight"]}}"#, #"{"name":{"$regex":"^n[12]"}}"#,
        #"{"qty":{"$type":"int"}}"#,
    ]

    @Test("answer filters, sorts and pipelines as a collection of our own with the same documents")
    func reads() async throws {
        let maps = try await filled()
        for filter in Self.filters {
            try await same(maps, "find", #"{"filter":\#(filter)}"#)
            try await same(maps, "countDocuments", #"{"filter":\#(filter)}"#)
        }
        for sort in [
            #"{"name":1,"_id":-1}"#, #"{"at":-1}"#, #"{"tags":1}"#, #"{"big":-1,"qty":1}"#, #"{"_id":-1}"#,
        ] {
            try await same(maps, "find", #"{"sort":\#(sort),"skip":3,"limit":9,"projection":{"extra":0}}"#)
        }
        for pipeline in [
            #"[{"$group":{"_id":"$name","n":{"$sum":1}}},{"$sort":{"_id":1}}]"#,
            #"[{"$match":{"qty":{"$gt":1}}},{"$group":{"_id":"$ownerId","w":{"$sum":"$weight"},"p":{"$max":"$price"}}},{"$sort":{"_id":1}}]"#,
            #"[{"$unwind":"$tags"},{"$sortByCount":"$tags"},{"$sort":{"count":1,"_id":1}}]"#,
            #"[{"$count":"all"}]"#,
            #"[{"$sort":{"at":1}},{"$limit":4},{"$project":{"y":{"$year":"$at"},"s":{"$add":["$qty","$big"]}}}]"#,
        ] {
            try await same(maps, "aggregate", #"{"pipeline":\#(pipeline)}"#)
        }
        try await same(maps, "distinct", #"{"key":"name","filter":{"qty":{"$lt":3}}}"#)
        try await same(maps, "estimatedDocumentCount", "{}")
        await maps.fixture.database.close()
    }

    @Test("take every kind of write as a collection of our own does")
    func writes() async throws {
        let maps = try await filled()
        for (action, members) in [
            ("updateOne", #"{"filter":{"_id":1},"update":{"$set":{"name":"x"},"$inc":{"qty":2}}}"#),
            ("updateOne", #"{"filter":{"_id":1},"update":{"$set":{"name":"x"}}}"#),
            ("updateMany", #"{"filter":{"done":true},"update":{"$unset":{"name":1},"$push":{"tags":"p"}}}"#),
            (
                "updateMany",
                #"{"filter":{"qty":{"$gte":3}},"update":[{"$set":{"weight":{"$multiply":["$qty",1.5]}}}]}"#
            ),
            (
                "updateOne",
                #"{"filter":{"_id":3},"update":{"$set":{"extra.b.1.c":9},"$currentDate":{"at":true}}}"#
            ),
            ("updateOne", #"{"filter":{"_id":100},"update":{"$set":{"qty":1}},"upsert":true}"#),
            ("replaceOne", #"{"filter":{"_id":5},"replacement":{"name":"only"}}"#),
            (
                "findOneAndUpdate",
                #"{"filter":{},"sort":{"_id":-1},"update":{"$inc":{"qty":1}},"returnNewDocument":true}"#
            ),
            ("findOneAndDelete", #"{"filter":{"qty":1},"sort":{"_id":1}}"#),
            ("insertOne", #"{"document":{"_id":6}}"#),
            ("insertOne", #"{"document":{"_id":200,"name":"new"}}"#),
            ("insertMany", #"{"documents":[{"_id":201},{"_id":7},{"_id":202}]}"#),
            ("insertMany", #"{"documents":[{"_id":203},{"_id":7},{"_id":204}],"ordered":false}"#),
            (
                "bulkWrite",
                #"{"operations":[{"insertOne":{"document":{"_id":300}}},{"updateMany":{"filter":{},"update":{"$inc":{"qty":1}}}},{"deleteOne":{"filter":{"_id":8}}}]}"#
            ),
            (
                "bulkWrite",
                #"{"operations":[{"insertOne":{"document":{"_id":301}}},{"insertOne":{"document":{"_id":300}}}],"atomic":true}"#
            ),
            ("updateOne", #"{"filter":{"_id":9},"update":{"$set":{"_id":10}}}"#),
            ("deleteMany", #"{"filter":{"ownerId":"odd","qty":{"$gt":2}}}"#),
            ("deleteOne", #"{"filter":{"_id":100}}"#), ("deleteOne", #"{"filter":{"_id":100}}"#),
        ] {
            try await same(maps, action, members)
            // All that a column holds, but for the time of this moment.
            try await same(maps, "find", #"{"projection":{"at":0}}"#)
        }
        await maps.fixture.database.close()
    }

    @Test("keep what a document cannot say of a column that a write leaves alone")
    func untouched() async throws {
        let maps = try await filled()
        try await maps.fixture.database.script(
            "UPDATE public.things SET exact = '2020-01-01T00:00:00.123456Z', weight = 1e20 WHERE id = 1"
        )
        #expect(
            try await maps.answer("updateOne", "Mapped", #"{"filter":{"_id":1},"update":{"$inc":{"qty":1}}}"#)
                == "1 1"
        )
        let row = try await maps.fixture.database.run(
            "SELECT extract(microseconds FROM exact)::integer, weight = 1e20 FROM public.things WHERE id = 1"
        )
        #expect(row.int(0, 0) == 123_456 && row.text(0, 1) == "t")
        await maps.fixture.database.close()
    }

    @Test(
        "refuse what their columns cannot hold, by the field's name, with MongoDB's error 121; nothing is changed"
    )
    func validation() async throws {
        let maps = try await filled()
        let before = try await maps.answer("find", "Mapped", "{}")
        for (field, value) in [
            ("unknown", "1"), ("qty", #""text""#), ("qty", "1.5"), ("qty", "3000000000"),
            ("big", #"{"$oid":"65f0c0ffee00000000000001"}"#),
            ("weight", #"{"$numberDecimal":"1"}"#), ("price", "1.555"), ("price", "1e9"), ("at", "5"),
            ("ref", #""x""#),
            ("done", "1"), ("tags", "[1]"), ("tags", #"[["a"]]"#), ("name", "7"),
        ] {
            for (action, members) in [
                ("insertOne", #"{"document":{"_id":500,"\#(field)":\#(value)}}"#),
                ("updateOne", #"{"filter":{"_id":2},"update":{"$set":{"\#(field)":\#(value)}}}"#),
                ("updateMany", #"{"filter":{},"update":{"$set":{"\#(field)":\#(value)}}}"#),
            ] {
                let error = await #expect(throws: ServiceError.self, "\(action) \(field) \(value)") {
                    _ = try await maps.fixture.perform(action, "Mapped", members, as: .system)
                }
                #expect(error?.serverCode == .documentValidationFailure, "\(action) \(field) \(value)")
                #expect(error?.message.contains(": \(field) ") == true, "\(error?.message ?? "")")
            }
        }
        #expect(
            try await maps.answer("insertOne", "Mapped", #"{"document":{"name":"no key"}}"#) == "error 121"
        )
        #expect(try await maps.answer("find", "Mapped", "{}") == before)
        await maps.fixture.database.close()
    }

    @Test("keep unknown fields in a column for them, where there is one, and null where it is asked for")
    func overflow() async throws {
        let maps = try await MappedFixture(
            "id text PRIMARY KEY, title text NOT NULL DEFAULT 'none', note text, spill jsonb",
            mapping:
                #"{"fields":{"_id":"id","name":"title","note":{"column":"note","null":"null"}},"overflow":"spill"}"#
        )
        #expect(
            try await maps.answer("insertOne", "Mapped", #"{"document":{"_id":"a","more":{"x":1}}}"#)
                == "inserted"
        )
        #expect(
            try await maps.answer("find", "Mapped", #"{"filter":{"more.x":1,"note":null}}"#)
                == #"{"_id":"a","name":"none","note":null,"more":{"x":1}}"#
        )
        #expect(
            try await maps.answer(
                "updateOne",
                "Mapped",
                #"{"filter":{"_id":"a"},"update":{"$inc":{"more.x":1},"$set":{"note":"n"}}}"#
            )
                == "1 1"
        )
        #expect(
            try await maps.answer("find", "Mapped", "{}")
                == #"{"_id":"a","name":"none","note":"n","more":{"x":2}}"#
        )
        let error = await #expect(throws: ServiceError.self) {
            _ = try await maps.fixture.perform(
                "updateOne",
                "Mapped",
                #"{"filter":{"_id":"a"},"update":{"$unset":{"name":1}}}"#,
                as: .system
            )
        }
        #expect(error?.serverCode == .documentValidationFailure)
        await maps.fixture.database.close()
    }
}

import Accounts
import BSON
import Errors
import Postgres
import SQL
import TestSupport
import Testing

@testable import Services

@Suite("$text")
struct TextSearchTests {
    private static let documents = [
        #"{"_id":1,"t":"the quick brown fox","n":3}"#, #"{"_id":2,"t":"Brown dogs, and foxes","n":1}"#,
        #"{"_id":3,"t":["running late","a CAFÉ"],"n":2}"#, #"{"_id":4,"t":"well-known cafe","n":4}"#,
        #"{"_id":5,"t":5}"#, #"{"_id":6,"t":{"x":"fox"}}"#, #"{"_id":7,"t":"don't"}"#,
        #"{"_id":8,"t":"数据库系统 o'clock"}"#,
    ]

    private func filled(_ keys: String = #"{"t":"text"}"#, _ options: String = "{}") async throws
        -> IndexFixture
    {
        let indexes = try await IndexFixture()
        try await indexes.fixture.insert("Open", Self.documents.joined(separator: ","))
        try await indexes.create(keys, options)
        return indexes
    }

    @Test("finds words by their stems, phrases, and leaves out what is negated")
    func searches() async throws {
        let indexes = try await filled()
        let cases = [
            ("fox", "1,2"), ("FOXES", "1,2"), ("run cafe", "3,4"), ("the", ""), ("the fox", "1,2"), ("", ""),
            ("  ", ""), ("-fox", ""), ("brown -quick", "2"), (#"\"brown fox\""#, "1"),
            (#"\"Brown Fox\" dog"#, "1"),
            (#"\"quick\" \"fox\""#, "1"), (#"fox -\"brown fox\""#, "2"), ("known", "4"), ("well-known", "4"),
            ("fox -well-known", "1,2"), ("café", "3,4"), ("don't", "7"), ("don", ""), ("数据库系统", "8"),
            ("数据库", ""), (#"o'clock"#, "8"), (#"\"dogs, and\""#, "2"), (#"fox \"brown"#, "1,2"),
            (#"fox\u0000cafe"#, "1,2,3,4"), (#"\"\""#, ""), (#"fox '); DROP TABLE x; --"#, "1,2"),
            (#"\\ ' fox"#, "1,2"),
        ]
        for (search, expected) in cases {
            let filter = #""filter":{"$text":{"$search":"\#(search)"}}"#
            #expect(try await indexes.ids(filter) == expected, "\(search)")
        }
        await indexes.fixture.database.close()
    }

    @Test(
        "heeds case, diacritics and language where it is told to",
        arguments: [
            (#""$search":"Brown","$caseSensitive":true"#, "2"),
            (#""$search":"brown","$caseSensitive":true"#, "1"),
            (#""$search":"cafe","$diacriticSensitive":true"#, "4"),
            (#""$search":"CAFÉ","$diacriticSensitive":true"#, "3"),
            (#""$search":"cafÉ","$caseSensitive":true,"$diacriticSensitive":true"#, ""),
            (#""$search":"foxes","$language":"none""#, ""), (#""$search":"fox","$language":"none""#, "1,2"),
            (#""$search":"foxes","$language":"EN""#, "1,2"),
            (#""$search":"brown -FOX","$caseSensitive":true"#, "1"),
        ]
    )
    func sensitivity(search: String, expected: String) async throws {
        let indexes = try await filled()
        #expect(try await indexes.ids(#""filter":{"$text":{\#(search)}}"#) == expected)
        await indexes.fixture.database.close()
    }

    @Test("scores as MongoDB does, sorts by score, and shows it where it is asked for")
    func scores() async throws {
        let indexes = try await filled(#"{"t":"text","u.v":"text"}"#, #"{"weights":{"u.v":10}}"#)
        let fixture = indexes.fixture
        try await fixture.insert(
            "Open",
            #"{"_id":21,"t":"coffee"}"#,
            #"{"_id":22,"t":"coffee coffee coffee"}"#,
            #"{"_id":23,"t":"coffee database system","x":1}"#,
            #"{"_id":24,"u":[{"v":"coffee shop"}]}"#
        )
        let text = #""filter":{"$text":{"$search":"coffee"}}"#
        let byScore = #""sort":{"s":{"$meta":"textScore"}}"#
        #expect(try await indexes.ids("\(text),\(byScore)") == "24,22,21,23")
        #expect(try await indexes.ids("\(text),\(byScore),\"skip\":1,\"limit\":2") == "22,21")
        let scored = try await fixture.documents(
            "find",
            "Open",
            #"{\#(text),\#(byScore),"projection":{"_id":1,"s":{"$meta":"textScore"}}}"#
        )
        #expect(
            scored
                == #"{"_id":24,"s":7.5},{"_id":22,"s":1.75},{"_id":21,"s":1},{"_id":23,"s":0.6666666666666666}"#
        )
        // A projection of the score alone shows the whole document, and one that leaves out goes with it.
        #expect(
            try await fixture.documents(
                "findOne",
                "Open",
                #"{"filter":{"$text":{"$search":"database"}},"projection":{"s":{"$meta":"textScore"},"x":0}}"#
            ) == #"{"_id":23,"t":"coffee database system","s":0.6666666666666666}"#
        )
        let pipeline = #"""
            [{"$match":{"$text":{"$search":"coffee"}}},{"$project":{"t":1}},{"$sort":{"s":{"$meta":"textScore"}}},
             {"$limit":2},{"$set":{"s":{"$meta":"textScore"}}}]
            """#
        #expect(
            try await fixture.documents("aggregate", "Open", #"{"pipeline":\#(pipeline)}"#)
                == #"{"_id":24,"s":7.5},{"_id":22,"t":"coffee coffee coffee","s":1.75}"#
        )
        await fixture.database.close()
    }

    @Test("goes with other conditions, in every action that takes a filter")
    func actions() async throws {
        let indexes = try await filled()
        let fixture = indexes.fixture
        let fox = #""$text":{"$search":"fox"}"#
        #expect(try await indexes.ids(#""filter":{\#(fox),"n":{"$gt":2}}"#) == "1")
        #expect(try await indexes.ids(#""filter":{"$and":[{"n":1},{\#(fox)}]}"#) == "2")
        #expect(try await indexes.ids(#""filter":{\#(fox),"$expr":{"$lt":["$n",2]}}"#) == "2")
        #expect(
            try await indexes.ids(#""filter":{"$or":[{\#(fox)}]},"collation":{"locale":"en","strength":1}"#)
                == "1,2"
        )
        let counted = #"{"pipeline":[{"$match":{\#(fox)}},{"$group":{"_id":null,"n":{"$sum":"$n"}}}]}"#
        #expect(try await fixture.documents("aggregate", "Open", counted) == #"{"_id":null,"n":4}"#)
        #expect(
            try await fixture.documents(
                "aggregate",
                "Open",
                #"{"pipeline":[{"$match":{\#(fox)}},{"$count":"c"}]}"#
            )
                == #"{"c":2}"#
        )
        let set = #""update":{"$set":{"hit":1}}}"#
        #expect(try await fixture.update("updateMany", "Open", #"{"filter":{\#(fox)},\#(set)"#) == [2, 2])
        let computed = #"{"filter":{\#(fox),"n":1},"update":[{"$set":{"hit":2}}]}"#
        #expect(try await fixture.update("updateOne", "Open", computed) == [1, 1])
        let upsert =
            #"{"filter":{"$text":{"$search":"absent"},"n":9},"update":{"$set":{"t":"absent"}},"upsert":true}"#
        #expect(try await fixture.update("updateOne", "Open", upsert) == [0, 0])
        #expect(try await fixture.update("updateOne", "Open", upsert) == [1, 0])
        guard
            case .counted(2) = try await fixture.perform(
                "countDocuments",
                "Open",
                #"{"filter":{\#(fox)}}"#,
                as: .system
            )
        else {
            Issue.record("another count")
            return
        }
        guard
            case .deleted(2) = try await fixture.perform(
                "deleteMany",
                "Open",
                #"{"filter":{\#(fox)}}"#,
                as: .system
            )
        else {
            Issue.record("not deleted")
            return
        }
        await fixture.database.close()
    }

    @Test("is found by the index, also one built beside writers; documents may name their language")
    func plans() async throws {
        let indexes = try await IndexFixture()
        let fixture = indexes.fixture
        try await fixture.insert("Open", #"{"_id":-1,"w":{"deep":["courant"]},"lang":"french"}"#)
        _ = try await fixture.database.run(
            """
            INSERT INTO todo."Open" (_id, doc) SELECT tidegate.typed_key(to_jsonb(i)),
            jsonb_build_object('_id', i, 't', 'word' || i % 500) FROM generate_series(1, 3000) i
            """
        )
        let name = try await indexes.create(
            #"{"$**":"text"}"#,
            #"{"language_override":"lang"}"#,
            beyond: "0kB"
        )
        await #expect(throws: ServiceError.self) {
            _ = try await indexes.ids(#""filter":{"$text":{"$search":"word5"}}"#)
        }
        await indexes.maintenance.buildAll()
        #expect(try await indexes.state(name) == "ready")
        fixture.catalog.forgetAll()
        _ = try await fixture.database.run("ANALYZE todo.\"Open\"")
        #expect(
            try await indexes.ids(#""filter":{"$text":{"$search":"word5"}}"#) == "5,505,1005,1505,2005,2505"
        )
        #expect(try await indexes.ids(#""filter":{"$text":{"$search":"cours","$language":"fr"}}"#) == "-1")
        let explained = try await fixture.documents(
            "find",
            "Open",
            #"{"filter":{"$text":{"$search":"word5"}},"explain":true}"#
        )
        #expect(explained.contains(#""grade":"exact""#) && explained.contains(name), "\(explained)")
        await fixture.database.close()
    }

    @Test(
        "is refused where it cannot be served, with MongoDB's code",
        arguments: [
            ("find", #"{"filter":{"$text":{}}}"#, 4), ("find", #"{"filter":{"$text":{"$search":1}}}"#, 14),
            ("find", #"{"filter":{"$text":{"$search":"a","$caseSensitive":1}}}"#, 14),
            ("find", #"{"filter":{"$text":{"$search":"a","$language":"klingon"}}}"#, 2),
            ("find", #"{"filter":{"$text":{"$search":"a","$x":1}}}"#, 2),
            ("find", #"{"filter":{"$nor":[{"$text":{"$search":"a"}}]}}"#, 2),
            ("find", #"{"filter":{"$or":[{"$text":{"$search":"a"}},{"n":1}]}}"#, 291),
            ("find", #"{"filter":{"$and":[{"$text":{"$search":"a"}},{"$text":{"$search":"b"}}]}}"#, 2),
            ("find", #"{"filter":{"t":{"$elemMatch":{"$text":{"$search":"a"}}}}}"#, 2),
            ("find", #"{"filter":{"$text":{"$search":"a"}},"hint":"_id_"}"#, 2),
            ("find", #"{"filter":{"$text":{"$search":"a"}},"sort":{"$natural":1}}"#, 2),
            ("find", #"{"sort":{"s":{"$meta":"textScore"}}}"#, 40218),
            ("find", #"{"projection":{"s":{"$meta":"textScore"}}}"#, 40218),
            ("find", #"{"filter":{"$text":{"$search":"a"}},"projection":{"s":{"$meta":"x"}}}"#, 17308),
            ("aggregate", #"{"pipeline":[{"$limit":1},{"$match":{"$text":{"$search":"a"}}}]}"#, 17313),
            ("aggregate", #"{"pipeline":[{"$facet":{"a":[{"$match":{"$text":{"$search":"a"}}}]}}]}"#, 2),
            (
                "aggregate",
                #"{"pipeline":[{"$lookup":{"from":"Item","as":"x","pipeline":[{"$match":{"$text":{"$search":"a"}}}]}}]}"#,
                2
            ),
        ]
    )
    func refused(action: String, members: String, code: Int) async throws {
        let indexes = try await filled()
        let error = await #expect(throws: ServiceError.self) {
            _ = try await indexes.fixture.perform(action, "Open", members, as: .system)
        }
        #expect(error?.serverCode == ServerErrorCode(code), "\(error?.message ?? "")")
        await indexes.fixture.database.close()
    }

    @Test("needs an index: 27 without one, and after it was dropped")
    func withoutIndex() async throws {
        let indexes = try await filled()
        _ = try await indexes.fixture.database.run(
            "SELECT tidegate.drop_index('indexes', 'todo', 'Open', 'Open_t_text')"
        )
        indexes.fixture.catalog.forgetAll()
        let error = await #expect(throws: ServiceError.self) {
            _ = try await indexes.ids(#""filter":{"$text":{"$search":"fox"}}"#)
        }
        #expect(error?.serverCode == ServerErrorCode(27))
        #expect(try await indexes.refusal(#"{"t":"text","n":1}"#)?.contains("keys.n") == true)
        #expect(
            try await indexes.refusal(#"{"t":"text"}"#, #"{"default_language":"klingon"}"#)?.contains(
                "options.default_language"
            ) == true
        )
        #expect(
            try await indexes.refusal(#"{"t":"text"}"#, #"{"weights":{"x":2}}"#)?.contains(
                "options.weights.x"
            ) == true
        )
        #expect(try await indexes.refusal(#"{"t":"text"}"#, #"{"unique":true}"#)?.hasPrefix("22023") == true)
        try await indexes.create(#"{"t":"text"}"#)
        #expect(try await indexes.refusal(#"{"n":"text"}"#)?.contains("a text index already") == true)
        await indexes.fixture.database.close()
    }

    @Test("is not for users, from whom rules may hide what is in the index")
    func hidden() async throws {
        let indexes = try await IndexFixture()
        let fixture = indexes.fixture
        func create(_ keys: String) async throws {
            _ = try await fixture.database.run(
                "SELECT tidegate.create_index('indexes', 'todo', 'Filtered', \(bind: .text(keys)))"
            )
            fixture.catalog.forgetAll()
        }
        try await fixture.insert(
            "Filtered",
            #"{"_id":1,"t":"fox","secret":"bird"}"#,
            #"{"_id":2,"t":"dog","secret":"fox"}"#,
            #"{"_id":3,"t":"fox","deleted":true}"#
        )
        try await create(#"{"t":"text","secret":"text"}"#)
        let find = #"{"filter":{"$text":{"$search":"fox"}},"projection":{"s":{"$meta":"textScore"}}}"#
        for action in ["find", "findOne", "countDocuments"] {
            let error = await #expect(throws: ServiceError.self) {
                _ = try await fixture.perform(
                    action,
                    "Filtered",
                    #"{"filter":{"$text":{"$search":"fox"}}}"#,
                    as: DataFixture.ann
                )
            }
            #expect(error?.message.contains("$text") == true)
        }
        #expect(try await fixture.documents("find", "Filtered", find).contains(#""_id":2"#))
        await fixture.database.close()
    }
}

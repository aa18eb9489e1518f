import Foundation
import TestSupport
import Testing

/// Other collections through a pipeline, code in a query, and walks that stop early; `peers.md` §6.2,
/// "cross-collection", "deny-list walk", "depth, size and cost", "regular expressions".
@Suite("Attack: barriers in pipelines and filters")
struct PipelineBarrierTests {
    static let forbidden: [String] = [
        #"{"$lookup":{"from":"Notes","localField":"a","foreignField":"b","as":"x"}}"#,
        #"{"$lookup":{"from":"Notes","pipeline":[],"as":"x"}}"#,
        #"{"$graphLookup":{"from":"Notes","startWith":"$a","connectFromField":"a","connectToField":"b","as":"x"}}"#,
        #"{"$unionWith":"Notes"}"#, #"{"$unionWith":{"coll":"Notes","pipeline":[]}}"#, #"{"$out":"Notes"}"#,
        #"{"$out":{"db":"tidegate","coll":"users"}}"#, #"{"$merge":{"into":"Notes"}}"#,
        #"{"$merge":"Notes"}"#,
        #"{"$facet":{"x":[{"$match":{}}]}}"#, #"{"$collStats":{}}"#, #"{"$indexStats":{}}"#,
        #"{"$currentOp":{}}"#,
        #"{"$geoNear":{"near":[0,0],"distanceField":"d"}}"#, #"{"$documents":[{"a":1}]}"#,
        #"{"$listSessions":{}}"#,
        #"{"$search":{"text":{"query":"x","path":"a"}}}"#, #"{"$changeStream":{}}"#,
        #"{"$planCacheStats":{}}"#,
        #"{"$LOOKUP":{"from":"Notes"}}"#, #"{"$lookup ":{"from":"Notes"}}"#, #"{"lookup":{"from":"Notes"}}"#,
        #"{"$match":{},"$lookup":{"from":"Notes","as":"x"}}"#,
        #"{"$\u006cookup":{"from":"Notes","localField":"a","foreignField":"b","as":"x"}}"#,
    ]

    @Test("no stage that reaches another collection is served, alone, late, or nested", arguments: forbidden)
    func stages(stage: String) async throws {
        let (api, user) = try await AttackApp.user()
        try await AttackApp.put(
            "Notes",
            #"{"_id":"\#(UUID().uuidString)","owner":"victim","text":"\#(AttackApp.marker)"}"#
        )
        for pipeline in [
            "[\(stage)]", #"[{"$match":{}},{"$sort":{"a":1}},\#(stage)]"#, #"[\#(stage),{"$match":{}}]"#,
            #"[{"$facet":{"a":[{"$match":{}}],"b":[\#(stage)]}}]"#,
            #"[{"$facet":{"a":[{"$facet":{"b":[\#(stage)]}}]}}]"#,
            #"[{"$lookup":{"from":"Open","pipeline":[\#(stage)],"as":"x"}}]"#,
            #"[{"$unionWith":{"coll":"Open","pipeline":[\#(stage)]}}]"#,
            #"[{"$match":{"a":{"b":[{"c":1}]}}},{"$addFields":{"x":{"y":[1]}}},\#(stage)]"#,
        ] {
            let answer = try await api.attack(
                "aggregate",
                "Open",
                #""pipeline":\#(pipeline)"#,
                as: user.bearer
            )
            #expect(answer.status == 400, "\(pipeline): \(answer.text)")
            #expect(!answer.text.contains(AttackApp.marker))
            let update = try await api.attack(
                "updateMany",
                "Open",
                #""filter":{"_id":"none"},"update":\#(pipeline),"upsert":true"#,
                as: user.bearer
            )
            #expect(update.status == 400, "\(pipeline): \(update.text)")
        }
    }

    /// What no user may say, in a filter and in an expression.
    private static let forbiddenTests = [
        #"{"$bitsAllSet":1}"#, #"{"$bitsAnyClear":[0]}"#, #"{"$near":[0,0]}"#, #"{"$geoWithin":{}}"#,
    ]
    private static let forbiddenFilters =
        [
            #"{"$where":"return true"}"#, #"{"$text":{"$search":"x"}}"#, #"{"$jsonSchema":{}}"#,
            #"{"$expr":{"$function":{"body":"return 1","args":[],"lang":"js"}}}"#,
            #"{"$expr":{"$setIsSubset":["$a","$b"]}}"#,
        ] + forbiddenTests.map { #"{"a":\#($0)}"# }

    /// Places in a filter, the last of which a walk that stops early would miss.
    private static let places = [
        "X", #"{"$and":[{"a":1},X]}"#, #"{"$or":[{"a":{"b":{"c":[1,{"d":1}]}}},X]}"#,
        #"{"$nor":[{"$and":[{"$or":[X]}]}]}"#,
        #"{"$and":[{"$or":[{"a":1},{"b":2}]},{"$or":[{"a":1},X]}]}"#,
    ]

    @Test("no operator that users may not use is missed, however it is nested", arguments: forbiddenFilters)
    func operators(filter: String) async throws {
        let (api, user) = try await AttackApp.user()
        for place in Self.places {
            let nested = place.replacingOccurrences(of: "X", with: filter)
            for (action, members) in [
                ("find", #""filter":\#(nested)"#), ("deleteMany", #""filter":\#(nested)"#),
                ("updateMany", #""filter":\#(nested),"update":{"$set":{"a":1}}"#),
                ("aggregate", #""pipeline":[{"$match":{"a":1}},{"$match":\#(nested)}]"#),
            ] {
                let answer = try await api.attack(action, "Open", members, as: user.bearer)
                #expect(answer.status == 400, "\(action) \(members): \(answer.text)")
            }
        }
    }

    @Test("nor in any place that holds an expression or a test")
    func everyPlace() async throws {
        let (api, user) = try await AttackApp.user()
        let call = #"{"$setIsSubset":["$a","$b"]}"#
        var requests: [(String, String)] = []
        for wrapped in [
            call, #"{"$and":[true,\#(call)]}"#, #"{"$cond":[true,1,\#(call)]}"#,
            #"{"a":{"b":[1,{"c":\#(call)}]}}"#,
            #"{"$let":{"vars":{"v":1},"in":\#(call)}}"#, #"{"$let":{"vars":{"v":\#(call)},"in":1}}"#,
            #"{"$map":{"input":[1],"as":"i","in":\#(call)}}"#,
            #"{"$filter":{"input":[1],"as":"i","cond":\#(call)}}"#,
            #"{"$reduce":{"input":[1],"initialValue":\#(call),"in":1}}"#,
            #"{"$reduce":{"input":[1],"initialValue":1,"in":\#(call)}}"#,
            #"{"$switch":{"branches":[{"case":true,"then":1}],"default":\#(call)}}"#,
            #"{"$switch":{"branches":[{"case":false,"then":1},{"case":true,"then":\#(call)}]}}"#,
            #"{"$dateToString":{"date":"$d","onNull":\#(call)}}"#,
        ] {
            requests += [
                ("find", #""filter":{"$expr":\#(wrapped)}"#), ("find", #""projection":{"x":\#(wrapped)}"#),
                ("aggregate", #""pipeline":[{"$project":{"x":\#(wrapped)}}]"#),
                ("aggregate", #""pipeline":[{"$addFields":{"x.y":\#(wrapped)}}]"#),
                ("aggregate", #""pipeline":[{"$group":{"_id":\#(wrapped)}}]"#),
                ("aggregate", #""pipeline":[{"$group":{"_id":1,"n":{"$sum":1},"x":{"$push":\#(wrapped)}}}]"#),
                ("aggregate", #""pipeline":[{"$redact":{"$cond":[\#(wrapped),"$$KEEP","$$PRUNE"]}}]"#),
                ("aggregate", #""pipeline":[{"$replaceWith":{"x":\#(wrapped)}}]"#),
                ("aggregate", #""pipeline":[{"$sortByCount":{"$ifNull":[1,\#(wrapped)]}}]"#),
                ("updateOne", #""filter":{},"update":[{"$set":{"x":\#(wrapped)}}]"#),
            ]
        }
        for test in Self.forbiddenTests {
            requests += [
                ("find", #""filter":{"a":{"$not":\#(test)}}"#),
                ("find", #""filter":{"a":{"$elemMatch":\#(test)}}"#),
                ("find", #""filter":{"a":{"$elemMatch":{"b":1,"c":\#(test)}}}"#),
                ("find", #""filter":{"a":{"$gt":1,"$lt":2},"b":\#(test)}"#),
                ("find", #""filter":{"a":{"$all":[{"$elemMatch":\#(test)}]}}"#),
                ("find", #""projection":{"a":{"$elemMatch":\#(test)}}"#),
                ("updateOne", #""filter":{},"update":{"$pull":{"a":\#(test)}}"#),
                ("updateOne", #""filter":{},"update":{"$pull":{"a":{"b":1,"c":\#(test)}}}"#),
                ("updateOne", #""filter":{},"update":{"$set":{"a.$[i]":1}},"arrayFilters":[{"i":\#(test)}]"#),
            ]
        }
        for (action, members) in requests {
            let answer = try await api.attack(action, "Open", members, as: user.bearer)
            #expect(answer.status == 400, "\(action) \(members): \(answer.text)")
        }
    }

    /// Small requests that would grow without a bound.
    private static let bombs = [
        #"{"$project":{"x":{"$range":[0,2000000000]}}}"#,
        #"{"$project":{"x":{"$reduce":{"input":{"$range":[0,60]},"initialValue":"xxxxxxxx","in":{"$concat":["$$value","$$value"]}}}}}"#,
        #"{"$project":{"x":{"$reduce":{"input":{"$range":[0,60]},"initialValue":[1],"in":{"$concatArrays":["$$value","$$value"]}}}}}"#,
        #"{"$project":{"x":{"$reduce":{"input":{"$range":[0,100000]},"initialValue":{},"in":{"a":"$$value"}}}}}"#,
        #"{"$project":{"x":{"$map":{"input":{"$range":[0,100000]},"in":{"$range":[0,100000]}}}}}"#,
    ]

    @Test("no expression grows past its bounds; others are answered meanwhile", arguments: bombs)
    func growth(stage: String) async throws {
        let (api, user) = try await AttackApp.user()
        let id = UUID().uuidString
        _ = try await api.attack("insertOne", "Open", #""document":{"_id":"\#(id)"}"#, as: user.bearer)
        let answer = try await api.attack(
            "aggregate",
            "Open",
            #""pipeline":[{"$match":{"_id":"\#(id)"}},\#(stage),{"$project":{"n":{"$size":{"$ifNull":["$x",[]]}}}}]"#,
            as: user.bearer
        )
        #expect(answer.status == 400, "\(stage): \(answer.text.prefix(300))")
        #expect(try await api.send("GET", "/health").status == 200)
    }

    @Test(
        "a pattern that backtracks, is broken or is too long is refused or bounded, and its error says nothing of data"
    )
    func patterns() async throws {
        let (api, user) = try await AttackApp.user()
        let id = UUID().uuidString
        let text = String(repeating: "a", count: 4000) + "!"
        _ = try await api.attack(
            "insertOne",
            "Open",
            #""document":{"_id":"\#(id)","s":"\#(text)"}"#,
            as: user.bearer
        )
        for pattern in [
            "^(a+)+$", "(a|aa)+$", "(a*)*b", "^(([a-z])+.)+[A-Z]([a-z])+$", "(?=(a+))a*b\\\\1",
            "((((((a*)*)*)*)*)*)*b",
            "(", "[", "a{99999}", "(?P<x", "\\\\", String(repeating: "(a", count: 3000),
            String(repeating: "a", count: 40_000),
        ] {
            for members in [
                #""filter":{"_id":"\#(id)","s":{"$regex":"\#(pattern)"}}"#,
                #""filter":{"_id":"\#(id)","s":{"$not":{"$regex":"\#(pattern)"}}}"#,
                #""filter":{"_id":"\#(id)","$expr":{"$regexMatch":{"input":"$s","regex":"\#(pattern)"}}}"#,
            ] {
                let answer = try await api.attack("find", "Open", members, as: user.bearer)
                #expect(
                    [200, 400].contains(answer.status),
                    "\(pattern.prefix(40)): \(answer.text.prefix(300))"
                )
                #expect(answer.status == 200 || !answer.text.contains("aaaa!"), "\(pattern.prefix(40))")
            }
        }
        #expect(try await api.send("GET", "/health").status == 200)
    }
}

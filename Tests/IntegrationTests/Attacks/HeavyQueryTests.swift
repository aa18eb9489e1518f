import Foundation
import TestSupport
import Testing

/// Requests that cost much, or whose errors could tell of what the caller may not read; issue 4, "Bad input".
@Suite("Attack: heavy queries, and errors that depend on data")
struct HeavyQueryTests {
    private static func list(_ count: Int, _ member: (Int) -> String) -> String {
        (0..<count).map(member).joined(separator: ",")
    }

    /// Members of a request, and the limit that refuses it; nil where it is served.
    private static let requests: [(action: String, members: String, limit: String?)] = [
        ("find", #""filter":{"a":{"$in":[\#(list(10_000) { "\($0)" })]}}"#, nil),
        ("find", #""filter":{"a":{"$in":[\#(list(100_000) { "\($0)" })]}}"#, "max-list-members"),
        ("find", #""filter":{"a":{"$nin":[\#(list(100_000) { "\"x\($0)\"" })]}}"#, "max-list-members"),
        ("find", #""filter":{"$or":[\#(list(1000) { "{\"f\($0)\":\($0)}" })]}"#, nil),
        ("find", #""filter":{"$or":[\#(list(1001) { "{\"f\($0)\":\($0)}" })]}"#, "max-conditions"),
        (
            "updateMany",
            #""filter":{"_id":"none"},"update":{"$set":{"a.$[i]":1}},"arrayFilters":[{"$or":[\#(list(1001) { "{\"i\":\($0)}" })]}]"#,
            "max-conditions"
        ),
        ("aggregate", #""pipeline":[\#(list(1000) { _ in #"{"$match":{}}"# })]"#, nil),
        ("aggregate", #""pipeline":[\#(list(999) { "{\"$set\":{\"x\":\($0)}}" }),{"$limit":1}]"#, nil),
        ("aggregate", #""pipeline":[\#(list(1001) { _ in #"{"$limit":1}"# })]"#, "1000 stages"),
    ]

    @Test(
        "the longest lists, filters and pipelines are served, longer ones refused by name, others meanwhile"
    )
    func longRequests() async throws {
        let (api, user) = try await AttackApp.user()
        let id = UUID().uuidString
        _ = try await api.attack("insertOne", "Open", #""document":{"_id":"\#(id)","a":1}"#, as: user.bearer)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (action, members, limit) in Self.requests {
                group.addTask {
                    let answer = try await api.attack(action, "Open", members, as: user.bearer)
                    let start = "\(action) \(members.prefix(60)): \(answer.text.prefix(300))"
                    if let limit {
                        #expect(answer.status == 400, "\(start)")
                        #expect(answer.text.contains(limit), "\(start)")
                    } else {
                        #expect(answer.status == 200, "\(start)")
                    }
                }
            }
            group.addTask {
                for _ in 0..<10 {
                    let answer = try await api.attack(
                        "findOne",
                        "Open",
                        #""filter":{"_id":"\#(id)"}"#,
                        as: user.bearer
                    )
                    #expect(answer.text.contains(id))
                }
            }
            try await group.waitForAll()
        }
    }

    /// Expressions that fail on the victim's document alone.
    private static let failing = [
        #"{"$divide":[1,"$zero"]}"#, #"{"$mod":[1,"$zero"]}"#, #"{"$toInt":"$text"}"#,
        #"{"$toDate":"$text"}"#,
        #"{"$toObjectId":"$text"}"#, #"{"$convert":{"input":"$text","to":"double"}}"#, #"{"$size":"$text"}"#,
        #"{"$arrayElemAt":["$text",0]}"#, #"{"$dateFromString":{"dateString":"$text"}}"#,
        #"{"$sqrt":"$negative"}"#, #"{"$ln":"$negative"}"#, #"{"$add":["$text",1]}"#,
        #"{"$substrBytes":["$umlaut",1,1]}"#,
        #"{"$regexMatch":{"input":"$zero","regex":"a"}}"#, #"{"$pow":["$zero",-1]}"#,
    ]

    @Test(
        "no expression in a filter, a pipeline or an update fails on a document that the caller may not read"
    )
    func foreignDocuments() async throws {
        let (api, user) = try await AttackApp.user()
        let id = UUID().uuidString
        try await AttackApp.put(
            "Notes",
            #"{"_id":"\#(id)","owner":"victim","zero":0,"negative":-1,"text":"\#(AttackApp.marker)","umlaut":"ä"}"#
        )
        for expression in Self.failing {
            for (action, members) in [
                ("find", #""filter":{"$expr":{"$gt":[\#(expression),0]}}"#),
                ("find", #""filter":{"_id":"\#(id)","$expr":{"$gt":[\#(expression),0]}}"#),
                ("findOne", #""filter":{"_id":"\#(id)"},"projection":{"x":\#(expression)}"#),
                ("deleteMany", #""filter":{"_id":"\#(id)","$expr":{"$gt":[\#(expression),0]}}"#),
                ("updateMany", #""filter":{"$expr":{"$gt":[\#(expression),0]}},"update":{"$set":{"a":1}}"#),
                ("updateOne", #""filter":{"_id":"\#(id)"},"update":[{"$set":{"x":\#(expression)}}]"#),
                ("aggregate", #""pipeline":[{"$match":{"$expr":{"$gt":[\#(expression),0]}}}]"#),
                ("aggregate", #""pipeline":[{"$group":{"_id":null,"x":{"$max":\#(expression)}}}]"#),
                (
                    "aggregate",
                    #""pipeline":[{"$setWindowFields":{"output":{"x":{"$push":\#(expression)}}}}]"#
                ), ("aggregate", #""pipeline":[{"$fill":{"output":{"x":{"value":\#(expression)}}}}]"#),
            ] {
                let answer = try await api.attack(action, "Notes", members, as: user.bearer)
                #expect(answer.status == 200, "\(action) \(members): \(answer.text)")
                #expect(!answer.text.contains(AttackApp.marker))
            }
        }
    }

    @Test("the same expressions do fail on the caller's own document: the test above can fail")
    func control() async throws {
        let (api, user) = try await AttackApp.user()
        let id = UUID().uuidString
        let inserted = try await api.attack(
            "insertOne",
            "Notes",
            #""document":{"_id":"\#(id)","owner":"\#(user.id)","zero":0,"negative":-1,"text":"t","umlaut":"ä"}"#,
            as: user.bearer
        )
        #expect(inserted.status == 201)
        for expression in Self.failing {
            let answer = try await api.attack(
                "aggregate",
                "Notes",
                #""pipeline":[{"$match":{"_id":"\#(id)"}},{"$project":{"x":\#(expression)}}]"#,
                as: user.bearer
            )
            #expect(answer.status == 400, "\(expression): \(answer.text)")
        }
    }
}

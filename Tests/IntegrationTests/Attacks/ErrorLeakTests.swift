import BSON
import Foundation
import MQL
import TestSupport
import Testing

/// Errors that quote what the caller may not see: every operator over hidden values, in every place that evaluates.
@Suite("Attack: errors that quote")
struct ErrorLeakTests {
    /// Calls of every operator that would fail, compare or convert, over a path `P`.
    private static func calls(_ name: String) -> [String] {
        [
            #"{"\#(name)":"$P"}"#, #"{"\#(name)":["$P"]}"#, #"{"\#(name)":["$P",1]}"#,
            #"{"\#(name)":[1,"$P"]}"#,
            #"{"\#(name)":["$P","$P","$P"]}"#, #"{"\#(name)":{"input":"$P"}}"#,
            #"{"\#(name)":{"input":"$P","to":"int"}}"#, #"{"\#(name)":{"date":"$P"}}"#,
            #"{"\#(name)":{"dateString":"$P"}}"#,
            #"{"\#(name)":{"input":"$P","find":"$P","replacement":"$P"}}"#,
            #"{"\#(name)":{"input":"$P","regex":"$P"}}"#,
            #"{"\#(name)":{"startDate":"$P","endDate":"$P","unit":"$P"}}"#,
            #"{"\#(name)":{"startDate":"$P","unit":"$P","amount":"$P"}}"#,
            #"{"\#(name)":{"date":"$P","format":"$P","timezone":"$P"}}"#, #"{"\#(name)":{"year":"$P"}}"#,
            #"{"\#(name)":{"field":"P","input":"$$ROOT","value":"$P"}}"#,
            #"{"\#(name)":{"input":"$P","n":"$P"}}"#,
            #"{"\#(name)":{"input":"$P","sortBy":1}}"#, #"{"\#(name)":{"inputs":["$P"]}}"#,
            #"{"\#(name)":{"input":"$P","chars":"$P"}}"#,
        ]
    }

    /// The calls of an operator that parse, at most three of them.
    private static func parsing(_ name: String, over path: String) throws -> [String] {
        let calls = calls(name).map { $0.replacingOccurrences(of: "P", with: path) }
        return calls.filter { call in
            guard let value = try? ExtendedJSON.readDocument(Array(call.utf8)) else { return false }
            return (try? ExpressionParser.parse(.document(value))) != nil
        }.prefix(3).map { $0 }
    }

    /// Collections whose documents the caller does not see at all, or not whole, and a place that evaluates.
    static let targets: [(collection: String, path: String, place: String)] = [
        ("Notes", "text", "filter"), ("Inexact", "text", "filter"), ("Inexact", "text", "stage"),
        ("Staff", "pin", "update"), ("Mixed", "pin", "stage"), ("Masked", "pin", "filter"),
    ]

    @Test("no operator quotes a hidden value", arguments: targets)
    func operators(collection: String, path: String, place: String) async throws {
        let (api, user) = try await AttackApp.user()
        let tag = UUID().uuidString
        let seen = #""name":"\#(tag)","owner":"victim","reader":"nobody""#
        try await AttackApp.put(
            collection,
            #"{"_id":"\#(tag)1",\#(seen),"\#(path)":"\#(AttackApp.marker)"}"#,
            #"{"_id":"\#(tag)2",\#(seen),"\#(path)":{"\#(AttackApp.marker)":["\#(AttackApp.marker)"]}}"#
        )
        var asked = 0
        for name in ExpressionOperator.allCases.map(\.rawValue) {
            for call in try Self.parsing(name, over: path) {
                asked += 1
                let filter = #""filter":{"name":"\#(tag)""#
                let (action, members) =
                    switch place {
                    case "filter": ("find", filter + #","$expr":{"$eq":[\#(call),1]}}"#)
                    case "update":
                        (
                            "updateMany",
                            filter + #"},"update":[{"$set":{"name":\#(call)}},{"$set":{"name":"\#(tag)"}}]"#
                        )
                    default:
                        (
                            "aggregate",
                            #""pipeline":[{"$match":{"name":"\#(tag)"}},{"$project":{"x":\#(call)}}]"#
                        )
                    }
                let answer = try await api.attack(action, collection, members, as: user.bearer)
                #expect([200, 400].contains(answer.status), "\(members): \(answer.text)")
                #expect(!answer.text.contains(AttackApp.marker), "\(action) \(members): \(answer.text)")
            }
        }
        #expect(asked > ExpressionOperator.allCases.count, "most operators have calls that parse")
    }

    @Test("the same operators do quote what the caller sees: the test above can fail")
    func control() async throws {
        let (api, user) = try await AttackApp.user()
        let id = UUID().uuidString
        _ = try await api.attack(
            "insertOne",
            "Open",
            #""document":{"_id":"\#(id)","text":"\#(AttackApp.marker)"}"#,
            as: user.bearer
        )
        let answer = try await api.attack(
            "aggregate",
            "Open",
            #""pipeline":[{"$match":{"_id":"\#(id)"}},{"$project":{"x":{"$toInt":"$text"}}}]"#,
            as: user.bearer
        )
        #expect(answer.status == 400)
        #expect(answer.text.contains(AttackApp.marker), "\(answer.text)")
    }

    @Test("a duplicate key, a schema and an index tell of what was sent, and of nothing else")
    func conflicts() async throws {
        let (api, user) = try await AttackApp.user()
        let id = UUID().uuidString
        try await AttackApp.put("Notes", #"{"_id":"\#(id)","owner":"victim","text":"\#(AttackApp.marker)"}"#)
        for (action, members) in [
            ("insertOne", #""document":{"_id":"\#(id)","owner":"\#(user.id)"}"#),
            ("insertMany", #""documents":[{"_id":"\#(id)","owner":"\#(user.id)"}]"#),
            (
                "updateOne",
                #""filter":{"_id":"\#(id)","owner":"\#(user.id)"},"update":{"$set":{"text":"t"}},"upsert":true"#
            ),
            ("replaceOne", #""filter":{"_id":"\#(id)"},"replacement":{"owner":"\#(user.id)"},"upsert":true"#),
        ] {
            let answer = try await api.attack(action, "Notes", members, as: user.bearer)
            #expect(answer.status == 400, "\(answer.text)")
            #expect(
                !answer.text.contains(AttackApp.marker) && !answer.text.contains("victim"),
                "\(answer.text)"
            )
        }
        let collection = "Unique-\(UUID().uuidString.prefix(8))"
        try await AttackApp.put(collection, #"{"_id":"a","mail":"m","text":"\#(AttackApp.marker)"}"#)
        try await AttackApp.sql("select tidegate.promote_field('vault', '\(collection)', 'mail', 'string')")
        try await AttackApp.sql(
            "select tidegate.create_index('\(AttackApp.clientAppID)', 'vault', '\(collection)', '{\"mail\": 1}', '{\"unique\": true}')"
        )
        for (action, members) in [
            ("insertOne", #""document":{"_id":"b","mail":"m"}"#),
            ("insertMany", #""documents":[{"_id":"c"},{"_id":"d","mail":"m"}]"#),
            ("updateOne", #""filter":{"_id":"e"},"update":{"$set":{"mail":"m"}},"upsert":true"#),
        ] {
            let answer = try await api.attack(action, collection, members, as: user.bearer)
            #expect(answer.status == 400, "\(answer.text)")
            #expect(answer.error.contains("E11000"), "\(answer.text)")
            #expect(!answer.text.contains(AttackApp.marker), "\(answer.text)")
            for word in ["DETAIL", "Key (", "already exists", "vault.\"", "SQLSTATE"] {
                #expect(!answer.text.contains(word), "\(answer.text)")
            }
        }
    }
}

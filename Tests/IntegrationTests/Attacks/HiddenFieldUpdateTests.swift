import Foundation
import TestSupport
import Testing

/// Changes as an oracle: by their counts, by what they refuse, and by what they copy into fields that can be read.
@Suite("Attack: hidden fields through updates")
struct HiddenFieldUpdateTests {
    /// Changes whose outcome could depend on what is hidden.
    private static let updates = [
        #"{"$set":{"F":10}}"#, #"{"$set":{"F":"1111"}}"#, #"{"$min":{"F":50}}"#, #"{"$max":{"F":50}}"#,
        #"{"$inc":{"F":1}}"#,
        #"{"$mul":{"F":1}}"#, #"{"$unset":{"F":""}}"#, #"{"$rename":{"F":"name"}}"#,
        #"{"$rename":{"F":"team"}}"#,
        #"{"$push":{"F":1}}"#, #"{"$addToSet":{"F":1}}"#, #"{"$pull":{"F":1}}"#,
        #"{"$pull":{"F":{"$gt":0}}}"#,
        #"{"$pullAll":{"F":[1,2]}}"#, #"{"$pop":{"F":1}}"#, #"{"$bit":{"F":{"or":0}}}"#,
        #"{"$currentDate":{"F":true}}"#,
        #"{"$setOnInsert":{"F":1}}"#, #"[{"$set":{"name":"$F"}}]"#,
        #"[{"$set":{"name":{"$ifNull":["$F","x"]}}}]"#,
        #"[{"$set":{"name":{"$cond":[{"$gt":["$F",50]},"big","small"]}}}]"#, #"[{"$set":{"F":10}}]"#,
        #"[{"$unset":"F"}]"#,
        #"[{"$set":{"name":{"$toString":{"$getField":"F"}}}}]"#,
        #"[{"$replaceWith":{"$mergeObjects":["$$ROOT",{"name":"$F"}]}}]"#,
        #"[{"$set":{"name":{"$toInt":"$F"}}}]"#,
        #"[{"$set":{"name":{"$divide":[1,{"$subtract":["$F",10]}]}}}]"#,
        #"{"F":10,"name":"x"}"#, #"{"$set":{"items.$[i].n":7}},"arrayFilters":[{"i.cost":{"$gt":5}}]"#,
        #"{"$pull":{"items":{"cost":{"$gt":5}}}}"#, #"{"$set":{"contact":{"city":"c","phone":"1"}}}"#,
        #"{"$set":{"contact":{"city":"new"}}}"#, #"{"$unset":{"contact":""}}"#,
        #"{"$set":{"items.0.cost":1}}"#,
        #"{"$set":{"items.$[].n":3}}"#, #"{"$push":{"items":{"sku":"s3","n":3}}}"#,
    ]

    @Test("no update tells, copies or destroys what is hidden", arguments: HiddenField.paths)
    func updates(collection: String, path: String) async throws {
        try await HiddenField.protect()
        let (api, user) = try await AttackApp.user()
        let twin = try HiddenField.twin(collection)
        let pairs = try await HiddenField.put(twin, pairs: Self.updates.count)
        let before = try await Self.hidden(twin.collection, pairs)
        for (update, ids) in zip(Self.updates, pairs) {
            let action = update.hasPrefix(#"{"F""#) ? "replaceOne" : "updateOne"
            let member = action == "replaceOne" ? "replacement" : "update"
            let change = update.replacingOccurrences(of: "F", with: path)
            let (first, second) = try await HiddenField.answers(ids) { id in
                try await api.attack(
                    action,
                    twin.collection,
                    #""filter":{"_id":"\#(id)"},"\#(member)":\#(change)"#,
                    as: user.bearer
                )
            }
            #expect(first == second, "\(twin.collection) \(change)")
        }
        let (seen, other) = try await Self.documents(twin.collection, pairs, user)
        for (update, (one, two)) in zip(Self.updates, zip(seen, other)) {
            #expect(one == two, "\(twin.collection) \(path) \(update)")
        }
        let after = try await Self.hidden(twin.collection, pairs)
        for ((update, ids), (old, new)) in zip(zip(Self.updates, pairs), zip(before, after)) where old != new
        {
            Issue.record("\(twin.collection) \(path) \(update) \(ids): \(old) became \(new)")
        }
    }

    /// What the caller sees of the one and of the other document of each pair, ids taken out.
    private static func documents(
        _ collection: String,
        _ pairs: [(String, String)],
        _ user: APICaller.User
    ) async throws -> ([String], [String]) {
        let api = try await AttackApp.caller()
        var columns: [[String]] = []
        for ids in [pairs.map(\.0), pairs.map(\.1)] {
            let list = ids.map { "\"\($0)\"" }.joined(separator: ",")
            let answer = try await api.attack(
                "find",
                collection,
                #""filter":{"_id":{"$in":[\#(list)]}}"#,
                as: user.bearer
            )
            #expect(!answer.text.contains(AttackApp.marker))
            let found = answer.object["documents"] as? [[String: Any]] ?? []
            #expect(found.count == ids.count)
            columns.append(
                try ids.map { id in
                    var document = try #require(found.first { $0["_id"] as? String == id })
                    document["_id"] = nil
                    let data = try JSONSerialization.data(withJSONObject: document, options: .sortedKeys)
                    return String(decoding: data, as: UTF8.self)
                }
            )
        }
        return (columns[0], columns[1])
    }

    /// What no caller may see or change of each pair, as it is stored.
    private static func hidden(_ collection: String, _ pairs: [(String, String)]) async throws -> [String] {
        let ids = pairs.flatMap { [$0.0, $0.1] }.map { "'\($0)'" }.joined(separator: ",")
        let secrets = collection == "Masked" ? "'{pin}'" : "'{pin,salary,list,flags,owner}'"
        let nested =
            collection == "Masked"
            ? "''"
            : "coalesce((doc->'contact'->'phone')::text, '-') || jsonb_path_query_array(doc, '$.items[*].cost')"
        let text = try await AttackApp.sql(
            """
            select (select string_agg(coalesce((doc->k)::text, '-'), '|') from unnest(\(secrets)::text[]) k) || \(nested)
            from unnest(array[\(ids)]) with ordinality i (id, place) join vault."\(collection)" on doc->>'_id' = i.id
            order by place
            """
        )
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines.count == 2 * pairs.count)
        return stride(from: 0, to: lines.count - 1, by: 2).map { lines[$0] + " / " + lines[$0 + 1] }
    }
}

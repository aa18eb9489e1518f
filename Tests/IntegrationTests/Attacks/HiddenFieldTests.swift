import Foundation
import TestSupport
import Testing

/// A field that a caller may not read must not be found out by asking; `peers.md` §6.2 row 3, `rules.md` D10.
///
/// Every test puts two documents that differ in what is hidden alone, asks the same of both, and wants the same
/// answer: then no answer can tell what is hidden.
@Suite("Attack: hidden fields as an oracle")
struct HiddenFieldTests {
    /// Documents as they are seen, `ID` for their ids, and what is hidden in the one and the other.
    private struct Twin {
        let collection: String
        let visible: String
        let first: String
        let second: String
    }

    private static let staff = Twin(
        collection: "Staff",
        visible:
            #""name":"x","team":"t","contact":{"city":"c"PRIVATE},"items":[{"sku":"s1","n":1COST},{"sku":"s2","n":2COST}]"#,
        first: #""salary":10,"pin":"1111","list":[1,2],"flags":{"a":1}"#,
        second: #""salary":90,"pin":"HIDDEN-5f3a","list":["x"],"flags":"text""#
    )

    private static let twins: [Twin] = [
        staff,
        Twin(
            collection: "Mixed",
            visible: #""name":"x""#,
            first:
                #""owner":"o1","salary":10,"pin":"1111","list":[1],"contact":{"phone":"1"},"items":[{"sku":"s1","cost":5}]"#,
            second: #""owner":"o2","salary":90,"pin":"HIDDEN-5f3a","flags":1"#
        ),
        Twin(
            collection: "Masked",
            visible: #""name":"x","salary":1"#,
            first: #""pin":"1111""#,
            second: #""pin":"HIDDEN-5f3a""#
        ),
    ]

    /// What a caller may try; `F` is a hidden path.
    private static let conditions: [String] = [
        #"{"F":10}"#, #"{"F":{"$gt":50}}"#, #"{"F":{"$exists":true}}"#, #"{"F":null}"#, #"{"F":{"$ne":10}}"#,
        #"{"F":{"$in":[10,"1111"]}}"#, #"{"F":{"$nin":[10]}}"#, #"{"F":{"$type":"int"}}"#,
        #"{"F":{"$regex":"^H"}}"#,
        #"{"F":{"$not":{"$gt":50}}}"#, #"{"F":{"$size":2}}"#, #"{"F":{"$all":[1]}}"#,
        #"{"F":{"$mod":[20,10]}}"#,
        #"{"F":{"$elemMatch":{"$gt":1}}}"#, #"{"F":{"$elemMatch":{"a":1}}}"#,
        #"{"F":{"$all":[{"$elemMatch":{"$gt":1}}]}}"#,
        #"{"$or":[{"F":10},{"name":"none"}]}"#, #"{"$and":[{"name":"x"},{"F":{"$gt":50}}]}"#,
        #"{"$nor":[{"F":10}]}"#,
        #"{"$or":[{"$and":[{"$nor":[{"F":{"$gt":50}}]}]}]}"#, #"{"name":"x","F":{"$lt":50}}"#,
        #"{"$expr":{"$gt":["$F",50]}}"#, #"{"$expr":{"$eq":[{"$type":"$F"},"int"]}}"#,
        #"{"$expr":{"$eq":[{"$getField":"F"},10]}}"#, #"{"$expr":{"$gt":["$$ROOT.F",50]}}"#,
        #"{"$expr":{"$gt":["$$CURRENT.F",50]}}"#,
        #"{"$expr":{"$gt":[{"$size":{"$objectToArray":"$$ROOT"}},6]}}"#,
        #"{"$expr":{"$let":{"vars":{"d":"$$ROOT"},"in":{"$gt":["$$d.F",50]}}}}"#,
        #"{"$expr":{"$let":{"vars":{"CURRENT":{"x":"$F"}},"in":{"$gt":["$x",50]}}}}"#,
        #"{"$expr":{"$gt":[{"$toInt":"$F"},50]}}"#, #"{"$expr":{"$divide":[1,{"$subtract":["$F",10]}]}}"#,
    ]

    /// Hidden paths: by name, below, above, through arrays, at places, in another case, and one that nothing has.
    static let paths: [(collection: String, path: String)] = [
        ("Staff", "salary"), ("Staff", "pin"), ("Staff", "list.0"), ("Staff", "flags.a"),
        ("Staff", "contact.phone"),
        ("Staff", "items.cost"), ("Staff", "items.1.cost"), ("Staff", "contact"), ("Staff", "items"),
        ("Staff", "SALARY"), ("Mixed", "salary"), ("Mixed", "pin"), ("Mixed", "owner"), ("Mixed", "items.0"),
        ("Mixed", "contact.phone"), ("Mixed", "flags"), ("Masked", "pin"), ("Masked", "pin.0"),
    ]

    private static func twin(_ collection: String) throws -> Twin {
        try #require(twins.first { $0.collection == collection })
    }

    private static func protect() async throws {
        let api = try await AttackApp.caller()
        try await AttackApp.sql("select tidegate.set_hidden_field_queries('\(api.app)', false)")
        try await eventually {
            let user = try await api.newUser()
            return try await api.attack("find", "Staff", #""filter":{"salary":1}"#, as: user.bearer).status
                == 400
        }
    }

    /// Pairs of documents that look the same to the caller, under ids of their own.
    private static func put(_ twin: Twin, pairs: Int) async throws -> [(String, String)] {
        var ids: [[String]] = []
        var documents: [String] = []
        for _ in 0..<pairs {
            var pair: [String] = []
            for (hidden, secret) in [(twin.first, "1"), (twin.second, "9")] {
                let id = UUID().uuidString
                let visible = twin.visible.replacingOccurrences(
                    of: "PRIVATE",
                    with: #","phone":"\#(secret)""#
                )
                .replacingOccurrences(of: "COST", with: #","cost":\#(secret)"#)
                documents.append(#"{"_id":"\#(id)",\#(visible),\#(hidden)}"#)
                pair.append(id)
            }
            ids.append(pair)
        }
        try await AttackApp.put(twin.collection, documents)
        return ids.map { ($0[0], $0[1]) }
    }

    /// The same request about the one and the other; what their own ids make different is taken out.
    private static func answers(
        _ ids: (String, String),
        _ request: (String) async throws -> APICaller.Answer
    ) async throws -> (String, String) {
        var texts: [String] = []
        for id in [ids.0, ids.1] {
            let answer = try await request(id)
            #expect(answer.status == 200 || answer.status == 400, "\(answer.text)")
            let text = "\(answer.status) \(answer.text)".replacingOccurrences(of: id, with: "ID")
            texts.append(text.replacing(/logs\?co_id=[0-9a-f]{24}/, with: "logs"))
        }
        #expect(!(texts[0] + texts[1]).contains(AttackApp.marker), "\(texts)")
        return (texts[0], texts[1])
    }

    @Test("no filter tells: by match, count, order, or error", arguments: paths)
    func filters(collection: String, path: String) async throws {
        try await Self.protect()
        let (api, user) = try await AttackApp.user()
        let twin = try Self.twin(collection)
        for ids in try await Self.put(twin, pairs: 1) {
            for (index, condition) in Self.conditions.enumerated() {
                let filter = condition.replacingOccurrences(of: "F", with: path)
                let (first, second) = try await Self.answers(ids) { id in
                    try await api.attack(
                        "find",
                        twin.collection,
                        #""filter":{"$and":[{"_id":"\#(id)"},\#(filter)]}"#,
                        as: user.bearer
                    )
                }
                #expect(first == second, "\(twin.collection) \(filter)")
                guard index.isMultiple(of: 2) else { continue }
                // The same in a pipeline, where hidden fields count as absent.
                let (grouped, other) = try await Self.answers(ids) { id in
                    try await api.attack(
                        "aggregate",
                        twin.collection,
                        #""pipeline":[{"$match":{"_id":"\#(id)"}},{"$match":\#(filter)},{"$count":"n"}]"#,
                        as: user.bearer
                    )
                }
                #expect(grouped == other, "\(twin.collection) \(filter)")
                // And as a write that would tell by its counts; the write itself is refused or changes nothing.
                let (updated, again) = try await Self.answers(ids) { id in
                    try await api.attack(
                        "updateMany",
                        twin.collection,
                        #""filter":{"$and":[{"_id":"\#(id)"},\#(filter)]},"update":{"$set":{"name":"x"}}"#,
                        as: user.bearer
                    )
                }
                #expect(updated == again, "\(twin.collection) \(filter)")
            }
        }
    }

    @Test("no order and no projection tells")
    func orders() async throws {
        try await Self.protect()
        let (api, user) = try await AttackApp.user()
        for twin in Self.twins {
            let pairs = try await Self.put(twin, pairs: 1)
            let (first, second) = try #require(pairs.first)
            for path in Self.paths.filter({ $0.collection == twin.collection }).map(\.path) {
                for direction in [1, -1] {
                    let answer = try await api.attack(
                        "find",
                        twin.collection,
                        #""filter":{"_id":{"$in":["\#(first)","\#(second)"]}},"sort":{"\#(path)":\#(direction)}"#,
                        as: user.bearer
                    )
                    guard answer.status == 200 else {
                        #expect(answer.errorCode == "InvalidParameter")
                        #expect(answer.error.contains(path))
                        continue
                    }
                    let ids = (answer.object["documents"] as? [[String: Any]])?.compactMap {
                        $0["_id"] as? String
                    }
                    let byID = [first, second].sorted()
                    // What is seen is equal, so that `_id` decides.
                    #expect(ids == byID, "\(twin.collection) \(path) \(direction)")
                }
                for projection in [
                    #"{"x":"$\#(path)"}"#, #"{"x":{"$ifNull":["$\#(path)","none"]}}"#, #"{"\#(path)":1}"#,
                    #"{"name":1,"x":{"$getField":"\#(path)"}}"#, #"{"x":"$$ROOT"}"#,
                    #"{"x":{"$objectToArray":"$$ROOT"}}"#,
                ] {
                    let (one, other) = try await Self.answers((first, second)) { id in
                        try await api.attack(
                            "find",
                            twin.collection,
                            #""filter":{"_id":"\#(id)"},"projection":\#(projection)"#,
                            as: user.bearer
                        )
                    }
                    #expect(one == other, "\(twin.collection) \(projection)")
                }
            }
        }
    }

    /// Stages that look at a field, or at all of them.
    private static let stages = [
        #"{"$group":{"_id":"$F"}}"#, #"{"$group":{"_id":null,"x":{"$max":"$F"}}}"#,
        #"{"$group":{"_id":null,"x":{"$push":"$$ROOT"}}}"#,
        #"{"$project":{"x":"$F"}}"#, #"{"$addFields":{"x":"$F"}}"#,
        #"{"$addFields":{"x":{"$getField":"F"}}}"#,
        #"{"$set":{"x":{"$mergeObjects":["$$ROOT",{}]}}}"#, #"{"$unwind":"$F"}"#,
        #"{"$unwind":{"path":"$F","preserveNullAndEmptyArrays":true}}"#, #"{"$sortByCount":"$F"}"#,
        #"{"$bucket":{"groupBy":"$F","boundaries":[0,50,100],"default":"other"}}"#,
        #"{"$bucketAuto":{"groupBy":"$F","buckets":2}}"#, #"{"$replaceRoot":{"newRoot":{"x":"$F"}}}"#,
        #"{"$replaceWith":{"$mergeObjects":["$$CURRENT",{"x":"$F"}]}}"#,
        #"{"$redact":{"$cond":[{"$gt":["$F",50]},"$$KEEP","$$PRUNE"]}}"#, #"{"$sort":{"F":-1}}"#,
        #"{"$unset":"F"}"#,
        #"{"$project":{"x":{"$objectToArray":"$$ROOT"}}}"#, #"{"$project":{"x":{"$toInt":"$F"}}}"#,
        #"{"$project":{"x":{"$divide":[1,{"$subtract":["$F",10]}]}}}"#,
    ]

    @Test("no stage of a pipeline tells, first or after others", arguments: paths)
    func pipelines(collection: String, path: String) async throws {
        let (api, user) = try await AttackApp.user()
        let twin = try Self.twin(collection)
        for ids in try await Self.put(twin, pairs: 1) {
            for stage in Self.stages {
                let stage = stage.replacingOccurrences(of: "F", with: path)
                for before in ["", #"{"$sort":{"name":1}},{"$limit":5},"#] {
                    let (first, second) = try await Self.answers(ids) { id in
                        try await api.attack(
                            "aggregate",
                            twin.collection,
                            #""pipeline":[{"$match":{"_id":"\#(id)"}},\#(before)\#(stage)]"#,
                            as: user.bearer
                        )
                    }
                    #expect(first == second, "\(twin.collection) \(stage)")
                }
            }
        }
    }

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

    @Test("no update tells, copies or destroys what is hidden", arguments: paths)
    func updates(collection: String, path: String) async throws {
        try await Self.protect()
        let (api, user) = try await AttackApp.user()
        let twin = try Self.twin(collection)
        let pairs = try await Self.put(twin, pairs: Self.updates.count)
        let before = try await Self.hidden(twin.collection, pairs)
        for (update, ids) in zip(Self.updates, pairs) {
            let action = update.hasPrefix(#"{"F""#) ? "replaceOne" : "updateOne"
            let member = action == "replaceOne" ? "replacement" : "update"
            let change = update.replacingOccurrences(of: "F", with: path)
            let (first, second) = try await Self.answers(ids) { id in
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

    @Test("a field that no role shows is refused by name; one that some document shows is taken as absent")
    func refusals() async throws {
        try await Self.protect()
        let (api, user) = try await AttackApp.user()
        for path in ["salary", "list.0", "contact.phone", "items.0.cost", "items.cost"] {
            let answer = try await api.attack(
                "find",
                "Staff",
                #""filter":{"\#(path)":{"$gt":1}}"#,
                as: user.bearer
            )
            #expect(answer.status == 400)
            #expect(answer.errorCode == "InvalidParameter")
            #expect(answer.error == "field '\(path)' cannot be queried, because it is not readable")
        }
        let id = UUID().uuidString
        let own = try await api.attack(
            "insertOne",
            "Mixed",
            #""document":{"_id":"\#(id)","owner":"\#(user.id)","name":"mine","salary":70}"#,
            as: user.bearer
        )
        #expect(own.status == 201, "\(own.text)")
        try await AttackApp.put(
            "Mixed",
            #"{"_id":"\#(id)-other","owner":"else","name":"theirs","salary":70}"#
        )
        let found = try await api.attack(
            "find",
            "Mixed",
            #""filter":{"_id":{"$in":["\#(id)","\#(id)-other"]},"salary":{"$gt":50}}"#,
            as: user.bearer
        )
        #expect(found.text.contains("mine"))
        #expect(!found.text.contains("theirs"))
        let absent = try await api.attack(
            "find",
            "Mixed",
            #""filter":{"_id":{"$in":["\#(id)","\#(id)-other"]},"salary":null}"#,
            as: user.bearer
        )
        #expect(absent.text == #"{"documents":[{"_id":"\#(id)-other","name":"theirs"}]}"#)
    }

    @Test("an imported app answers as the hosted service did until it is told otherwise; updates never copy")
    func imported() async throws {
        let (api, user) = try await SharedServer.user()
        let id = UUID().uuidString
        try Shell.psql(
            api.server.database,
            """
            select tidegate.ensure_collection('todo', 'Fields');
            insert into todo."Fields" (doc) values ('{"_id":"\(id)","shown":1,"hidden":3}')
            """
        )
        // The oracle that the tests above look for: this is what they see when it is open.
        let found = try await api.act(
            "find",
            "Fields",
            #""filter":{"_id":"\#(id)","hidden":3}"#,
            as: user.bearer
        )
        #expect(found.text == #"{"documents":[{"_id":"\#(id)","shown":1}]}"#)
        let other = try await api.act(
            "find",
            "Fields",
            #""filter":{"_id":"\#(id)","hidden":4}"#,
            as: user.bearer
        )
        #expect(other.text == #"{"documents":[]}"#)
        let copy = try await api.act(
            "updateOne",
            "Fields",
            #""filter":{"_id":"\#(id)"},"update":[{"$set":{"shown":{"$ifNull":["$hidden","absent"]}}}]"#,
            as: user.bearer
        )
        #expect(copy.text == #"{"matchedCount":1,"modifiedCount":1}"#)
        let after = try await api.act("findOne", "Fields", #""filter":{"_id":"\#(id)"}"#, as: user.bearer)
        #expect(after.text == #"{"document":{"_id":"\#(id)","shown":"absent"}}"#)
        let error = try await api.act(
            "find",
            "Fields",
            #""filter":{"_id":"\#(id)","$expr":{"$eq":[{"$divide":[1,{"$subtract":["$hidden",3]}]},1]}}"#,
            as: user.bearer
        )
        #expect(error.status == 200, "\(error.text)")
    }
}

import Foundation
import TestSupport
import Testing

/// A field that a caller may not read must not be found out by asking; `peers.md` §6.2 row 3, `rules.md` D10.
///
/// Every test puts two documents that differ in what is hidden alone, asks the same of both, and wants the same
/// answer: then no answer can tell what is hidden.
@Suite("Attack: hidden fields as an oracle")
struct HiddenFieldTests {
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

    @Test("no filter tells: by match, count, order, or error", arguments: HiddenField.paths)
    func filters(collection: String, path: String) async throws {
        try await HiddenField.protect()
        let (api, user) = try await AttackApp.user()
        let twin = try HiddenField.twin(collection)
        for ids in try await HiddenField.put(twin, pairs: 1) {
            for (index, condition) in Self.conditions.enumerated() {
                let filter = condition.replacingOccurrences(of: "F", with: path)
                let (first, second) = try await HiddenField.answers(ids) { id in
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
                let (grouped, other) = try await HiddenField.answers(ids) { id in
                    try await api.attack(
                        "aggregate",
                        twin.collection,
                        #""pipeline":[{"$match":{"_id":"\#(id)"}},{"$match":\#(filter)},{"$count":"n"}]"#,
                        as: user.bearer
                    )
                }
                #expect(grouped == other, "\(twin.collection) \(filter)")
                // And as a write that would tell by its counts; the write itself is refused or changes nothing.
                let (updated, again) = try await HiddenField.answers(ids) { id in
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
        try await HiddenField.protect()
        let (api, user) = try await AttackApp.user()
        for twin in HiddenField.twins {
            let pairs = try await HiddenField.put(twin, pairs: 1)
            let (first, second) = try #require(pairs.first)
            for path in HiddenField.paths.filter({ $0.collection == twin.collection }).map(\.path) {
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
                    let (one, other) = try await HiddenField.answers((first, second)) { id in
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

    @Test("no stage of a pipeline tells, first or after others", arguments: HiddenField.paths)
    func pipelines(collection: String, path: String) async throws {
        let (api, user) = try await AttackApp.user()
        let twin = try HiddenField.twin(collection)
        for ids in try await HiddenField.put(twin, pairs: 1) {
            for stage in Self.stages {
                let stage = stage.replacingOccurrences(of: "F", with: path)
                for before in ["", #"{"$sort":{"name":1}},{"$limit":5},"#] {
                    let (first, second) = try await HiddenField.answers(ids) { id in
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

    @Test("a field that no role shows is refused by name; one that some document shows is taken as absent")
    func refusals() async throws {
        try await HiddenField.protect()
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

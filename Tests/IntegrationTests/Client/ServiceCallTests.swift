import Foundation
import TestSupport
import Testing

// Each test keeps to documents with a `tag` of its own: the collections are shared.
@Suite("The MongoDB service")
struct ServiceCallTests {
    private let tag = UUID().uuidString

    /// Documents `{_id: {"$oid"}, tag, n}` as SDKs write them.
    private func insert(_ call: ServiceCall, _ numbers: [Int]) async throws {
        let documents = numbers.map { #"{"tag":"\#(tag)","n":{"$numberInt":"\#($0)"}}"# }
        let answer = try await call("insertMany", #""documents":[\#(documents.joined(separator: ","))]"#)
        #expect(answer.status == 200, "\(answer.text)")
        let ids = try #require(answer.object["insertedIds"] as? [[String: String]])
        #expect(ids.count == numbers.count && ids.allSatisfy { $0["$oid"]?.count == 24 })
    }

    /// The numbers that are there, in order.
    private func numbers(_ call: ServiceCall) async throws -> String {
        let answer = try await call(
            "find",
            #""query":{"tag":"\#(tag)"},"project":{"n":1,"_id":0},"sort":{"n":{"$numberInt":"1"}}"#
        )
        return answer.text.replacingOccurrences(of: #"{"n":{"$numberInt":""#, with: "")
            .replacingOccurrences(of: #""}}"#, with: "")
    }

    @Test("finds, counts and aggregates, in canonical EJSON under exactly application/json")
    func reads() async throws {
        let call = try await ServiceCall.start()
        try await insert(call, [3, 1, 2])
        let query = #""query":{"tag":"\#(tag)"}"#
        let found = try await call(
            "find",
            "\(query),\(#""project":{"n":1,"_id":0},"sort":{"n":-1},"limit":{"$numberLong":"2"}"#)"
        )
        #expect(found.status == 200)
        #expect(found.contentType == "application/json")
        #expect(found.text == #"[{"n":{"$numberInt":"3"}},{"n":{"$numberInt":"2"}}]"#)
        // Any kind of number is a limit; null is no member at all.
        for limit in ["2", #"{"$numberInt":"2"}"#, #"{"$numberDouble":"2.0"}"#] {
            let text = try await call("find", "\(query),\"limit\":\(limit),\"sort\":null").text
            #expect(text.components(separatedBy: #""tag""#).count == 3, "\(limit)")
        }
        let one = try await call(
            "findOne",
            "\(query),\(#""project":{"n":1,"_id":0},"sort":{"n":1},"limit":1"#)"
        )
        #expect(one.text == #"{"n":{"$numberInt":"1"}}"#)
        #expect(try await call("findOne", #""query":{"tag":"none-\#(tag)"}"#).text == "null")
        #expect(try await call("count", query).text == #"{"$numberLong":"3"}"#)
        #expect(try await call("count", "\(query),\"limit\":2").text == #"{"$numberLong":"2"}"#)
        let distinct = try await call("distinct", "\(query),\"key\":\"n\"")
        for number in 1...3 { #expect(distinct.text.contains(#"{"$numberInt":"\#(number)"}"#)) }
        #expect(
            distinct.text.utf8.count
                == #"[{"$numberInt":"1"},{"$numberInt":"2"},{"$numberInt":"3"}]"#.utf8.count
        )
        let sum = #"[{"$match":{"tag":"\#(tag)"}},{"$group":{"_id":null,"sum":{"$sum":"$n"}}}]"#
        #expect(
            try await call("aggregate", "\"pipeline\":\(sum)").text
                == #"[{"_id":null,"sum":{"$numberInt":"6"}}]"#
        )
    }

    @Test("inserts, updates and deletes with the counts that realm-core reads")
    func writes() async throws {
        let call = try await ServiceCall.start()
        let inserted = try await call("insertOne", #""document":{"_id":"\#(tag)","tag":"\#(tag)","n":1}"#)
        #expect(inserted.status == 200)
        #expect(inserted.text == #"{"insertedId":"\#(tag)"}"#)
        try await insert(call, [2, 3])
        let query = #""query":{"tag":"\#(tag)"}"#
        let one = try await call("updateOne", #""query":{"_id":"\#(tag)"},"update":{"$set":{"n":4}}"#)
        #expect(one.text == #"{"matchedCount":{"$numberInt":"1"},"modifiedCount":{"$numberInt":"1"}}"#)
        let many = try await call("updateMany", "\(query),\(#""update":{"$inc":{"n":1}},"upsert":false"#)")
        #expect(many.text == #"{"matchedCount":{"$numberInt":"3"},"modifiedCount":{"$numberInt":"3"}}"#)
        #expect(try await numbers(call) == "[3,4,5]")
        let upserted = try await call(
            "updateOne",
            #""query":{"tag":"\#(tag)","n":9},"update":{"$set":{"_id":"up-\#(tag)"}},"upsert":true"#
        )
        #expect(
            upserted.text
                == #"{"matchedCount":{"$numberInt":"0"},"modifiedCount":{"$numberInt":"0"},"upsertedId":"up-\#(tag)"}"#
        )
        #expect(try await numbers(call) == "[3,4,5,9]")
        let filtered = try await call(
            "updateMany",
            #"\#(query),"update":{"$set":{"list":[1,2,3]}}"#
        )
        #expect(filtered.status == 200)
        let elements = try await call(
            "updateMany",
            #"\#(query),"update":{"$set":{"list.$[big]":0}},"arrayFilters":[{"big":{"$gte":2}}]"#
        )
        #expect(elements.text.contains(#""modifiedCount":{"$numberInt":"4"}"#), "\(elements.text)")
        #expect(
            try await call("deleteOne", #""query":{"_id":"up-\#(tag)"}"#).text
                == #"{"deletedCount":{"$numberInt":"1"}}"#
        )
        #expect(try await call("deleteMany", query).text == #"{"deletedCount":{"$numberInt":"3"}}"#)
        #expect(try await call("deleteMany", query).text == #"{"deletedCount":{"$numberInt":"0"}}"#)
    }

    @Test("finds one and changes it, showing it before or after")
    func findOneAnd() async throws {
        let call = try await ServiceCall.start()
        try await insert(call, [1, 2])
        let filter = #""filter":{"tag":"\#(tag)"},"projection":{"n":1,"_id":0},"sort":{"n":-1}"#
        let before = try await call("findOneAndUpdate", "\(filter),\(#""update":{"$set":{"n":5}}"#)")
        #expect(before.text == #"{"n":{"$numberInt":"2"}}"#)
        let after = try await call(
            "findOneAndUpdate",
            "\(filter),\(#""update":{"$set":{"n":6}},"returnNewDocument":true"#)"
        )
        #expect(after.text == #"{"n":{"$numberInt":"6"}}"#)
        let replaced = try await call(
            "findOneAndReplace",
            "\(filter),\(#""update":{"tag":"\#(tag)","n":7},"returnNewDocument":true"#)"
        )
        #expect(replaced.text == #"{"n":{"$numberInt":"7"}}"#)
        let none = try await call(
            "findOneAndUpdate",
            #""filter":{"tag":"new-\#(tag)"},"update":{"$set":{"n":8}},"upsert":true"#
        )
        #expect(none.text == "null")
        #expect(
            try await call("count", #""query":{"tag":"new-\#(tag)"}"#).text == #"{"$numberLong":"1"}"#
        )
        #expect(try await call("findOneAndDelete", filter).text == #"{"n":{"$numberInt":"7"}}"#)
        // realm-web's findOneAndDelete.
        #expect(try await call("findOneAndReplace", filter).text == #"{"n":{"$numberInt":"1"}}"#)
        #expect(try await call("findOneAndDelete", filter).text == "null")
        let operators = try await call("findOneAndReplace", "\(filter),\(#""update":{"$set":{"n":1}}"#)")
        #expect(operators.status == 400)
        #expect(operators.code == "InvalidParameter")
        #expect(operators.error == "the replace operation document must not contain atomic operators")
    }

    @Test("replaces by an update without operators, one and many, and keeps each _id")
    func replacements() async throws {
        let call = try await ServiceCall.start()
        try await insert(call, [1, 2, 3])
        let ids = try await call("distinct", #""key":"_id","query":{"tag":"\#(tag)"}"#).text
        let update = #""update":{"tag":"\#(tag)","n":0}"#
        let many = try await call("updateMany", #""query":{"tag":"\#(tag)"},\#(update)"#)
        #expect(many.text == #"{"matchedCount":{"$numberInt":"3"},"modifiedCount":{"$numberInt":"3"}}"#)
        #expect(try await numbers(call) == "[0,0,0]")
        #expect(try await call("distinct", #""key":"_id","query":{"tag":"\#(tag)"}"#).text == ids)
        // An upsert inserts just the replacement; with operators, what the filter says, too.
        _ = try await call(
            "updateOne",
            #""query":{"tag":"r-\#(tag)","x":1},"update":{"tag":"r-\#(tag)"},"upsert":true"#
        )
        _ = try await call(
            "updateOne",
            #""query":{"tag":"o-\#(tag)","x":1},"update":{"$set":{"y":2}},"upsert":true"#
        )
        let project = #""project":{"_id":0}"#
        #expect(
            try await call("findOne", #""query":{"tag":"r-\#(tag)"},\#(project)"#).text
                == #"{"tag":"r-\#(tag)"}"#
        )
        #expect(
            try await call("findOne", #""query":{"tag":"o-\#(tag)"},\#(project)"#).text
                == #"{"tag":"o-\#(tag)","x":{"$numberInt":"1"},"y":{"$numberInt":"2"}}"#
        )
    }

    @Test("takes query and filter, project and projection for each other, and never both")
    func dialects() async throws {
        let call = try await ServiceCall.start()
        try await insert(call, [1, 2])
        let found = try await call(
            "find",
            #""filter":{"tag":"\#(tag)","n":2},"projection":{"n":1,"_id":0}"#
        )
        #expect(found.text == #"[{"n":{"$numberInt":"2"}}]"#)
        let removed = try await call(
            "findOneAndDelete",
            #""query":{"tag":"\#(tag)","n":2},"project":{"n":1,"_id":0}"#
        )
        #expect(removed.text == #"{"n":{"$numberInt":"2"}}"#)
        for action in ["find", "deleteMany", "findOneAndDelete"] {
            let both = try await call(action, #""query":{"tag":"\#(tag)"},"filter":{"tag":"\#(tag)"}"#)
            #expect(both.status == 400)
            #expect(both.code == "InvalidParameter")
            #expect(both.error == "'query' must not stand beside 'filter': they mean the same")
        }
        let wrong = try await call("deleteMany", #""query":[]"#)
        #expect(wrong.error == "'query' must be an object")
        #expect(try await numbers(call) == "[1]")
    }

    @Test(
        "means all documents where there is no filter, as SDKs leave it out",
        arguments: ["", #""query":null"#]
    )
    func noFilter(members: String) async throws {
        // Under rules by which each user has documents of his own.
        let call = try await ServiceCall.start("Item")
        let document = #""document":{"ownerId":"\#(call.user.id)","n":1}"#
        for _ in 0..<2 { #expect(try await call("insertOne", document).status == 200) }
        #expect(try await call("count", members).text == #"{"$numberLong":"2"}"#)
        let more = members.isEmpty ? "" : "," + members
        let updated = try await call("updateMany", #""update":{"$set":{"n":2}}"# + more)
        #expect(updated.text.contains(#""modifiedCount":{"$numberInt":"2"}"#), "\(updated.text)")
        #expect(try await call("deleteMany", members).text == #"{"deletedCount":{"$numberInt":"2"}}"#)
    }

    @Test("finds a collection by its schema's title")
    func schemaName() async throws {
        let call = try await ServiceCall.start()
        func counted(_ title: String) async throws -> ServiceCall.Answer {
            try await call.raw(
                #"{"name":"count","service":"mongodb-atlas","arguments":[{"schema_name":\#(title),"query":{"name":"\#(tag)"}}]}"#
            )
        }
        #expect(try await counted(#""Checked""#).text == #"{"$numberLong":"0"}"#)
        let unknown = try await counted(#""Smurf""#)
        #expect(unknown.status == 400)
        #expect(unknown.error == #"no matching collection found that maps to a table with title "Smurf""#)
        #expect(try await counted("1").error == "'schema_name' must be a string")
    }
}

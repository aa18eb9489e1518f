import Foundation
import TestSupport
import Testing

/// `client-api.md` §§9.2–9.4: each test's name begins with the row.
@Suite("Client API §9.2: the MongoDB service", .serialized)
struct Section09ServiceTests {
    private let tag = UUID().uuidString
    private let api: APICaller
    private let user: APICaller.User

    init() async throws {
        api = try await WholeApp.caller()
        user = try await api.anonymous()
    }

    private func call(_ name: String, _ members: String = "", in collection: String = "Open") async throws
        -> APICaller.Answer
    {
        try await api.callMongo(name, members, in: collection, token: user.accessToken, as: .core)
    }

    /// Calls, and compares the answer.
    private func call(
        _ name: String,
        _ members: String,
        gives text: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let answer = try await call(name, members)
        #expect(answer.status == 200, "\(answer.text)", sourceLocation: sourceLocation)
        #expect(answer.header("Content-Type") == "application/json", sourceLocation: sourceLocation)
        #expect(answer.text == text, sourceLocation: sourceLocation)
    }

    private var query: String { #""query":{"tag":"\#(tag)"}"# }
    private var filter: String { #""filter":{"tag":"\#(tag)"}"# }
    private let two = #"{"n":{"$numberInt":"2"}}"#

    /// Documents with these numbers; their ids are texts.
    private func insert(_ numbers: Int...) async throws {
        let documents = numbers.map {
            #"{"_id":"\#(tag)-\#($0)","tag":"\#(tag)","n":{"$numberInt":"\#($0)"}}"#
        }
        let ids = numbers.map { #""\#(tag)-\#($0)""# }.joined(separator: ",")
        try await call(
            "insertMany",
            #""documents":[\#(documents.joined(separator: ","))]"#,
            gives: #"{"insertedIds":[\#(ids)]}"#
        )
    }

    @Test("find: query, project, sort, limit; limit as any number")
    func find() async throws {
        try await insert(3, 1, 2)
        let shape = #""project":{"n":1,"_id":0},"sort":{"n":-1}"#
        for limit in ["2", #"{"$numberInt":"2"}"#, #"{"$numberLong":"2"}"#, #"{"$numberDouble":"2.0"}"#] {
            try await call(
                "find",
                #"\#(query),\#(shape),"limit":\#(limit)"#,
                gives: #"[{"n":{"$numberInt":"3"}},\#(two)]"#
            )
        }
        try await call("find", #""query":{"tag":"none-\#(tag)"}"#, gives: "[]")
    }

    @Test("findOne: query, project, sort (and limit, ignored); a document or null")
    func findOne() async throws {
        try await insert(1, 2)
        let shape = #""project":{"n":1,"_id":0},"sort":{"n":-1},"limit":{"$numberInt":"1"}"#
        try await call("findOne", "\(query),\(shape)", gives: two)
        try await call("findOne", #""query":{"tag":"none-\#(tag)"}"#, gives: "null")
    }

    @Test("findOneAndUpdate: filter, update, projection, sort, upsert, returnNewDocument")
    func findOneAndUpdate() async throws {
        try await insert(1, 2)
        let shape = #"\#(filter),"projection":{"n":1,"_id":0},"sort":{"n":-1}"#
        try await call("findOneAndUpdate", #"\#(shape),"update":{"$set":{"n":3}}"#, gives: two)
        try await call(
            "findOneAndUpdate",
            #"\#(shape),"update":{"$set":{"n":4}},"returnNewDocument":true"#,
            gives: #"{"n":{"$numberInt":"4"}}"#
        )
        for upsert in ["true", "false"] {
            try await call(
                "findOneAndUpdate",
                #""filter":{"tag":"\#(upsert)-\#(tag)"},"update":{"$set":{"n":1}},"upsert":\#(upsert)"#,
                gives: "null"
            )
        }
        try await call("count", #""query":{"tag":"true-\#(tag)"}"#, gives: #"{"$numberLong":"1"}"#)
        try await call("count", #""query":{"tag":"false-\#(tag)"}"#, gives: #"{"$numberLong":"0"}"#)
    }

    @Test("findOneAndReplace: the replacement is in update; without one it deletes, as realm-web asks for it")
    func findOneAndReplace() async throws {
        try await insert(1, 2)
        let shape = #"\#(filter),"projection":{"n":1,"_id":0},"sort":{"n":-1}"#
        try await call("findOneAndReplace", #"\#(shape),"update":{"tag":"\#(tag)","n":5}"#, gives: two)
        try await call(
            "findOneAndReplace",
            #"\#(shape),"update":{"tag":"\#(tag)","n":6},"returnNewDocument":true"#,
            gives: #"{"n":{"$numberInt":"6"}}"#
        )
        try await call("findOneAndReplace", shape, gives: #"{"n":{"$numberInt":"6"}}"#)
        try await call("count", query, gives: #"{"$numberLong":"1"}"#)
        let upsert =
            #""filter":{"tag":"up-\#(tag)","x":1},"update":{"tag":"up-\#(tag)"},"upsert":true"#
        try await call("findOneAndReplace", upsert, gives: "null")
        let operators = try await call("findOneAndReplace", #"\#(filter),"update":{"$set":{"n":1}}"#)
        expect(
            operators,
            400,
            "InvalidParameter",
            "the replace operation document must not contain atomic operators"
        )
    }

    @Test("findOneAndDelete: filter, projection, sort")
    func findOneAndDelete() async throws {
        try await insert(1, 2)
        let shape = #"\#(filter),"projection":{"n":1,"_id":0},"sort":{"n":-1}"#
        try await call("findOneAndDelete", shape, gives: two)
        try await call("findOneAndDelete", shape, gives: #"{"n":{"$numberInt":"1"}}"#)
        try await call("findOneAndDelete", shape, gives: "null")
    }

    @Test("aggregate: pipeline; an array of documents")
    func aggregate() async throws {
        try await insert(1, 2)
        let pipeline = #"[{"$match":{"tag":"\#(tag)"}},{"$group":{"_id":null,"sum":{"$sum":"$n"}}}]"#
        try await call(
            "aggregate",
            #""pipeline":\#(pipeline)"#,
            gives: #"[{"_id":null,"sum":{"$numberInt":"3"}}]"#
        )
    }

    @Test("count: query, limit; counts at most that many, as a $numberLong")
    func count() async throws {
        try await insert(1, 2, 3)
        try await call("count", query, gives: #"{"$numberLong":"3"}"#)
        try await call("count", #"\#(query),"limit":{"$numberInt":"2"}"#, gives: #"{"$numberLong":"2"}"#)
    }

    @Test("distinct: key, query; an array")
    func distinct() async throws {
        try await insert(2)
        try await call("distinct", #"\#(query),"key":"n""#, gives: #"[{"$numberInt":"2"}]"#)
    }

    @Test("insertOne; insertMany: the id given or a fresh ObjectId, ids in the order of the request")
    func insertOne() async throws {
        try await call(
            "insertOne",
            #""document":{"_id":"\#(tag)","tag":"\#(tag)"}"#,
            gives: #"{"insertedId":"\#(tag)"}"#
        )
        let fresh = try await call("insertOne", #""document":{"tag":"\#(tag)"}"#)
        let id = (fresh.object["insertedId"] as? [String: String])?["$oid"]
        #expect(id?.wholeMatch(of: /[0-9a-f]{24}/) != nil, "\(fresh.text)")
        try await insert(3, 1, 2)
    }

    @Test("updateOne, updateMany: query, update, upsert, arrayFilters; upsertedId only after an upsert")
    func updates() async throws {
        try await insert(1, 2)
        func counts(_ count: Int) -> String {
            #"{"matchedCount":{"$numberInt":"\#(count)"},"modifiedCount":{"$numberInt":"\#(count)"}}"#
        }
        try await call("updateOne", #"\#(query),"update":{"$set":{"a":[1,5]}}"#, gives: counts(1))
        try await call(
            "updateMany",
            #"\#(query),"update":{"$set":{"a":[1,5]}},"upsert":false"#,
            gives: #"{"matchedCount":{"$numberInt":"2"},"modifiedCount":{"$numberInt":"1"}}"#
        )
        try await call(
            "updateMany",
            #"\#(query),"update":{"$set":{"a.$[big]":0}},"arrayFilters":[{"big":{"$gt":1}}]"#,
            gives: counts(2)
        )
        try await call(
            "updateOne",
            #""query":{"_id":"up-\#(tag)","b":1},"update":{"$set":{"tag":"\#(tag)"}},"upsert":true"#,
            gives:
                #"{"matchedCount":{"$numberInt":"0"},"modifiedCount":{"$numberInt":"0"},"upsertedId":"up-\#(tag)"}"#
        )
    }

    @Test("deleteOne, deleteMany: query")
    func deletes() async throws {
        try await insert(1, 2, 3)
        try await call("deleteOne", query, gives: #"{"deletedCount":{"$numberInt":"1"}}"#)
        try await call("deleteMany", query, gives: #"{"deletedCount":{"$numberInt":"2"}}"#)
        try await call("deleteMany", query, gives: #"{"deletedCount":{"$numberInt":"0"}}"#)
    }

    @Test("watch: a stream, refused to a POST by name")
    func watch() async throws {
        let answer = try await call("watch")
        expect(answer, 400, "InvalidParameter", "a watch is a stream, which is asked for by GET")
    }

    @Test("database, collection, or schema_name; null is absent")
    func namespaces() async throws {
        func named(_ argument: String) async throws -> APICaller.Answer {
            try await api.curl(
                "POST",
                "/api/client/v2.0/app/whole-abcde/functions/call",
                #"{"name":"count","service":"mongodb-atlas","arguments":[{\#(argument)}]}"#,
                token: user.accessToken
            )
        }
        #expect(try await named(#""schema_name":"Checked""#).text == #"{"$numberLong":"0"}"#)
        let unknown = try await named(#""schema_name":"Smurf""#)
        #expect(unknown.status == 400)
        #expect(
            unknown.error == #"no matching collection found that maps to a table with title "Smurf""#
        )
        let nulls = #""database":"todo","collection":"Checked","schema_name":null,"query":null,"limit":null"#
        #expect(try await named(nulls).text == #"{"$numberLong":"0"}"#)
    }
}

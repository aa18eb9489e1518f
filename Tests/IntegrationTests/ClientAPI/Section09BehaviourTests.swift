import Foundation
import TestSupport
import Testing

/// `client-api.md` §§9.3 and 9.4: each test's name begins with the row.
@Suite("Client API §9.3: behaviour that tests pin down", .serialized)
struct Section09BehaviourTests {
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
        try await api.callMongo(name, members, in: collection, token: user.accessToken, as: .web)
    }

    private func insert(_ count: Int) async throws {
        let documents = (1...count).map { #"{"_id":"\#(tag)-\#($0)","tag":"\#(tag)","n":\#($0)}"# }
        let answer = try await call(
            "insertMany",
            #""documents":[\#(documents.joined(separator: ","))]"#
        )
        #expect(answer.status == 200, "\(answer.text)")
    }

    private var query: String { #""query":{"tag":"\#(tag)"}"# }

    @Test(
        "an update without operators is a replacement: updateOne, findOneAndUpdate, updateMany keep each _id"
    )
    func replacements() async throws {
        try await insert(3)
        let update = #""update":{"tag":"\#(tag)","m":1}"#
        let counts = #"{"matchedCount":{"$numberInt":"3"},"modifiedCount":{"$numberInt":"3"}}"#
        #expect(try await call("updateMany", "\(query),\(update)").text == counts)
        let rest = (1...3).map { #"{"_id":"\#(tag)-\#($0)","tag":"\#(tag)","m":{"$numberInt":"1"}}"# }
        let all = "[\(rest.joined(separator: ","))]"
        #expect(try await call("find", #"\#(query),"sort":{"_id":1}"#).text == all)
        let one = try await call("updateOne", #"\#(query),"update":{"tag":"\#(tag)","m":2}"#)
        #expect(one.text == #"{"matchedCount":{"$numberInt":"1"},"modifiedCount":{"$numberInt":"1"}}"#)
        let filter = #""filter":{"_id":"\#(tag)-1"},"update":{"tag":"\#(tag)","m":3}"#
        let found = try await call("findOneAndUpdate", #"\#(filter),"returnNewDocument":true"#)
        #expect(found.text == #"{"_id":"\#(tag)-1","tag":"\#(tag)","m":{"$numberInt":"3"}}"#)
    }

    @Test("an upsert of an operator-free update inserts just that; with operators the filter's fields, too")
    func upserts() async throws {
        let shown = #""project":{"_id":0}"#
        _ = try await call(
            "updateOne",
            #""query":{"tag":"r-\#(tag)","x":1},"update":{"tag":"r-\#(tag)"},"upsert":true"#
        )
        let replaced = try await call("findOne", #""query":{"tag":"r-\#(tag)"},\#(shown)"#)
        #expect(replaced.text == #"{"tag":"r-\#(tag)"}"#)
        _ = try await call(
            "updateOne",
            #""query":{"tag":"o-\#(tag)","x":1},"update":{"$set":{"y":2}},"upsert":true"#
        )
        let updated = try await call("findOne", #""query":{"tag":"o-\#(tag)"},\#(shown)"#)
        #expect(updated.text == #"{"tag":"o-\#(tag)","x":{"$numberInt":"1"},"y":{"$numberInt":"2"}}"#)
    }

    @Test(
        "findOneAndUpdate with projection and sort returns the projected document of the first in sort order"
    )
    func projected() async throws {
        for n in [2, 1] {
            _ = try await call(
                "insertOne",
                #""document":{"tag":"\#(tag)","hello":"world\#(n)","num":\#(n)}"#
            )
        }
        let answer = try await call(
            "findOneAndUpdate",
            #""filter":{"tag":"\#(tag)"},"update":{"$inc":{"num":10}},"projection":{"hello":1,"_id":0},"sort":{"num":1}"#
        )
        #expect(answer.text == #"{"hello":"world1"}"#)
    }

    @Test("insertMany is not atomic; duplicate _id: code, and a text for all; empty insertMany")
    func inserts() async throws {
        let twice =
            #""documents":[{"_id":"\#(tag)","tag":"\#(tag)"},{"_id":"\#(tag)","tag":"\#(tag)"},{"tag":"\#(tag)"}]"#
        let answer = try await call("insertMany", twice)
        #expect(answer.status == 400)
        #expect(answer.errorCode == "MongoDBError")
        for part in ["Duplicate key error", "E11000 duplicate key error", "duplicate"] {
            #expect(answer.error.contains(part), "\(answer.error)")
        }
        #expect(try await call("count", query).text == #"{"$numberLong":"1"}"#)
        let empty = try await call("insertMany", #""documents":[]"#)
        expect(empty, 400, "InvalidParameter", "must provide at least one element")
    }

    @Test("unknown query operator; unknown update operator; unknown stage")
    func operators() async throws {
        for (name, members, text) in [
            ("find", #""query":{"$who":1}"#, "unknown top level operator: $who"),
            ("updateOne", #""query":{},"update":{"$who":{"a":1}}"#, "Unknown modifier: $who"),
            ("aggregate", #""pipeline":[{"$who":1}]"#, "Unrecognized pipeline stage name: '$who'"),
        ] {
            let answer = try await call(name, members)
            #expect(answer.status == 400)
            #expect(answer.errorCode == "MongoDBError")
            #expect(answer.error.contains(text), "\(answer.error)")
        }
    }

    @Test("schema violation; also for an upsert")
    func schema() async throws {
        let insert = try await call("insertOne", #""document":{"name":5}"#, in: "Checked")
        #expect(insert.status == 400)
        #expect(insert.error == "insert not permitted")
        let upsert = try await call(
            "updateOne",
            #""query":{"name":"\#(tag)"},"update":{"$set":{"name":5}},"upsert":true"#,
            in: "Checked"
        )
        #expect(upsert.status == 400)
        #expect(upsert.error == "insert not permitted")
        #expect(try await call("count", "", in: "Checked").text == #"{"$numberLong":"0"}"#)
    }

    @Test("namespace without rule")
    func noRule() async throws {
        let answer = try await call("find", "", in: "Nowhere")
        expect(answer, 403, "NoMatchingRuleFound", "no rule exists for namespace 'todo.Nowhere'")
    }

    @Test("§9.4 realm-core: int32 counts, int64 count, $date with $numberLong, doubles; $binary, $uuid")
    func canonical() async throws {
        let written =
            #""d":{"$date":{"$numberLong":"1577934245000"}},"f":{"$numberDouble":"1.0"},"l":{"$numberLong":"5"},"b":{"$binary":{"base64":"AQI=","subType":"00"}},"u":{"$binary":{"base64":"EjRWeBI0VngSNFZ4EjRWeA==","subType":"04"}}"#
        let insert = try await call("insertOne", #""document":{"_id":"\#(tag)",\#(written)}"#)
        #expect(insert.status == 200, "\(insert.text)")
        let found = try await call("findOne", #""query":{"_id":"\#(tag)"}"#)
        #expect(found.text == #"{"_id":"\#(tag)",\#(written)}"#)
        let uuid = #"{"$uuid":"12345678-1234-5678-1234-567812345678"}"#
        let byUUID = try await call("count", #""query":{"_id":"\#(tag)","u":\#(uuid)}"#)
        #expect(byUUID.text == #"{"$numberLong":"1"}"#)
        // Relaxed and legacy forms of a date are read, too.
        for date in [#"{"$date":"2020-01-02T03:04:05Z"}"#, #"{"$date":1577934245000}"#] {
            let count = try await call("count", #""query":{"_id":"\#(tag)","d":\#(date)}"#)
            #expect(count.text == #"{"$numberLong":"1"}"#, "\(date)")
        }
    }
}

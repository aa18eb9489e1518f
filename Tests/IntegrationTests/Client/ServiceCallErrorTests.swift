import Foundation
import TestSupport
import Testing

@Suite("A refused call")
struct ServiceCallErrorTests {
    private let tag = UUID().uuidString

    @Test("has the words and codes of the hosted service")
    func words() async throws {
        let call = try await ServiceCall.start()
        let cases: [(name: String, members: String, code: String, text: String)] = [
            ("find", #""query":{"$who":1}"#, "MongoDBError", "unknown top level operator: $who"),
            ("updateOne", #""query":{},"update":{"$who":{"a":1}}"#, "MongoDBError", "Unknown modifier: $who"),
            (
                "aggregate", #""pipeline":[{"$who":1}]"#, "MongoDBError",
                "Unrecognized pipeline stage name: '$who'"
            ), ("insertMany", #""documents":[]"#, "InvalidParameter", "must provide at least one element"),
            ("replaceOne", "", "ServiceCommandNotFound", "service command not found: 'replaceOne'"),
            ("insertOne", "", "MissingParameter", "must provide a 'document' field"),
            ("updateOne", #""query":{}"#, "MissingParameter", "must provide a 'update' field"),
            ("find", #""limit":-1"#, "InvalidParameter", "'limit' must not be negative"),
        ]
        for (name, members, code, text) in cases {
            let answer = try await call(name, members)
            #expect(answer.status == 400, "\(name) \(members): \(answer.text)")
            #expect(answer.contentType == "application/json")
            #expect(answer.code == code, "\(name) \(members): \(answer.text)")
            #expect(answer.error.contains(text), "\(name) \(members): \(answer.text)")
            #expect((answer.object["link"] as? String)?.contains("/logs?co_id=") == true)
        }
    }

    @Test("keeps the documents before a duplicate key, and none of a denied write")
    func partial() async throws {
        let call = try await ServiceCall.start()
        let id = #"{"_id":"\#(tag)","tag":"\#(tag)"}"#
        let twice = try await call("insertMany", #""documents":[\#(id),\#(id)]"#)
        #expect(twice.status == 400)
        #expect(twice.code == "MongoDBError")
        #expect(twice.error.contains("Duplicate key error: E11000 duplicate key error"), "\(twice.error)")
        #expect(try await call("count", #""query":{"tag":"\#(tag)"}"#).text == #"{"$numberLong":"1"}"#)
        let checked = ServiceCall(api: call.api, user: call.user, collection: "Checked")
        let bad = try await checked("insertOne", #""document":{"count":1}"#)
        #expect(bad.status == 400)
        #expect(bad.error == "insert not permitted")
        #expect(bad.code == "SchemaValidationFailedWrite")
        let upsert = try await checked(
            "findOneAndUpdate",
            #""filter":{"name":"\#(tag)"},"update":{"$set":{"count":"x"}},"upsert":true"#
        )
        #expect(upsert.status == 400)
        #expect(upsert.error == "insert not permitted")
        let readOnly = ServiceCall(api: call.api, user: call.user, collection: "ReadOnly")
        let denied = try await readOnly("insertOne", #""document":{"a":1}"#)
        #expect(denied.status == 400)
        #expect(denied.error == "insert not permitted")
        #expect(denied.code == "NoMatchingRuleFound")
    }

    @Test("names what is not there: function, service, rules")
    func absent() async throws {
        let call = try await ServiceCall.start("Nowhere")
        let rules = try await call("find")
        #expect(rules.status == 403)
        #expect(rules.code == "NoMatchingRuleFound")
        #expect(rules.error == "no rule exists for namespace 'todo.Nowhere'")
        let service = try await call("find", service: "smurf")
        #expect(service.status == 404)
        #expect(service.code == "ServiceNotFound")
        #expect(service.error == "service not found: 'smurf'")
        let function = try await call.raw(#"{"name":"sum","arguments":[{"$numberInt":"1"}]}"#)
        #expect(function.status == 404)
        #expect(function.code == "FunctionNotFound")
        #expect(function.error == "function not found: 'sum'")
    }

    @Test(
        "with a malformed body names the member",
        arguments: [
            ("", "'name' is a required string"), ("{}", "'name' is a required string"),
            (#"{"name":1}"#, "'name' is a required string"),
            (#"{"name":"find","service":"mongodb-atlas"}"#, "'arguments' must hold one object"),
            (
                #"{"name":"find","service":"mongodb-atlas","arguments":{}}"#, "'arguments' must be an array"
            ),
            (
                #"{"name":"find","service":"mongodb-atlas","arguments":[1]}"#,
                "'arguments' must hold one object"
            ),
            (
                #"{"name":"find","service":"mongodb-atlas","arguments":[{},{}]}"#,
                "'arguments' must hold one object"
            ), (#"{"name":"find","service":1,"arguments":[]}"#, "'service' must be a string"),
            (
                #"{"name":"find","service":"mongodb-atlas","arguments":[{"database":"todo"}]}"#,
                "must provide a 'collection' field"
            ), ("[]", "invalid json in request body"), ("{", "invalid json in request body"),
        ]
    )
    func malformed(body: String, text: String) async throws {
        let call = try await ServiceCall.start()
        let answer = try await call.raw(body)
        #expect(answer.status == 400)
        #expect(answer.error.contains(text), "\(answer.text)")
    }

    @Test("answers 401 to a bad token, and to nothing else")
    func tokens() async throws {
        let call = try await ServiceCall.start()
        let body =
            #"{"name":"count","service":"mongodb-atlas","arguments":[{"database":"todo","collection":"Open"}]}"#
        let none = try await call.raw(body, token: "")
        #expect(none.status == 401)
        #expect(none.code == "MissingAuthReq")
        let garbage = try await call.raw(body, token: "x.y.z")
        #expect(garbage.status == 401)
        #expect(garbage.error == "unauthorized")
        #expect(garbage.code == nil)
        let refresh = try await call.raw(body, token: call.user.refreshToken)
        #expect(refresh.status == 401)
        #expect(refresh.code == "InvalidSession")
    }
}

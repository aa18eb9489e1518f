import Foundation
import TestSupport
import Testing

@Suite("A watch that cannot begin")
struct WatchErrorTests {
    /// The answer's status and body.
    private func refusal(
        _ call: ServiceCall,
        _ request: String,
        token: String? = nil
    ) async throws -> (status: Int?, text: String) {
        let client = try WatchClient(call.api, token: token ?? call.user.accessToken, call: request)
        try await eventually { client.isOver }
        #expect(
            client.head.contains { $0.lowercased() == "content-type: application/json" },
            "\(client.head)"
        )
        return (client.status, client.text)
    }

    private func watch(_ collection: String, _ members: String = "", service: String = "mongodb-atlas")
        -> String
    {
        let rest = members.isEmpty ? "" : "," + members
        return
            #"{"name":"watch","service":"\#(service)","arguments":[{"database":"todo","collection":"\#(collection)"\#(rest)}]}"#
    }

    @Test("is refused with a status and a body like any call")
    func refusals() async throws {
        let call = try await ServiceCall.start()
        let cases: [(request: String, status: Int, parts: [String])] = [
            (watch("Nowhere"), 403, ["NoMatchingRuleFound", "no rule exists for namespace 'todo.Nowhere'"]),
            (watch("Open", service: "smurf"), 404, ["ServiceNotFound", "service not found: 'smurf'"]),
            (
                watch("Open", #""filter":{"$who":1}"#), 400,
                ["MongoDBError", "unknown top level operator: $who"]
            ),
            (watch("Open", #""filter":[]"#), 400, ["InvalidParameter", "'filter' must be an object"]),
            (watch("Open", #""filter":{"$where":"1"}"#), 400, ["$where"]),
            (watch("Open", #""ids":{}"#), 400, ["InvalidParameter", "'ids' must be an array"]),
            (
                watch("Open", #""pipeline":[{"$group":{"_id":1}}]"#), 400,
                ["MongoDBError", "$group is not permitted in a $changeStream pipeline"]
            ),
            (watch("Open", #""pipeline":[{"$who":1}]"#), 400, ["Unrecognized pipeline stage name: '$who'"]),
            (watch("Open", #""useCompactEvents":true"#), 400, ["InvalidParameter", "useCompactEvents"]),
            (watch("Open", #""resumeAfter":{"_data":"82"}"#), 400, ["MongoDBError", "resume token"]),
            (watch("Open", #""resumeAfter":{}"#), 400, ["InvalidParameter", "resumeAfter"]),
            (
                watch("Open", #""resumeAfter":{"_data":"\#(String(repeating: "0", count: 40))"}"#), 400,
                ["MongoDBError", "may no longer be in the change log"]
            ), (#"{"name":"sum","arguments":[]}"#, 404, ["FunctionNotFound"]),
            (
                #"{"name":"find","service":"mongodb-atlas","arguments":[{}]}"#, 400,
                ["InvalidParameter", "only 'watch' is asked for by GET"]
            ), ("[]", 400, ["invalid json"]),
            (#"{"name":"watch","service":"mongodb-atlas"}"#, 400, ["one object"]),
        ]
        for (request, status, parts) in cases {
            let answer = try await refusal(call, request)
            #expect(answer.status == status, "\(request): \(answer.text)")
            for part in parts { #expect(answer.text.contains(part), "\(request): \(answer.text)") }
        }
        let post = try await call("watch")
        #expect(post.status == 400)
        #expect(post.error == "a watch is a stream, which is asked for by GET")
    }

    @Test("for want of a good token answers 401, so that SDKs refresh and ask again")
    func tokens() async throws {
        let call = try await ServiceCall.start()
        #expect(try await refusal(call, watch("Open"), token: "").status == 401)
        let bad = try await refusal(call, watch("Open"), token: "x.y.z")
        #expect(bad.status == 401)
        #expect(bad.text.hasPrefix(#"{"error":"unauthorized""#), "\(bad.text)")
        #expect(try await refusal(call, watch("Open"), token: call.user.refreshToken).status == 401)
    }

    @Test(
        "for want of a readable request names the parameter",
        arguments: ["", "?baas_request", "?baas_request=%21", "?baas_request=%C3%A4", "?other=1"]
    )
    func malformed(query: String) async throws {
        let call = try await ServiceCall.start()
        let answer = try await call.api.send(
            "GET",
            "/api/client/v2.0/app/\(call.api.app)/functions/call\(query)",
            headers: call.user.bearer
        )
        #expect(answer.status == 400)
        #expect(answer.errorCode == "InvalidParameter")
        #expect(answer.header("content-type") == "application/json")
    }

    @Test("on a relation of somebody else's is refused by MongoDB's code for views")
    func mapped() async throws {
        let call = try await ServiceCall.start("Late2")
        try Shell.psql(
            call.api.server.database,
            """
            select tidegate.drop_collection('todo', 'Late2');
            create schema elsewhere;
            create table elsewhere.things (id integer primary key);
            grant usage on schema elsewhere to tidegate_owner;
            grant select on elsewhere.things to tidegate_owner;
            select tidegate.map_table('\(call.api.app)', 'todo', 'Late2', 'elsewhere.things')
            """
        )
        let answer = try await refusal(call, watch("Late2"))
        #expect(answer.status == 400)
        #expect(answer.text.contains(#""code":166"#), "\(answer.text)")
    }
}

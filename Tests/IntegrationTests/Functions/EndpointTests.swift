import Crypto
import Foundation
import TestSupport
import Testing

@Suite("Custom endpoints", .timeLimit(.minutes(30)))
struct EndpointTests {
    @Test("it answers what the function returned, in the form that is asked for")
    func forms() async throws {
        let api = try await FunctionServer.caller()
        let plain = try await api.endpoint(
            "POST",
            "/hello?a=1&a=2&secret=x&b=y%20z",
            #"{"name": "Leafie"}"#,
            headers: ["Content-Type": "application/json"]
        )
        #expect(plain.status == 200, "\(plain.text)")
        #expect(plain.header("Content-Type") == "application/json")
        #expect(plain.object["greeting"] as? String == "Hello, Leafie!")
        #expect(plain.object["date"] as? String == "2023-05-05T01:02:03.456Z")
        #expect(plain.object["query"] as? [String: String] == ["a": "1", "b": "y z"])
        #expect(plain.object["type"] as? [String] == ["application/json"])
        #expect(plain.object["who"] as? String == "system")
        #expect(plain.object["route"] as? String == "/hello")
        #expect(plain.object["method"] as? String == "POST")
        #expect(plain.object["raw"] as? String == "a=1&a=2&b=y%20z")
        let typed = try await api.endpoint("GET", "/hello", headers: ["Accept": "application/ejson"])
        #expect(typed.header("Content-Type") == "application/ejson")
        #expect(typed.text.contains(#""date":{"$date":{"$numberLong":"1683248523456"}}"#), "\(typed.text)")
        #expect(typed.text.contains("Hello, stranger!"))
    }

    @Test("the response that the function made is the answer")
    func response() async throws {
        let api = try await FunctionServer.caller()
        let made = try await api.endpoint(
            "POST",
            "/custom",
            "as it came",
            headers: ["Origin": "https://x.example"]
        )
        #expect(made.status == 201)
        #expect(made.text == "as it came")
        #expect(made.header("Content-Type") == "text/plain")
        #expect(made.header("Access-Control-Allow-Origin") == "https://shop.example")
        #expect(made.header("X-Two")?.replacing(" ", with: "") == "a,b")
        let silent = try await api.endpoint("GET", "/silent")
        #expect(silent.status == 204)
        #expect(silent.text.isEmpty)
    }

    @Test("custom data of the user that a function runs as comes only when the endpoint asks for it")
    func customData() async throws {
        let (api, user) = try await FunctionServer.user()
        try Shell.psql(
            api.server.database,
            script: """
                select tidegate.set_function('functions', 'endpoint/asUser',
                    'exports = () => context.user.custom_data.origin || "nothing";', '{"run_as_user_id": "\(user.id)"}');
                select tidegate.set_endpoint('functions', '/with', 'GET', '{"function_name": "endpoint/asUser",
                    "respond_result": true, "fetch_custom_user_data": true}');
                select tidegate.set_endpoint('functions', '/without', 'GET', '{"function_name": "endpoint/asUser",
                    "respond_result": true, "fetch_custom_user_data": false}');
                """
        )
        try await eventually { try await api.endpoint("GET", "/without").status == 200 }
        #expect(try await api.endpoint("GET", "/with").text == #""anon-user""#)
        #expect(try await api.endpoint("GET", "/without").text == #""nothing""#)
    }

    @Test("a method of its own comes before any; what is not there or disabled is not found")
    func routes() async throws {
        let api = try await FunctionServer.caller()
        #expect(try await api.endpoint("GET", "/two/steps").text == #"{"ok":{"$numberInt":"1"}}"#)
        #expect(try await api.endpoint("PUT", "/two/steps", "{}").text.contains("Hello"))
        for (method, route) in [
            ("POST", "/two/steps"), ("GET", "/gone"), ("GET", "/nowhere"), ("GET", "/two"),
        ] {
            let answer = try await api.endpoint(method, route)
            #expect(answer.status == 404, "\(method) \(route)")
            #expect(answer.text.isEmpty)
        }
    }

    @Test("a secret or a signature is asked for before anything else")
    func validation() async throws {
        let api = try await FunctionServer.caller()
        #expect(try await api.endpoint("GET", "/password?secret=Super5ecr3tPa55w0rd").status == 200)
        expect(try await api.endpoint("GET", "/password"), 401, "IncomingWebhookAuthFailed", "invalid secret")
        let body = #"{ "message": "Hello!" }"#
        let digest = "d4f0537db4e230d7a6028a6f7c3bb1b57c9d16f39176d78697e559ac333e0b36"
        for value in ["sha256=\(digest)", ":sha256=\(digest.uppercased())", digest] {
            for name in ["Endpoint-Signature", "X-Hook-Signature"] {
                let answer = try await api.endpoint("POST", "/signed", body, headers: [name: value])
                #expect(answer.status == 200, "\(name): \(value)")
            }
        }
        expect(
            try await api.endpoint(
                "POST",
                "/signed",
                body + " ",
                headers: ["Endpoint-Signature": "sha256=\(digest)"]
            ),
            401,
            "IncomingWebhookAuthFailed",
            "invalid request signature"
        )
    }

    @Test("an old webhook answers under both its addresses")
    func webhooks() async throws {
        let api = try await FunctionServer.caller()
        let signature = [
            "X-Hook-Signature": "sha256=828ee180512eaf8a6229eda7eea72323f68e9c0f0093b11a578b0544c5777862"
        ]
        let body = #"{"message":"MESSAGE"}"#
        let old = try await api.send(
            "POST",
            "/api/client/v2.0/app/\(api.app)/service/hooks/incoming_webhook/old",
            headers: signature,
            body: Data(body.utf8)
        )
        #expect(old.status == 200, "\(old.text)")
        #expect(old.text == body)
        #expect(try await FunctionServer.log(old, "type") == "WEBHOOK")
        #expect(try await api.endpoint("POST", "/hooks/old", body, headers: signature).text == body)
        #expect(try await api.endpoint("POST", "/hooks/old", body).status == 401)
    }

    @Test("credentials are asked for where the function runs as its caller")
    func authentication() async throws {
        let (api, user) = try await FunctionServer.user()
        let mine = try await api.endpoint(
            "GET",
            "/me",
            headers: ["Authorization": "Bearer \(user.accessToken)"]
        )
        #expect(mine.object["id"] as? String == user.id, "\(mine.text)")
        #expect((mine.object["custom"] as? [String: Any])?["origin"] as? String == "anon-user")
        expect(
            try await api.endpoint("GET", "/me"),
            400,
            "InvalidParameter",
            "no authentication methods were specified"
        )
        #expect(try await api.endpoint("GET", "/me", headers: ["apiKey": "nonsense"]).status == 401)
        #expect(try await api.endpoint("GET", "/keyed", headers: ["X-Secret-Key": "open"]).text == #""in""#)
        expect(
            try await api.endpoint("GET", "/keyed"),
            400,
            "FunctionExecutionError",
            #"rule not matched for function "endpoint/keyed""#
        )
    }

    @Test("what the function throws is an error, and stands in the log")
    func failure() async throws {
        let (api, user) = try await FunctionServer.user()
        let answer = try await api.endpoint(
            "GET",
            "/throws?token=abc",
            headers: ["Authorization": "Bearer \(user.accessToken)"]
        )
        expect(answer, 400, "FunctionExecutionError", "not today")
        let row = try await FunctionServer.log(answer, "type, function, operation, error, arguments")
        #expect(row.hasPrefix("ENDPOINT|endpoint/throws|endpoint /throws|not today"), "\(row)")
        #expect(!row.contains(user.accessToken))
        #expect(!row.contains("abc"))
    }
}

import Foundation
import TestSupport
import Testing

/// `reference/functions.md` §§4, 8, 9, 12, the rows that need a gateway: each test's name begins with the row.
@Suite("Tables of functions.md: §4 context, §8 limits, §9 errors, §12 endpoints", .timeLimit(.minutes(30)))
struct FunctionTableTests {
    /// Sets functions, and waits until the gateway has them.
    private func set(_ api: APICaller, _ sources: [(name: String, source: String)]) async throws {
        let user = try await api.newUser()
        for (name, source) in sources {
            try Shell.psql(
                api.server.database,
                "select tidegate.set_function('functions', '\(name)', $js$\(source)$js$, '{}')"
            )
        }
        let last = try #require(sources.last).name
        try await eventually { try await api.call(last, as: user).errorCode != "FunctionNotFound" }
    }

    @Test("§4 context.app: id, clientAppId, name, projectId, deployment, lastDeployed, hostingUri")
    func app() async throws {
        let (api, user) = try await FunctionServer.user()
        try await set(api, [("table/app", "exports = () => context.app;")])
        let app = try await api.call("table/app", as: user).object
        #expect(
            Set(app.keys) == [
                "id", "clientAppId", "name", "projectId", "deployment", "lastDeployed", "hostingUri",
            ]
        )
        #expect((app["id"] as? String)?.wholeMatch(of: /[0-9a-f]{24}/) != nil)
        #expect(app["clientAppId"] as? String == "functions-abcde")
        #expect(app["name"] as? String == "functions")
        #expect(app["projectId"] is String)
        let deployment = app["deployment"] as? [String: String]
        #expect(Set((deployment ?? [:]).keys) == ["model", "providerRegion"])
        #expect((app["lastDeployed"] as? String)?.contains(/^\d{4}-\d\d-\d\dT/) == true)
    }

    @Test("§4.1 webhookUrl, httpMethod, rawQueryString, httpReferrer, httpUserAgent, service, action")
    func request() async throws {
        let (api, user) = try await FunctionServer.user()
        try await set(api, [("table/request", "exports = () => context.request;")])
        try Shell.psql(
            api.server.database,
            """
            select tidegate.set_function('functions', 'table/route', 'exports = () => context.request;',
                '{"run_as_system": true}');
            select tidegate.set_endpoint('functions', '/table/request', 'PUT',
                '{"function_name": "table/route", "respond_result": true}')
            """
        )
        try await eventually { try await api.endpoint("PUT", "/table/request").status == 200 }
        let called = try await api.call(
            "table/request",
            as: user,
            headers: ["Referer": "https://shop.example/page", "User-Agent": "tests"]
        ).object
        #expect(called["httpReferrer"] as? String == "https://shop.example/page")
        #expect(called["httpUserAgent"] as? String == "tests")
        #expect(called["action"] as? String == "table/request")
        #expect(called["webhookUrl"] == nil)
        #expect(called["httpMethod"] == nil)
        #expect(called["rawQueryString"] as? String == "")
        let route = try await api.endpoint("PUT", "/table/request?b=2&secret=hush&a=1&a=2").object
        #expect(route["webhookUrl"] as? String == "/table/request")
        #expect(route["httpMethod"] as? String == "PUT")
        #expect(route["rawQueryString"] as? String == "b=2&a=1&a=2")
        #expect(route["httpReferrer"] == nil)
        let headers = route["requestHeaders"] as? [String: [String]] ?? [:]
        #expect(!headers.isEmpty)
    }

    @Test("§8 request size: 18 MB of arguments")
    func requestSize() async throws {
        let (api, user) = try await FunctionServer.user()
        let argument = String(repeating: "x", count: 19 * 1024 * 1024)
        let answer = try await api.call("sum", #"["\#(argument)"]"#, as: user)
        #expect(answer.status == 413)
        #expect(answer.errorCode == "ReadSizeLimitExceeded")
    }

    @Test("§8 value name: at most 64 characters; a secret may be longer than the 500 of the hosted service")
    func names() async throws {
        let (api, _) = try await FunctionServer.user()
        func psql(_ statement: String) throws -> String {
            try Shell.psql(api.server.database, statement)
        }
        // Keys of RSA are longer.
        _ = try psql("select tidegate.set_secret('functions', 'long', repeat('x', 16384))")
        _ = try psql("select tidegate.set_value('functions', repeat('v', 64), '1')")
        for (field, statement) in [
            ("name", "set_value('functions', repeat('v', 65), '1')"),
            ("name", "set_value('functions', '', '1')"),
            ("name", "set_value('functions', 'a.b', '1')"), ("name", "set_value('functions', 'é', '1')"),
            ("value", "set_value('functions', 'v', to_json(repeat('x', 16777215)))"),
            ("name", "set_value_from_secret('functions', 'a b', 'long')"),
            ("name", "set_secret('functions', repeat('s', 65), 'x')"),
            ("value", "set_secret('functions', 's', repeat('x', 16385))"),
            ("value", "set_secret('functions', 's', '')"),
        ] {
            let failure = #expect(throws: Shell.Failure.self) { try psql("select tidegate.\(statement)") }
            #expect(
                failure?.message.contains("ERROR:  \(field) ") == true,
                "\(failure?.message ?? statement)"
            )
        }
    }

    @Test("§9 syntax error on save: what was there before stays, and the place is named")
    func syntax() async throws {
        let (api, user) = try await FunctionServer.user()
        try await set(api, [("table/saved", "exports = () => 'before';")])
        let failure = #expect(throws: Shell.Failure.self) {
            try Shell.psql(
                api.server.database,
                "select tidegate.set_function('functions', 'table/saved', E'exports = () => {\\n  let a = ;\\n};', '{}')"
            )
        }
        #expect(failure?.message.contains("source functions/table/saved.js: line 2, column 11: ") == true)
        #expect(try await api.call("table/saved", as: user).text == #""before""#)
    }

    @Test("§9 logged out / bad session: unauthorized, by 401")
    func session() async throws {
        let (api, user) = try await FunctionServer.user()
        let answer = try await api.post(
            "/api/client/v2.0/app/\(api.app)/functions/call",
            #"{"name":"sum","arguments":[]}"#,
            as: ["Authorization": "Bearer x.y.z"]
        )
        expect(answer, 401, nil, "unauthorized")
        let out = try await api.send(
            "DELETE",
            "/api/client/v2.0/auth/session",
            headers: ["Authorization": "Bearer \(user.refreshToken)"]
        )
        #expect(out.status == 204)
        try await eventually { try await api.call("sum", as: user).status == 401 }
    }

    @Test("§9 body: error, error_code and a link with /logs?co_id=; the id is in a header of every answer")
    func body() async throws {
        let (api, user) = try await FunctionServer.user()
        let answer = try await api.call("fails", #"["error"]"#, as: user)
        let id = try #require(answer.header("x-appservices-request-id"))
        #expect((answer.object["link"] as? String)?.hasSuffix("/logs?co_id=\(id)") == true)
        #expect(Set(answer.object.keys) == ["error", "error_code", "link"])
        let array = try await api.post(
            "/api/client/v2.0/app/\(api.app)/functions/call",
            "[]",
            as: user.bearer
        )
        #expect(array.status == 400)
    }

    @Test("§12 request.query, request.headers, request.body; response.setBody, setHeader, addHeader")
    func endpoint() async throws {
        let (api, _) = try await FunctionServer.user()
        try Shell.psql(
            api.server.database,
            """
            select tidegate.set_function('functions', 'table/echo', $js$exports = ({ query, headers, body }, response) => {
              response.setHeader('X-One', '1'); response.setHeader('x-one', '2');
              response.addHeader('X-Two', 'a'); response.addHeader('X-Two', 'b');
              response.setStatusCode(202);
              response.setBody(JSON.stringify({ query, two: headers['X-Sent'], none: body === undefined,
                text: body && body.text() }));
            };$js$, '{"run_as_system": true}');
            select tidegate.set_endpoint('functions', '/table/echo', '*',
                '{"function_name": "table/echo", "respond_result": true}')
            """
        )
        try await eventually { try await api.endpoint("GET", "/table/echo").status == 202 }
        let without = try await api.endpoint("GET", "/table/echo?a=1&a=2&b=", headers: ["X-Sent": "x"])
        #expect(without.object["query"] as? [String: String] == ["a": "1", "b": ""])
        #expect(without.object["two"] as? [String] == ["x"])
        #expect(without.object["none"] as? Bool == true)
        #expect(without.header("X-One") == "2")
        #expect(without.header("X-Two")?.replacing(" ", with: "") == "a,b")
        let with = try await api.endpoint("POST", "/table/echo", "hé")
        #expect(with.object["text"] as? String == "hé")
    }

    @Test("§12 signature vectors: the raw bytes are what is signed")
    func vectors() async throws {
        let (api, _) = try await FunctionServer.user()
        try Shell.psql(
            api.server.database,
            """
            select tidegate.set_secret('functions', 'short', '12345');
            select tidegate.set_endpoint('functions', '/table/signed', 'POST', '{"function_name": "endpoint/ok",
                "respond_result": true, "verification_method": "VERIFY_PAYLOAD", "secret_name": "short"}')
            """
        )
        try await eventually { try await api.endpoint("POST", "/table/signed", "x").status == 401 }
        for (body, digest) in [
            (
                #"{"message":"MESSAGE"}"#,
                "828ee180512eaf8a6229eda7eea72323f68e9c0f0093b11a578b0544c5777862"
            ),
            (
                #"{"dataSource":"mongodb-atlas","database":"learn-data-api","collection":"tasks","filter":{"text":"Do the dishes"}}"#,
                "769cd86855787f476afc8b0d2cf9837ab0318181fca42f45f34b6dffd086dfc7"
            ),
        ] {
            let header = ["Endpoint-Signature": "sha256=\(digest)"]
            #expect(try await api.endpoint("POST", "/table/signed", body, headers: header).status == 200)
            let spaced = body.replacing(":", with: ": ")
            #expect(try await api.endpoint("POST", "/table/signed", spaced, headers: header).status == 401)
        }
    }

    @Test("§12 create_user_on_auth")
    func createUser() async throws {
        let (api, _) = try await FunctionServer.user()
        try Shell.psql(
            api.server.database,
            """
            select tidegate.set_secret('functions', 'jwt', '\(LinkingTests.secret)');
            select tidegate.set_provider('functions', 'custom-token', '{"config": {"signingAlgorithm": "HS256"},
                "secret_config": {"signingKeys": ["jwt"]}}');
            select tidegate.set_endpoint('functions', '/table/makes', 'GET', '{"function_name": "endpoint/me",
                "respond_result": true, "create_user_on_auth": true}');
            select tidegate.set_endpoint('functions', '/table/makesNone', 'GET', '{"function_name": "endpoint/me",
                "respond_result": true, "create_user_on_auth": false}')
            """
        )
        let token = LinkingTests.token(api, "made-\(UUID().uuidString)")
        let headers = ["jwtTokenString": token]
        try await eventually { try await api.endpoint("GET", "/table/makesNone").status == 400 }
        #expect(try await api.endpoint("GET", "/table/makesNone", headers: headers).status == 401)
        let made = try await api.endpoint("GET", "/table/makes", headers: headers)
        #expect(made.status == 200, "\(made.text)")
        #expect(made.object["id"] is String)
        // Now there is one.
        #expect(try await api.endpoint("GET", "/table/makesNone", headers: headers).status == 200)
    }
}

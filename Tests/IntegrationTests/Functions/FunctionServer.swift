import Foundation
import TestSupport
import Testing

/// A server for the suites about functions, with an app of its own: sources in JavaScript, as an export holds them.
enum FunctionServer {
    static let app = "functions-abcde"

    private static let task = Task {
        let server = try await RunningServer.start(
            app: files,
            name: "functions",
            arguments: [
                "--failed-logins-per-minute-per-address", "0", "--failed-logins-per-minute-per-account", "0",
                "--function-timeout", "45",
            ]
        )
        try Shell.psql(
            server.database,
            script: """
                select tidegate.set_secret('\(app)', 'hook', 'Super5ecr3tPa55w0rd');
                select tidegate.set_secret('\(app)', 'inner', 'a secret');
                """
        )
        let api = APICaller(server: server, app: app)
        try await eventually { (try? await api.newUser()) != nil }
        return server
    }

    static func caller() async throws -> APICaller {
        APICaller(server: try await task.value, app: app)
    }

    /// A new user, and the server to call as that user.
    static func user() async throws -> (APICaller, APICaller.User) {
        let caller = try await caller()
        return (caller, try await caller.newUser())
    }

    static func log(_ answer: APICaller.Answer, _ columns: String) async throws -> String {
        let id = answer.header("X-Appservices-Request-Id") ?? ""
        let database = try await task.value.database
        var row = ""
        try await eventually {
            row = try Shell.psql(database, "select \(columns) from tidegate.logs where request_id = '\(id)'")
            return !row.isEmpty
        }
        return row
    }

    static let files: [String: String] = [
        "realm_config.json":
            #"{"app_id": "functions-abcde", "config_version": 20210101, "name": "functions"}"#,
        "auth/providers.json": """
        {"anon-user": {"name": "anon-user", "type": "anon-user", "disabled": false},
         "api-key": {"name": "api-key", "type": "api-key", "disabled": false},
         "custom-function": {"name": "custom-function", "type": "custom-function", "disabled": false,
            "config": {"authFunctionName": "auth/logIn"}},
         "local-userpass": {"name": "local-userpass", "type": "local-userpass", "disabled": false,
            "config": {"autoConfirm": false, "runConfirmationFunction": true,
                       "confirmationFunctionName": "auth/confirm",
                       "runResetFunction": true, "resetFunctionName": "auth/reset"}}}
        """,
        "auth/custom_user_data.json":
            #"{"enabled": true, "mongo_service_name": "mongodb-atlas", "database_name": "todo", "collection_name": "People", "user_id_field": "uid", "on_user_creation_function_name": "auth/created"}"#,
        "data_sources/mongodb-atlas/config.json":
            #"{"name": "mongodb-atlas", "type": "mongodb-atlas", "config": {}, "version": 1}"#,
        "data_sources/mongodb-atlas/todo/Item/rules.json":
            #"{"roles": [{"name": "own", "apply_when": {}, "document_filters": {"read": {"owner": "%%user.id"}, "write": {"owner": "%%user.id"}}, "read": true, "write": true}]}"#,
        "data_sources/mongodb-atlas/todo/Open/rules.json":
            #"{"roles": [{"name": "all", "apply_when": {}, "document_filters": {"read": true, "write": true}, "read": true, "write": true}]}"#,
        "values/greeting.json": #"{"name": "greeting", "value": {"text": "hello"}, "from_secret": false}"#,
        "values/exposed.json": #"{"name": "exposed", "value": "inner", "from_secret": true}"#,
        "environments/no-environment.json": #"{"values": {"base": "https://example.com"}}"#,
        "functions/config.json": """
        [{"name": "hidden", "private": true},
         {"name": "asSystem", "run_as_system": true},
         {"name": "countAll", "run_as_system": true},
         {"name": "quiet", "disable_arg_logs": true},
         {"name": "byScript", "run_as_user_id_script_source": "exports = (id) => id === 'system' ? {runAsSystem: true} : id;"},
         {"name": "withKey", "can_evaluate": {"%%request.requestHeaders.x-secret-key": "open"}},
         {"name": "asked", "can_evaluate": {"%%true": {"%function": {"name": "mayCall", "arguments": ["%%user.id"]}}}},
         {"name": "mayCall", "private": true},
         {"name": "auth/logIn", "private": true, "run_as_system": true},
         {"name": "auth/created", "private": true, "run_as_system": true},
         {"name": "endpoint/hello", "run_as_system": true},
         {"name": "endpoint/custom", "run_as_system": true},
         {"name": "endpoint/ok", "run_as_system": true},
         {"name": "endpoint/keyed", "run_as_system": true,
          "can_evaluate": {"%%request.requestHeaders.x-secret-key": "open"}}]
        """,
        "functions/sum.js": "exports = (a, b) => a + b;",
        "functions/hidden.js": "exports = () => 42;",
        "functions/callHidden.js": "exports = () => context.functions.execute('hidden');",
        "functions/nothing.js": "exports = () => {};",
        "functions/whoAmI.js": """
        exports = () => ({
          id: context.user.id, type: context.user.type, data: context.user.data, custom: context.user.custom_data,
          identities: context.user.identities.map((i) => i.provider_type), system: context.runningAsSystem() });
        """,
        "functions/asSystem.js": "exports = () => ({ id: context.user.id, type: context.user.type, "
            + "data: context.user.data, system: context.runningAsSystem() });",
        "functions/byScript.js":
            "exports = (id) => ({ id: context.user.id, system: context.runningAsSystem() });",
        "functions/withKey.js": "exports = () => 'open';",
        "functions/values.js": """
        exports = () => ({ greeting: context.values.get('greeting'), secret: context.values.get('exposed'),
          missing: context.values.get('missing') === undefined, tag: context.environment.tag,
          base: context.environment.values.base, app: context.app.clientAppId });
        """,
        "functions/request.js": "exports = () => context.request;",
        "functions/types.js": """
        exports = (value) => ({ value, double: 0.5, long: 4294967296, date: new Date(1652297239913),
          id: new BSON.ObjectId('65f0c0ffee0000000000aaaa') });
        """,
        "functions/fails.js": "exports = (how) => {\n  console.log('about to fail', how);\n"
            + "  if (how === 'error') throw new Error('boom');\n  return unknown;\n};",
        "functions/quiet.js":
            "exports = () => { console.log('one'); console.log('two', {a: 1}); return 'done'; };",
        "functions/data.js": """
        exports = async (collection, method, ...args) => {
          const items = context.services.get('mongodb-atlas').db('todo').collection(collection);
          const result = await items[method](...args);
          return result && result.toArray ? result.toArray() : result;
        };
        """,
        "functions/countAll.js":
            "exports = async () => context.services.get('mongodb-atlas').db('todo').collection('Item').count({});",
        "functions/transfer.js": """
        exports = async (from, to, amount, fail) => {
          const mongodb = context.services.get('mongodb-atlas');
          const accounts = mongodb.db('todo').collection('Open');
          const session = mongodb.startSession();
          try {
            await session.withTransaction(async () => {
              await accounts.updateOne({ _id: from }, { $inc: { balance: -amount } }, { session });
              await accounts.updateOne({ _id: to }, { $inc: { balance: amount } }, { session });
              if (fail) throw new Error('changed my mind');
            });
          } finally {
            await session.endSession();
          }
          return (await accounts.find({ _id: { $in: [from, to] } }).sort({ _id: 1 }).toArray()).map((a) => a.balance);
        };
        """,
        "functions/bump.js": """
        exports = async (id, how) => {
          const items = context.services.get('mongodb-atlas').db('todo').collection('Open');
          const bump = () => items.updateOne({ _id: id }, { $inc: { n: 1 } }, { upsert: true });
          await bump();
          await bump();
          if (how === 'throw') throw new Error('bumped');
          return 'bumped';
        };
        """,
        "functions/asked.js": "exports = () => 'in';",
        "functions/mayCall.js":
            "exports = (id) => id === context.user.id && context.request.requestHeaders['X-Door'][0] === 'open';",
        "functions/databaseAggregate.js":
            "exports = () => context.services.get('mongodb-atlas').db('todo').aggregate([{ $limit: 1 }]).toArray();",
        "functions/loop.js": "exports = () => { for (;;) {} };",
        "functions/auth/logIn.js": """
        exports = (payload) => {
          if (payload.options || payload.provider) throw new Error('more than the payload came');
          if (payload.key !== 'right') throw new Error('wrong key');
          if (payload.asks) return payload.id + context.request.httpUserAgent + context.request.remoteIPAddress;
          return payload.name ? { id: payload.id, name: payload.name } : payload.id;
        };
        """,
        "functions/auth/created.js": """
        exports = async (user) => {
          if (user.data && /refused/.test(user.data.email)) throw new Error('nobody like that');
          const people = context.services.get('mongodb-atlas').db('todo').collection('People');
          await people.insertOne({ uid: user.id, origin: user.identities[0].provider_type });
        };
        """,
        "functions/auth/confirm.js": """
        exports = async ({ token, tokenId, username }) => {
          const tokens = context.services.get('mongodb-atlas').db('todo').collection('Tokens');
          await tokens.updateOne({ _id: username }, { $set: { token, tokenId } }, { upsert: true });
          if (/throws/.test(username)) throw new Error('no');
          return { status: /pending/.test(username) ? 'pending' : /fail/.test(username) ? 'fail' : 'success' };
        };
        """,
        "functions/auth/reset.js": """
        exports = async ({ username, password, token, tokenId, currentPasswordValid }, answer, ...rest) => {
          const tokens = context.services.get('mongodb-atlas').db('todo').collection('Tokens');
          await tokens.updateOne({ _id: username }, { $set: { token, tokenId, currentPasswordValid, rest } },
            { upsert: true });
          return { status: answer };
        };
        """,
        "functions/endpoint/hello.js": """
        exports = ({ query, headers, body }, response) => {
          const name = body ? JSON.parse(body.text()).name : query.name;
          return { greeting: `Hello, ${name || 'stranger'}!`, date: new Date(1683248523456), query,
            type: headers['Content-Type'], who: context.user.type, route: context.request.webhookUrl,
            method: context.request.httpMethod, raw: context.request.rawQueryString };
        };
        """,
        "functions/endpoint/custom.js": """
        exports = ({ body }, response) => {
          response.setStatusCode(201);
          response.setHeader('Content-Type', 'text/plain');
          response.setHeader('Access-Control-Allow-Origin', 'https://shop.example');
          response.addHeader('X-Two', 'a');
          response.addHeader('X-Two', 'b');
          response.setBody(body);
          return 'nobody sees this';
        };
        """,
        "functions/endpoint/ok.js": "exports = () => ({ ok: 1 });",
        "functions/endpoint/keyed.js": "exports = () => 'in';",
        "functions/endpoint/me.js":
            "exports = () => ({ id: context.user.id, custom: context.user.custom_data });",
        "functions/endpoint/throws.js": "exports = () => { throw new Error('not today'); };",
        "http_endpoints/config.json": """
        [{"route": "/hello", "http_method": "*", "function_name": "endpoint/hello", "respond_result": true,
          "return_type": "JSON"},
         {"route": "/custom", "http_method": "POST", "function_name": "endpoint/custom", "respond_result": true},
         {"route": "/two/steps", "http_method": "GET", "function_name": "endpoint/ok", "respond_result": true},
         {"route": "/two/steps", "http_method": "PUT", "function_name": "endpoint/hello", "respond_result": true},
         {"route": "/silent", "http_method": "GET", "function_name": "endpoint/ok", "respond_result": false},
         {"route": "/gone", "http_method": "GET", "function_name": "endpoint/ok", "respond_result": true,
          "disabled": true},
         {"route": "/password", "http_method": "GET", "function_name": "endpoint/ok", "respond_result": true,
          "validation_method": "SECRET_AS_QUERY_PARAM", "secret_name": "hook"},
         {"route": "/signed", "http_method": "POST", "function_name": "endpoint/ok", "respond_result": true,
          "validation_method": "VERIFY_PAYLOAD", "secret_name": "hook"},
         {"route": "/keyed", "http_method": "GET", "function_name": "endpoint/keyed", "respond_result": true},
         {"route": "/me", "http_method": "GET", "function_name": "endpoint/me", "respond_result": true,
          "fetch_custom_user_data": true},
         {"route": "/throws", "http_method": "GET", "function_name": "endpoint/throws", "respond_result": true}]
        """,
        "services/hooks/config.json": #"{"name": "hooks", "type": "http", "config": {}}"#,
        "services/hooks/incoming_webhooks/old/config.json":
            #"{"name": "old", "run_as_authed_user": false, "respond_result": true, "options": {"httpMethod": "POST", "validationMethod": "VERIFY_PAYLOAD", "secret": "12345"}}"#,
        "services/hooks/incoming_webhooks/old/source.js":
            "exports = (payload, response) => { response.setBody(payload.body.text()); };",
    ]
}

extension APICaller {
    /// A call of a function, as SDKs send it.
    func call(
        _ name: String,
        _ arguments: String = "[]",
        as user: User? = nil,
        headers: [String: String] = [:]
    ) async throws -> Answer {
        var headers = headers
        if let user { headers["Authorization"] = "Bearer \(user.accessToken)" }
        return try await post(
            "/api/client/v2.0/app/\(app)/functions/call",
            #"{"arguments":\#(arguments),"name":"\#(name)"}"#,
            as: headers
        )
    }

    /// A request to a custom endpoint.
    func endpoint(
        _ method: String,
        _ route: String,
        _ body: String? = nil,
        headers: [String: String] = [:]
    ) async throws -> Answer {
        try await send(
            method,
            "/app/\(app)/endpoint\(route)",
            headers: headers,
            body: body.map { Data($0.utf8) }
        )
    }
}

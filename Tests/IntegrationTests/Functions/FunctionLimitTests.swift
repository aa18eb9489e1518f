import Foundation
import TestSupport
import Testing

@Suite("Limits of functions", .timeLimit(.minutes(30)))
struct FunctionLimitTests {
    @Test("what waits for callers who have gone is not run")
    func gone() async throws {
        let write = { (name: String) in
            // What needs no engine would wait for no worker.
            "exports = () => { Math.max(0, 1); return context.services.get('mongodb-atlas').db('todo').collection('Gate').insertOne({ _id: '\(name)' }); }"
        }
        let (api, user) = try await Self.start(
            "left",
            functions: ["left", "called"],
            [
                "functions/left.js": write("left"),
                "functions/called.js": write("called"),
                "http_endpoints/config.json":
                    #"[{"route": "/left", "http_method": "GET", "function_name": "left", "validation_method": "NO_VALIDATION", "respond_result": true, "return_type": "JSON"}]"#,
            ],
            arguments: ["--function-workers", "1"]
        )
        let server = api.server
        async let held = api.call("hold", as: user)
        try await eventually { try Self.ids(api) == "held" }
        func waiting() async throws -> Int? { try await Self.waiting(on: api) }
        let direct = try RawConnection(server.http)
        direct.send("GET /app/left-abcde/endpoint/left HTTP/1.1\r\nHost: x\r\n\r\n")
        let framed = try RawConnection(server.http)
        let body = #"{"name":"called","arguments":[]}"#
        framed.send(
            "POST /api/client/v2.0/app/left-abcde/functions/call HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(user.accessToken)\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        )
        async let alone = Shell.finish(
            URL(fileURLWithPath: "/usr/bin/curl"),
            ["-sk", "--http1.1", "-m", "5", server.https + "/app/left-abcde/endpoint/left"]
        )
        let stream = server.directory.appendingPathComponent("stream")
        async let connection = Self.giveUpStream(
            "/app/left-abcde/endpoint/left",
            at: server.https,
            when: stream.path
        )
        async let patient = api.call("called", as: user)
        try await eventually { try await waiting() == 5 }
        direct.close()
        framed.close()
        try Data().write(to: stream)
        try await eventually { try await waiting() == 1 }
        try Self.open(api)
        #expect(try await held.text == #""done""#)
        #expect(try await patient.status == 200)
        _ = try await alone
        #expect(try Self.ids(api) == "called,held,open")
        try FileManager.default.removeItem(at: stream)
        try await connection
    }

    @Test("logins that waited for a worker know their own requests")
    func ownRequests() async throws {
        let (api, user) = try await Self.start(
            "queue",
            [
                "auth/providers.json": """
                {"anon-user": {"name": "anon-user", "type": "anon-user", "disabled": false},
                 "custom-function": {"name": "custom-function", "type": "custom-function", "disabled": false,
                    "config": {"authFunctionName": "logIn"}}}
                """,
                "functions/logIn.js": "exports = ({ id }) => String(id) + context.request.httpUserAgent;",
            ],
            arguments: ["--function-workers", "1"]
        )
        async let held = api.call("hold", as: user)
        try await eventually { try Self.ids(api) == "held" }
        let identities = try await withThrowingTaskGroup(of: String?.self) { group in
            for name in ["a", "b", "c"] {
                group.addTask {
                    let login = try await api.provider(
                        "custom-function",
                        "login",
                        #"{"id":"\#(name)"}"#,
                        as: ["User-Agent": "agent-\(name)"]
                    )
                    let profile = try await api.profile(try api.tokens(login).accessToken)
                    return (profile.object["identities"] as? [[String: Any]])?.first?["id"] as? String
                }
            }
            try await eventually { try await Self.waiting(on: api) == 3 }
            try Self.open(api)
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(identities) == ["aagent-a", "bagent-b", "cagent-c"])
        #expect(try await held.status == 200)
    }

    /// A server with an app that can hold a worker, and a user of the app.
    private static func start(
        _ name: String,
        functions: [String] = [],
        _ files: [String: String],
        arguments: [String]
    ) async throws -> (APICaller, APICaller.User) {
        let configurations = (["hold"] + functions).map { #"{"name": "\#($0)", "run_as_system": true}"# }
        let common = [
            "realm_config.json":
                #"{"app_id": "\#(name)-abcde", "config_version": 20210101, "name": "\#(name)"}"#,
            "auth/providers.json":
                #"{"anon-user": {"name": "anon-user", "type": "anon-user", "disabled": false}}"#,
            "data_sources/mongodb-atlas/config.json":
                #"{"name": "mongodb-atlas", "type": "mongodb-atlas", "config": {}, "version": 1}"#,
            "functions/config.json": "[\(configurations.joined(separator: ","))]",
            "functions/hold.js": hold,
        ]
        let server = try await RunningServer.start(
            app: common.merging(files) { $1 },
            name: "function-\(name)",
            arguments: arguments
        )
        let api = APICaller(server: server, app: "\(name)-abcde")
        let user = try await api.newUser()
        try Shell.psql(server.database, "select tidegate.create_collection('todo', 'Gate')")
        return (api, user)
    }

    /// What functions wrote into the gate: `held` is the one that waits for it to open.
    private static func ids(_ api: APICaller) throws -> String {
        try Shell.psql(
            api.server.database,
            #"select string_agg(doc->>'_id', ',' order by doc->>'_id') from todo."Gate""#
        )
    }

    private static func open(_ api: APICaller) throws {
        try Shell.psql(api.server.database, #"insert into todo."Gate" (doc) values ('{"_id": "open"}')"#)
    }

    /// How many calls wait for a worker.
    private static func waiting(on api: APICaller) async throws -> Int? {
        try await APICaller(server: api.server, app: api.app, base: api.server.admin).send("GET", "/metrics")
            .text
            .split(separator: "\n")
            .first { $0.hasPrefix("tidegate_function_calls_waiting ") }
            .flatMap { $0.split(separator: " ").last }.flatMap { Int($0) }
    }

    /// Asks in a stream of HTTP/2, gives that up when a file is there, and closes the connection when it is gone.
    private static func giveUpStream(_ path: String, at origin: String, when file: String) async throws {
        func frame(_ type: UInt8, _ flags: UInt8, stream: UInt8, _ payload: [UInt8]) -> [UInt8] {
            [0, 0, UInt8(payload.count), type, flags, 0, 0, 0, stream] + payload
        }
        let text = Array(path.utf8)
        // `:method: GET`, `:scheme: https`, `:path` and `:authority`.
        let block: [UInt8] = [0x82, 0x87, 0x04, UInt8(text.count)] + text + [0x01, 1, UInt8(ascii: "x")]
        let asking =
            Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + frame(4, 0, stream: 0, [])
            + frame(1, 5, stream: 1, block)
        let cancelling = frame(3, 0, stream: 1, [0, 0, 0, 8])
        func encoded(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
        let address = origin.dropFirst("https://".count)
        let script = """
            (echo \(encoded(asking)) | base64 -d
             until [ -e "\(file)" ]; do sleep 0.1; done
             echo \(encoded(cancelling)) | base64 -d
             while [ -e "\(file)" ]; do sleep 0.1; done) |
            openssl s_client -quiet -no_ign_eof -alpn h2 -connect \(address)
            """
        _ = try await Shell.finish(
            URL(fileURLWithPath: "/usr/bin/timeout"),
            ["330", "/bin/sh", "-c", script]
        )
    }

    private static let hold = """
        exports = async () => {
          const gate = context.services.get('mongodb-atlas').db('todo').collection('Gate');
          await gate.insertOne({ _id: 'held' });
          while (!(await gate.findOne({ _id: 'open' }))) await new Promise((done) => setTimeout(done, 50));
          return 'done';
        };
        """

    @Test("past the number that may run at once calls are refused, and taken again afterwards")
    func concurrency() async throws {
        let (api, user) = try await Self.start(
            "limited",
            ["functions/answer.js": "exports = () => 1;"],
            arguments: ["--max-concurrent-functions", "1"]
        )
        async let held = api.call("hold", as: user)
        try await eventually { try Self.ids(api) == "held" }
        let refused = try await api.call("answer", as: user)
        expect(
            refused,
            429,
            "TooManyRequests",
            "more than 1 functions of one app at once (limit max-concurrent-functions)"
        )
        #expect(refused.header("Retry-After") == "1")
        try Self.open(api)
        #expect(try await held.text == #""done""#)
        #expect(try await api.call("answer", as: user).text == #"{"$numberInt":"1"}"#)
    }
}

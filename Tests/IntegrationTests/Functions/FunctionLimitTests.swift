import Foundation
import TestSupport
import Testing

@Suite("Limits of functions", .timeLimit(.minutes(30)))
struct FunctionLimitTests {
    @Test("past the number that may run at once calls are refused, and taken again afterwards")
    func concurrency() async throws {
        let server = try await RunningServer.start(
            app: [
                "realm_config.json":
                    #"{"app_id": "limited-abcde", "config_version": 20210101, "name": "limited"}"#,
                "auth/providers.json":
                    #"{"anon-user": {"name": "anon-user", "type": "anon-user", "disabled": false}}"#,
                "data_sources/mongodb-atlas/config.json":
                    #"{"name": "mongodb-atlas", "type": "mongodb-atlas", "config": {}, "version": 1}"#,
                "functions/config.json": #"[{"name": "hold", "run_as_system": true}]"#,
                "functions/answer.js": "exports = () => 1;",
                "functions/hold.js": """
                exports = async () => {
                  const gate = context.services.get('mongodb-atlas').db('todo').collection('Gate');
                  await gate.insertOne({ _id: 'held' });
                  while (!(await gate.findOne({ _id: 'open' }))) await new Promise((done) => setTimeout(done, 50));
                  return 'done';
                };
                """,
            ],
            name: "function-limits",
            arguments: ["--max-concurrent-functions", "1"]
        )
        let api = APICaller(server: server, app: "limited-abcde")
        let user = try await api.newUser()
        try Shell.psql(server.database, "select tidegate.create_collection('todo', 'Gate')")
        async let held = api.call("hold", as: user)
        try await eventually {
            try Shell.psql(server.database, #"select count(*) from todo."Gate""#) == "1"
        }
        let refused = try await api.call("answer", as: user)
        expect(
            refused,
            429,
            "TooManyRequests",
            "more than 1 functions of one app at once (limit max-concurrent-functions)"
        )
        #expect(refused.header("Retry-After") == "1")
        try Shell.psql(server.database, #"insert into todo."Gate" (doc) values ('{"_id": "open"}')"#)
        #expect(try await held.text == #""done""#)
        #expect(try await api.call("answer", as: user).text == #"{"$numberInt":"1"}"#)
    }
}

import Foundation
import TestSupport
import Testing

/// A server whose rules and triggers lead to functions.
private enum AskedServer {
    static let app = "asked-abcde"

    private static let task = Task {
        let server = try await RunningServer.start(app: files, name: "asked")
        let api = APICaller(server: server, app: app)
        try await eventually { (try? await api.newUser()) != nil }
        return api
    }

    static func caller() async throws -> APICaller { try await task.value }

    private static func onItems(_ name: String, _ function: String, _ rest: String) -> String {
        """
        {"name": "\(name)", "type": "DATABASE", "event_processors": {"FUNCTION": {"config": {"function_name": "\(function)"}}},
         "config": {"service_name": "mongodb-atlas", "database": "todo", "collection": "Watched",
                    "operation_types": ["INSERT", "UPDATE", "DELETE"]\(rest)}}
        """
    }

    private static let files: [String: String] = [
        "realm_config.json": #"{"app_id": "asked-abcde", "config_version": 20210101, "name": "asked"}"#,
        "auth/providers.json":
            #"{"anon-user": {"name": "anon-user", "type": "anon-user", "disabled": false}}"#,
        "data_sources/mongodb-atlas/config.json":
            #"{"name": "mongodb-atlas", "type": "mongodb-atlas", "config": {}, "version": 1}"#,
        "data_sources/mongodb-atlas/todo/Teams/rules.json": """
        {"roles": [{"name": "member", "apply_when":
            {"%%true": {"%function": {"name": "isWelcome", "arguments": ["%%user.id"]}}},
          "read": {"%%true": {"%function": {"name": "isMember", "arguments": ["%%root.team", "%%user.id"]}}},
          "write": {"%%true": {"%function": {"name": "isMember", "arguments": ["%%root.team", "%%user.id"]}}}}]}
        """,
        "data_sources/mongodb-atlas/todo/Watched/rules.json":
            #"{"roles": [{"name": "all", "apply_when": {}, "read": true, "write": true}]}"#,
        "functions/config.json": """
        [{"name": "isWelcome", "private": true, "run_as_system": true},
         {"name": "isMember", "private": true, "run_as_system": true}, {"name": "onWatched", "private": true},
         {"name": "onLogin", "private": true}, {"name": "onTime", "private": true}]
        """,
        "functions/isWelcome.js": "exports = (id) => typeof id === 'string' && id.length === 24;",
        // What it looks up may have been written by the very transaction that asks.
        "functions/isMember.js": """
        exports = async (team, id) => {
          if (team === 'broken') throw new Error('no such team');
          const members = context.services.get('mongodb-atlas').db('todo').collection('Members');
          return (await members.findOne({ team, member: id })) !== null;
        };
        """,
        "functions/onWatched.js": """
        exports = async (event) => {
          const log = context.services.get('mongodb-atlas').db('todo').collection('Seen');
          await log.insertOne({ of: event.documentKey._id, op: event.operationType, n: event.fullDocument ? event.fullDocument.n : null,
                                updated: event.updateDescription ? event.updateDescription.updatedFields : null, system: context.runningAsSystem() });
        };
        """,
        "functions/onLogin.js": """
        exports = async (event) => {
          const log = context.services.get('mongodb-atlas').db('todo').collection('Logins');
          await log.insertOne({ op: event.operationType, user: event.user.id, providers: event.providers,
                                isDate: event.time instanceof Date });
        };
        """,
        "functions/onTime.js": "exports = () => { throw new Error('too early'); };",
        "functions/fetch.js": """
        exports = async (url) => {
          const response = await context.http.get({ url });
          return { status: response.statusCode, text: response.body.text() };
        };
        """,
        "triggers/watched.json": onItems("watched", "onWatched", #", "full_document": true"#),
        "triggers/logins.json": """
        {"name": "logins", "type": "AUTHENTICATION", "function_name": "onLogin",
         "config": {"operation_type": ["LOGIN", "CREATE", "DELETE"], "providers": ["anon-user"]}}
        """,
        "triggers/times.json": """
        {"name": "times", "type": "SCHEDULED", "function_name": "onTime", "config": {"schedule": "* * * * *"}}
        """,
    ]
}

@Suite("Functions that rules and triggers ask", .timeLimit(.minutes(30)))
struct AskedFunctionTests {
    private func rows(_ api: APICaller, _ statement: String) throws -> [String] {
        try Shell.psql(api.server.database, statement).split(separator: "\n").map(String.init)
    }

    @Test("a rule asks a function about the caller and about each document, in reads and in writes")
    func rules() async throws {
        let api = try await AskedServer.caller()
        let (ann, bob) = (try await api.newUser(), try await api.newUser())
        try Shell.psql(
            api.server.database,
            script: """
                select tidegate.create_collection('todo', 'Members');
                insert into todo."Members" (doc) values
                    ('{"_id": "1-\(ann.id)", "team": "red", "member": "\(ann.id)"}'),
                    ('{"_id": "2-\(ann.id)", "team": "blue", "member": "\(ann.id)"}'),
                    ('{"_id": "3-\(bob.id)", "team": "blue", "member": "\(bob.id)"}');
                """
        )
        for (team, status) in [("red", 201), ("blue", 201), ("green", 400), ("broken", 400)] {
            let answer = try await api.act(
                "insertOne",
                "Teams",
                #""document":{"team":"\#(team)","tag":"\#(ann.id)"}"#,
                as: ann.bearer
            )
            #expect(answer.status == status, "\(team): \(answer.text)")
        }
        func teams(_ user: APICaller.User) async throws -> String {
            try await api.act(
                "find",
                "Teams",
                #""filter":{"tag":"\#(ann.id)"},"projection":{"_id":0,"team":1},"sort":{"team":1}"#,
                as: user.bearer
            ).text
        }
        #expect(try await teams(ann) == #"{"documents":[{"team":"blue"},{"team":"red"}]}"#)
        #expect(try await teams(bob) == #"{"documents":[{"team":"blue"}]}"#)
        // Both images of a change are asked about: nobody moves a document out of the own teams, or into others'.
        let moved = try await api.act(
            "updateMany",
            "Teams",
            #""filter":{"tag":"\#(ann.id)"},"update":{"$set":{"team":"green"}}"#,
            as: ann.bearer
        )
        #expect(moved.status == 400, "\(moved.text)")
        let kept = try await api.act(
            "updateMany",
            "Teams",
            #""filter":{"tag":"\#(ann.id)"},"update":{"$set":{"n":1}}"#,
            as: bob.bearer
        )
        #expect(kept.text == #"{"matchedCount":1,"modifiedCount":1}"#)
        let deleted = try await api.act(
            "deleteMany",
            "Teams",
            #""filter":{"tag":"\#(ann.id)"}"#,
            as: ann.bearer
        )
        #expect(deleted.text == #"{"deletedCount":2}"#)
    }

    @Test("a trigger's function gets the changes of its collection in order, as the system")
    func changes() async throws {
        let api = try await AskedServer.caller()
        let user = try await api.newUser()
        let database = api.server.database
        try await eventually {
            try rows(api, "select state from tidegate.list_trigger_states('asked') where name = 'watched'")
                == ["running"]
        }
        let id = "of-\(user.id)"
        for (action, members) in [
            ("insertOne", #""document":{"_id":"\#(id)","n":1}"#),
            ("updateOne", #""filter":{"_id":"\#(id)"},"update":{"$inc":{"n":1}}"#),
        ] {
            #expect(try await api.act(action, "Watched", members, as: user.bearer).status < 300)
        }
        try Shell.psql(database, #"delete from todo."Watched" where doc ->> '_id' = '\#(id)'"#)
        let seen =
            #"select doc ->> 'op', doc ->> 'n', doc ->> 'updated', doc ->> 'system' from todo."Seen" where doc ->> 'of' = '\#(id)' order by doc ->> '_id'"#
        try await eventually { (try? rows(api, seen).count) ?? 0 >= 3 }
        #expect(
            try rows(api, seen) == [
                "insert|1||true", #"update|2|{"n": 2}|true"#, "delete|||true",
            ]
        )
        try await eventually {
            try rows(
                api,
                "select count(*) from tidegate.logs where type = 'DB_TRIGGER' and function = 'onWatched'"
            ) != ["0"]
        }
    }

    @Test("logins and new users reach a trigger's function; one that fails is logged, and counted")
    func loginsAndTimes() async throws {
        let api = try await AskedServer.caller()
        let user = try await api.newUser()
        let seen =
            #"select doc ->> 'op', doc -> 'providers', doc ->> 'isDate' from todo."Logins" where doc ->> 'user' = '\#(user.id)' order by 1"#
        try await eventually { (try? rows(api, seen).count) ?? 0 >= 2 }
        #expect(try rows(api, seen) == [#"CREATE|["anon-user"]|true"#, #"LOGIN|["anon-user"]|true"#])
        // Within a minute at the latest.
        try await eventually {
            try rows(
                api,
                "select last_error from tidegate.list_trigger_states('asked') where name = 'times' and failed > 0"
            ) == ["too early"]
        }
        try await eventually {
            try rows(
                api,
                "select count(*) > 0 from tidegate.logs where type = 'TRIGGER_FAILURE' and function = 'onTime'"
            ) == ["t"]
        }
    }

    @Test("a function calls the hosts that it may call")
    func outbound() async throws {
        let api = try await AskedServer.caller()
        let user = try await api.newUser()
        let server = try LineServer.json { #"{"hello":"you"}"# }
        defer { server.stop() }
        func fetch(_ url: String) async throws -> APICaller.Answer {
            try await api.call("fetch", #"["\#(url)"]"#, as: user)
        }
        let url = "http://127.0.0.1:\(server.port)/"
        let refused = try await fetch(url)
        #expect(refused.status == 400)
        #expect(refused.error == "calls to 127.0.0.1 are not allowed")
        try Shell.psql(api.server.database, "select tidegate.set_outbound_host('asked', '127.0.0.1', true)")
        #expect(try await fetch(url).text == #"{"status":{"$numberInt":"200"},"text":"{\"hello\":\"you\"}"}"#)
    }
}

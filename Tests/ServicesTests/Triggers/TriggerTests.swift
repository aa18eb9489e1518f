import AppDefinition
import BSON
import Errors
import Foundation
import Postgres
import SQL
import Synchronization
import TestSupport
import Testing

@testable import Services

/// Functions of triggers that are closures; what they got is kept.
private final class ClosureTriggers: TriggerFunctions {
    private let body: @Sendable (String, [BSONValue]) async -> TriggerOutcome
    private let got = Mutex<[(name: String, arguments: [BSONValue])]>([])

    init(_ body: @escaping @Sendable (String, [BSONValue]) async -> TriggerOutcome = { _, _ in .done }) {
        self.body = body
    }

    func run(
        _ trigger: TriggerDefinition,
        _ arguments: [BSONValue],
        in app: AppSnapshot
    ) async -> TriggerOutcome {
        let outcome = await body(trigger.name, arguments)
        if outcome == .done { got.withLock { $0.append((trigger.name, arguments)) } }
        return outcome
    }

    func events(of name: String) -> [BSONDocument] {
        got.withLock { $0.filter { $0.name == name }.compactMap(\.arguments.first?.document) }
    }

    func count(of name: String) -> Int { got.withLock { $0.filter { $0.name == name }.count } }
}

/// One gateway's part in triggers.
private final class Gateway: Sendable {
    let functions: ClosureTriggers
    private let tasks: [Task<Void, Never>]

    init(_ database: Database, _ name: String, _ functions: ClosureTriggers) async throws {
        self.functions = functions
        let apps = AppRegistry(database: database)
        try await apps.load()
        let now = { @Sendable in Int64(Date().timeIntervalSince1970 * 1000) }
        let data = DataService(
            database: database,
            catalog: CollectionCatalog(database: database),
            ids: ObjectIDGenerator(processUnique: 1, counter: 1),
            now: now
        )
        let watches = WatchService(database: database, apps: apps, data: data, now: now)
        let triggers = TriggerService(
            database: database,
            apps: apps,
            watches: watches,
            functions: functions,
            owner: name,
            now: now
        )
        tasks = [
            Task { await apps.run() }, Task { await watches.run() }, Task { await triggers.run() },
        ]
    }

    func stop() async {
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }
}

@Suite("Triggers")
struct TriggerTests {
    private let database = TestDatabase.current.database

    private func run(_ statement: SQLFragment) async throws -> ResultSet {
        try await database.run(statement)
    }

    /// - Returns: The app's name.
    private func prepare(_ app: String, _ triggers: [String: String]) async throws {
        _ = try await run("SELECT tidegate.create_app(\(bind: .text(app)))")
        _ = try await run(
            "SELECT tidegate.set_function(\(bind: .text(app)), 'f', 'exports = () => 1', '{}')"
        )
        for (name, config) in triggers { try await set(app, name, config) }
    }

    private func set(_ app: String, _ name: String, _ config: String) async throws {
        _ = try await run(
            "SELECT tidegate.set_trigger(\(bind: .text(app)), \(bind: .text(name)), \(bind: .text(config)))"
        )
    }

    private static func onChanges(_ collection: String, _ rest: String = "") -> String {
        """
        {"type": "DATABASE", "function_name": "f", "config": {"service_name": "mongodb-atlas", "database": "d",
         "collection": "\(collection)", "operation_types": ["INSERT", "UPDATE", "REPLACE", "DELETE"]\(rest)}}
        """
    }

    private func state(_ app: String, _ name: String) async throws -> (
        state: String, handled: Int, reason: String
    ) {
        let rows = try await run(
            """
            SELECT state, handled, coalesce(reason, '') FROM tidegate.list_trigger_states(\(bind: .text(app))) \
            WHERE name = \(bind: .text(name))
            """
        )
        return (rows.text(0, 0) ?? "", rows.int(0, 1) ?? 0, rows.text(0, 2) ?? "")
    }

    private func untilRunning(_ app: String, _ names: String...) async throws {
        for name in names {
            try await eventually { try await state(app, name).state == "running" }
        }
        // A trigger that runs has its place; its collection may be waiting for its log.
        try await eventually {
            try await run(
                "SELECT count(*) FROM tidegate.collections c WHERE 'trigger' = ANY (c.listeners)"
            ).int(0, 0) ?? 0 > 0
        }
    }

    private func write(_ statement: SQLFragment) async throws { _ = try await run(statement) }

    @Test("get the changes of a collection in order, each as its settings say", .postgres)
    func changes() async throws {
        try await prepare(
            "changes",
            [
                "all": Self.onChanges("c", #", "full_document": true, "full_document_before_change": true"#),
                "plain": Self.onChanges("c"),
                "some": Self.onChanges(
                    "c",
                    #", "match": {"updateDescription.updatedFields.n": {"$gt": 2}}, "project": {"documentKey": 1, "ns": 1}"#
                ),
                "off": #"{"disabled": true, "# + Self.onChanges("c").dropFirst(),
            ]
        )
        let functions = ClosureTriggers()
        let gateway = try await Gateway(database, "a", functions)
        try await untilRunning("changes", "all", "plain", "some")
        try await write(
            "INSERT INTO d.c (_id, doc) VALUES (tidegate.typed_key('1'), '{\"_id\": 1, \"n\": 1}')"
        )
        for n in 2...4 {
            try await write(
                "UPDATE d.c SET doc = jsonb_set(doc, '{n}', to_jsonb(\(bind: .int4(Int32(n)))))"
            )
        }
        try await write("DELETE FROM d.c")
        try await eventually { functions.count(of: "all") == 5 && functions.count(of: "plain") == 5 }
        try await eventually { functions.count(of: "some") == 2 }
        let all = functions.events(of: "all")
        #expect(
            all.map { $0["operationType"]?.string } == ["insert", "update", "update", "update", "delete"]
        )
        #expect(all[1]["fullDocument"] == ["_id": 1, "n": 2])
        #expect(all[1]["fullDocumentBeforeChange"] == ["_id": 1, "n": 1])
        #expect(all[0]["fullDocumentBeforeChange"] == nil)
        #expect(all[1]["updateDescription"] == ["updatedFields": ["n": 2], "removedFields": []])
        #expect(all[4]["documentKey"] == ["_id": 1])
        #expect(all[4]["fullDocument"] == nil)
        #expect(all[4]["ns"] == ["db": "d", "coll": "c"])
        let plain = functions.events(of: "plain")
        #expect(plain[0]["fullDocument"] == ["_id": 1, "n": 1])
        #expect(plain[1]["fullDocument"] == nil)
        let some = functions.events(of: "some")
        #expect(some.map(\.keys.count) == [4, 4])
        #expect(some[0]["_id"] != nil && some[0]["operationType"] == "update")
        #expect(functions.count(of: "off") == 0)
        #expect(try await state("changes", "off").state == "disabled")
        await gateway.stop()
        // Whoever stops gives them back.
        #expect(try await state("changes", "all").state == "waiting")
    }

    @Test("are run by one gateway, and go on in another where the first one died, without a gap", .postgres)
    func failover() async throws {
        try await prepare("failover", ["t": Self.onChanges("fail")])
        let seen = Mutex<[Int32]>([])
        let first = try await Gateway(
            database,
            "first",
            ClosureTriggers { _, arguments in
                // It dies while it handles the third event, for ever.
                guard case .int32(let n)? = arguments.first?.document?["documentKey"]?.document?["_id"], n < 3
                else {
                    try? await Task.sleep(for: .seconds(3600))
                    return .postponed("dying")
                }
                seen.withLock { $0.append(n) }
                return .done
            }
        )
        try await untilRunning("failover", "t")
        for n in 1...5 {
            try await write(
                """
                INSERT INTO d.fail (_id, doc) VALUES (tidegate.typed_key(to_jsonb(\(bind: .int4(Int32(n))))), \
                jsonb_build_object('_id', \(bind: .int4(Int32(n)))))
                """
            )
        }
        try await eventually { seen.withLock { $0.count } >= 2 }
        let functions = ClosureTriggers { _, arguments in
            if case .int32(let n)? = arguments.first?.document?["documentKey"]?.document?["_id"] {
                seen.withLock { $0.append(n) }
            }
            return .done
        }
        let second = try await Gateway(database, "second", functions)
        #expect(functions.count(of: "t") == 0)
        // As if it had been killed: it gives no more signs of life, and its lease runs out.
        await first.stop()
        try await eventually { seen.withLock { $0.contains(5) } }
        await second.stop()
        let order = seen.withLock { $0 }
        #expect(Set(order) == [1, 2, 3, 4, 5])
        // What comes again comes in order.
        #expect(order.drop { $0 != 3 } == [3, 4, 5])
    }

    @Test("get logins, creations and deletions with their providers", .postgres)
    func authentication() async throws {
        func on(_ operation: String, _ rest: String = "") -> String {
            #"{"type": "AUTHENTICATION", "function_name": "f", "config": {"operation_type": \#(operation)\#(rest)}}"#
        }
        try await prepare(
            "auth",
            [
                "logins": on(#""LOGIN""#, #", "providers": ["local-userpass"]"#),
                "users": on(#"["CREATE", "DELETE"]"#, #", "providers": ["local-userpass", "anon-user"]"#),
                "others": on(#""LOGIN""#, #", "providers": ["custom-token"]"#),
            ]
        )
        let id = try await run("SELECT tidegate.create_user('auth', 'ann@example.com', 'password1')").text(
            0,
            0
        )
        try await write(
            """
            INSERT INTO tidegate.sessions (id, app, user_id, provider_type, identity_id, device_id, expires_at) \
            SELECT '65f0c0ffee00000000000001', app, id, 'local-userpass', 'x', '65f0c0ffee00000000000002', \
            now() + interval '1 day' FROM tidegate.users WHERE id = \(bind: .text(id ?? ""))
            """
        )
        // Before any gateway runs: nothing is lost.
        let functions = ClosureTriggers()
        let gateway = try await Gateway(database, "a", functions)
        try await eventually { functions.count(of: "logins") == 1 && functions.count(of: "users") == 1 }
        try await write("SELECT tidegate.delete_user('auth', 'ann@example.com')")
        try await eventually { functions.count(of: "users") == 2 }
        let users = functions.events(of: "users")
        #expect(users.map { $0["operationType"]?.string } == ["CREATE", "DELETE"])
        #expect(users[1]["providers"] == ["local-userpass"])
        #expect(users[1]["user"]?.document?["id"]?.string == id)
        #expect(users[1]["user"]?.document?["data"]?.document?["email"] == "ann@example.com")
        if case .date = users[0]["time"] {} else { Issue.record("\(users[0])") }
        #expect(functions.events(of: "logins").first?["operationType"] == "LOGIN")
        #expect(functions.count(of: "others") == 0)
        try await eventually { try await run("SELECT count(*) FROM tidegate.auth_events").int(0, 0) == 0 }
        await gateway.stop()
        try await write("SELECT tidegate.drop_app('auth')")
    }

    @Test("run at their times, once for all that were missed", .postgres)
    func times() async throws {
        try await prepare(
            "times",
            [
                "due": #"{"type": "SCHEDULED", "function_name": "f", "config": {"schedule": "* * * * *"}}"#,
                "skips":
                    #"{"type": "SCHEDULED", "function_name": "f", "config": {"schedule": "* * * * *", "skip_catchup_events": true}}"#,
                "later":
                    #"{"type": "SCHEDULED", "function_name": "f", "config": {"schedule": "0 0 29 2 *"}}"#,
            ]
        )
        // Both were last run an hour and a half minute ago.
        try await write(
            """
            INSERT INTO tidegate.trigger_states (app, name, source, position) \
            SELECT app, name, 'times', (extract(epoch FROM now())::bigint - 3600) / 60 * 60 FROM tidegate.triggers \
            WHERE app = tidegate.app_id('times') AND name <> 'later'
            """
        )
        let functions = ClosureTriggers()
        let gateway = try await Gateway(database, "a", functions)
        try await eventually { functions.count(of: "due") >= 1 }
        try await eventually {
            try await run(
                "SELECT position > extract(epoch FROM now()) - 120 FROM tidegate.trigger_states WHERE name = 'skips'"
            ).bool(0, 0) == true
        }
        // A minute may have passed meanwhile, never sixty.
        #expect(functions.count(of: "due") < 5)
        #expect(functions.count(of: "later") == 0)
        await gateway.stop()
    }

    @Test("are suspended when they only fail, and go on when an operator says so", .postgres)
    func suspension() async throws {
        try await prepare("failing", ["t": Self.onChanges("failing")])
        let fails = Mutex(true)
        let tries = Mutex(0)
        let functions = ClosureTriggers { _, _ in
            tries.withLock { $0 += 1 }
            return fails.withLock { $0 } ? .failed("Error: boom") : .done
        }
        let gateway = try await Gateway(database, "a", functions)
        try await untilRunning("failing", "t")
        try await write(
            """
            INSERT INTO d.failing (_id, doc) SELECT tidegate.typed_key(to_jsonb(n)), jsonb_build_object('_id', n) \
            FROM generate_series(1, 150) AS n
            """
        )
        try await eventually { try await state("failing", "t").state == "suspended" }
        #expect(try await state("failing", "t").reason == "100 runs failed, one after the other: Error: boom")
        #expect(tries.withLock { $0 } == TriggerRunner.mostFailures)
        fails.withLock { $0 = false }
        try await write("SELECT tidegate.resume_trigger('failing', 't')")
        try await eventually { functions.count(of: "t") == 50 }
        await gateway.stop()
    }

    @Test("are suspended when their collection is dropped, after what was changed before", .postgres)
    func drops() async throws {
        try await prepare("dropped", ["t": Self.onChanges("gone")])
        let functions = ClosureTriggers()
        let gateway = try await Gateway(database, "a", functions)
        try await untilRunning("dropped", "t")
        func insert(_ id: Int32) async throws {
            try await write(
                """
                INSERT INTO d.gone (_id, doc) SELECT tidegate.typed_key(to_jsonb(n)), jsonb_build_object('_id', n) \
                FROM (SELECT \(bind: .int4(id))) AS v (n)
                """
            )
        }
        try await eventually {
            try await run(
                "SELECT id FROM tidegate.collections WHERE collection = 'gone' AND 'trigger' = ANY (listeners)"
            )
            .rowCount == 1
        }
        try await insert(1)
        try await write("SELECT tidegate.drop_collection('d', 'gone', true)")
        try await eventually { try await state("dropped", "t").state == "suspended" }
        #expect(try await state("dropped", "t").reason.hasPrefix("the collection d.gone was dropped"))
        #expect(functions.count(of: "t") == 1)
        try await write("SELECT tidegate.resume_trigger('dropped', 't')")
        try await eventually { try await state("dropped", "t").state == "running" }
        try await eventually {
            try await run(
                "SELECT id FROM tidegate.collections WHERE collection = 'gone' AND 'trigger' = ANY (listeners)"
            )
            .rowCount == 1
        }
        try await insert(2)
        try await eventually { functions.count(of: "t") == 2 }
        await gateway.stop()
    }

    @Test("of changes may run at once when they are unordered, and each event is handled", .postgres)
    func unordered() async throws {
        try await prepare("unordered", ["t": Self.onChanges("many", #", "unordered": true"#)])
        let most = Mutex((now: 0, most: 0))
        let functions = ClosureTriggers { _, _ in
            most.withLock {
                $0.now += 1
                $0.most = max($0.most, $0.now)
            }
            try? await Task.sleep(for: .milliseconds(5))
            most.withLock { $0.now -= 1 }
            return .done
        }
        let gateway = try await Gateway(database, "a", functions)
        try await untilRunning("unordered", "t")
        try await write(
            """
            INSERT INTO d.many (_id, doc) SELECT tidegate.typed_key(to_jsonb(n)), jsonb_build_object('_id', n) \
            FROM generate_series(1, 500) AS n
            """
        )
        try await eventually { functions.count(of: "t") == 500 }
        #expect(most.withLock { $0.most } > 1)
        // The last ones are written down after their functions have ended; a gateway that stops before repeats them.
        try await eventually { try await state("unordered", "t").handled == 500 }
        await gateway.stop()
    }

    @Test("end the logging of a collection that no trigger follows any more", .postgres)
    func listeners() async throws {
        try await prepare("listeners", ["t": Self.onChanges("left")])
        let gateway = try await Gateway(database, "a", ClosureTriggers())
        try await untilRunning("listeners", "t")
        func listens() async throws -> Bool {
            try await run(
                "SELECT 'trigger' = ANY (listeners) FROM tidegate.collections WHERE collection = 'left'"
            ).bool(0, 0) == true
        }
        try await eventually { try await listens() }
        try await write("SELECT tidegate.remove_trigger('listeners', 't')")
        try await eventually { try await !listens() }
        await gateway.stop()
    }
}
